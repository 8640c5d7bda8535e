// Drives the GitHub Copilot CLI by its SDK: reads a command a line, and prints the answer as a line.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const env = process.env;
const { CopilotClient, RuntimeConnection } = await import(pathToFileURL(env.MODULES + "/@github/copilot-sdk/dist/index.js"));
const client = new CopilotClient({ connection: RuntimeConnection.forStdio({ path: env.COPILOT }), workingDirectory: process.cwd(), useLoggedInUser: false, env });
const options = {
  onPermissionRequest: async () => ({ kind: "approve-once" }), workingDirectory: process.cwd(), model: env.COPILOT_MODEL,
  provider: { type: "anthropic", baseUrl: env.COPILOT_PROVIDER_BASE_URL, apiKey: "x" },
};
await client.start();
let s;
const prompts = () => readFileSync(`${env.HOME}/.copilot/session-state/${s.sessionId}/events.jsonl`, "utf8").trim().split("\n").map(JSON.parse).filter((e) => e.type === "user.message" && !e.agentId);
const commands = {
  create: async () => (s = await client.createSession(options)).sessionId,
  resume: async ({ id }) => (s = await client.resumeSession(id, options)).sessionId,
  say: async ({ prompt, attachments }) => (await s.sendAndWait({ prompt, attachments }, 170_000)).data.content,
  name: ({ name }) => s.rpc.name.set({ name }),
  fork: async () => (await client.rpc.sessions.fork({ sessionId: s.sessionId })).sessionId,
  rewind: ({ to }) => s.rpc.history.rewind({ eventId: prompts()[to].id, mode: "conversation" }),
  compact: () => s.rpc.history.compact({}),
  model: ({ name }) => s.rpc.model.switchTo({ modelId: name }),
  list: async () => (await client.listSessions()).map((one) => one.sessionId),
  read: async ({ id }) => {
    const one = await client.resumeSession(id, options);
    const all = await one.getEvents();
    await one.disconnect();
    const assets = Object.fromEntries(all.filter((e) => e.type === "session.binary_asset").map((e) => [e.data.assetId, e.data.data]));
    const rows = all.filter((e) => !e.agentId && (e.type === "user.message" || e.type === "assistant.message"));
    const pictures = (e) => (e.data.attachments ?? []).map((a) => a.data ?? assets[a.assetId]).filter(Boolean);
    return rows.map((e) => ({ role: e.type.split(".")[0], content: e.data.content, pictures: pictures(e), hidden: Boolean(e.data.source) }));
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...args } = JSON.parse(line);
  const answer = await commands[command](args).then((value) => ({ value: value ?? null }), (e) => ({ error: String(e) }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await client.stop();
