// Prints what pi knows, as JSON: the ids of the sessions of the working directory, or of each
// session that an argument names the messages that pi would send.
import { pathToFileURL } from "node:url";

const { SessionManager } = await import(pathToFileURL(process.env.MODULES + "/@earendil-works/pi-coding-agent/dist/index.js"));
const all = await SessionManager.list(process.cwd());
const ids = process.argv.slice(2);
let rows = all.map((s) => s.id);
if (ids.length > 0) rows = ids.map((id) => SessionManager.open(all.find((s) => s.id === id).path).buildSessionContext().messages);
process.stdout.write(JSON.stringify(rows));
