// Prints what the Agent SDK of Claude Code knows, as JSON: the ids of all sessions, or the
// messages of each session that an argument names.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.MODULES + "/x.js");
const sdk = await import(pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")));
const ids = process.argv.slice(2);
let rows = [];
for (const id of ids) rows.push((await sdk.getSessionMessages(id, {})).map((m) => m.message));
if (ids.length === 0) rows = (await sdk.listSessions({})).map((s) => s.sessionId);
process.stdout.write(JSON.stringify(rows));
