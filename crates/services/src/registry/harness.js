"use strict";
const lines = require("readline");
const tool = JSON.parse(process.env.SWITCHBOARD_TOOL);
delete process.env.SWITCHBOARD_TOOL;
const write = process.stdout.write.bind(process.stdout);
// What the tool prints must not be taken for messages.
console.log = console.info = console.debug = console.error;
let run;
try {
  const end = "\n;return typeof run === 'function' ? run : (typeof module.exports === 'function' ? module.exports : module.exports.run);";
  const module = { exports: {} };
  run = new Function("module", "exports", tool.code + end)(module, module.exports);
  if (typeof run !== "function") throw new Error("the code defines no function `run`");
} catch (error) {
  process.stderr.write(`the code cannot be loaded: ${error}\n`);
  process.exit(1);
}

async function call(given) {
  try {
    const value = await run(given);
    const text = typeof value === "string" ? value : JSON.stringify(value === undefined ? null : value);
    const result = { content: [{ type: "text", text }] };
    if (value && typeof value === "object" && !Array.isArray(value)) result.structuredContent = value;
    return result;
  } catch (error) {
    return { content: [{ type: "text", text: String(error) }], isError: true };
  }
}

async function answer(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion || "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: tool.name, version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: tool.name, description: tool.description, inputSchema: tool.inputSchema }] };
    case "tools/call":
      return call(params.arguments || {});
    case "ping":
      return {};
    default:
      return null;
  }
}

lines.createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || !message.method) return;
  const result = await answer(message.method, message.params || {});
  const reply = { jsonrpc: "2.0", id: message.id };
  if (result === null) reply.error = { code: -32601, message: "Method not found" };
  else reply.result = result;
  write(JSON.stringify(reply) + "\n");
}).on("close", () => process.exit(0));
