// A model that always does the same: it calls one tool of an MCP server, and then says what the tool answered.
//
// It stands in for the services of Anthropic (`/v1/messages`) and OpenAI (`/v1/responses`), as far as Claude Code and Codex use them
// in one turn. `MODEL_TOOL` is the end of the tool's name as the client knows it, `MODEL_ARGUMENTS` is JSON. It prints its address,
// and afterwards one JSON line per request with the names of the tools that the client sent along.

import http from "node:http";

const wanted = process.env.MODEL_TOOL;
const args = JSON.parse(process.env.MODEL_ARGUMENTS ?? "{}");

const server = http.createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const path = new URL(request.url, "http://model").pathname;
    let asked = {};
    try {
      asked = JSON.parse(body || "{}");
    } catch {
      // Not JSON is nothing that a model is asked.
    }
    if (request.method === "POST" && path.endsWith("/messages")) {
      return messages(asked, response);
    }
    if (request.method === "POST" && path.endsWith("/responses")) {
      return responses(asked, response);
    }
    if (request.method === "POST" && path.endsWith("/count_tokens")) {
      return plain(response, { input_tokens: 1 });
    }
    plain(response, path.endsWith("/models") ? { data: [], models: [] } : {});
  });
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })));

function plain(response, value) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** Answers with events, the way both services stream. */
function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** What the model does next: one call of the tool, then its answer as text. */
function next(names, answers) {
  console.log(JSON.stringify({ tools: names, answers }));
  const tool = names.find((name) => name === wanted || name.endsWith(`__${wanted}`));
  if (tool && called.has(tool)) {
    return { text: `The tool said: ${answers.at(-1)}` };
  }
  if (tool) {
    return { tool };
  }
  // Claude Code asks its model before the servers are there, and keeps their tools back until they are searched for.
  const helpers = { WaitForMcpServers: {}, ToolSearch: { query: `+${wanted}`, max_results: 5 } };
  const helper = Object.keys(helpers).find((name) => names.includes(name) && !called.has(name));
  if (helper) {
    return { tool: helper, arguments: helpers[helper] };
  }
  // Other clients are given a few tools, and the ones that find and call the rest.
  const own = (name) => names.find((known) => known.endsWith(name));
  const [discover, call] = [own("mgp_tools_discover"), own("mgp_tools_call")];
  if (discover && !called.has(discover)) {
    return { tool: discover, arguments: { query: wanted.replaceAll("_", " ") } };
  }
  const found = answers.at(-1)?.match(new RegExp(`[A-Za-z0-9_-]*${wanted}`))?.[0];
  if (call && found && !called.has(call)) {
    return { tool: call, arguments: { name: found, arguments: args } };
  }
  return { text: call && called.has(call) ? `The tool said: ${answers.at(-1)}` : `there is no such tool: ${answers.at(-1)}` };
}

const called = new Set();

/** The text of a content that is a string, or a list of parts. */
function textOf(content) {
  if (typeof content === "string") {
    return content;
  }
  return (content ?? []).map((part) => part.text ?? part.tool_name ?? "").join(" ");
}

function messages(asked, response) {
  const names = (asked.tools ?? []).map((tool) => tool.name);
  const parts = (asked.messages ?? []).flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  const answers = parts.filter((part) => part.type === "tool_result").map((part) => textOf(part.content));
  // Titles and the like are asked for without tools.
  const step = names.length === 0 ? { text: "a title" } : next(names, answers);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null, stop_sequence: null, usage };
  let block = { type: "text", text: "" };
  let delta = { type: "text_delta", text: step.text };
  if (step.tool) {
    called.add(step.tool);
    block = { type: "tool_use", id: `toolu_${called.size}`, name: step.tool, input: {} };
    delta = { type: "input_json_delta", partial_json: JSON.stringify(step.arguments ?? args) };
  }
  const reason = step.tool ? "tool_use" : "end_turn";
  if (!asked.stream) {
    const whole = step.tool ? { ...block, input: step.arguments ?? args } : { type: "text", text: step.text };
    return plain(response, { ...message, content: [whole], stop_reason: reason });
  }
  stream(response, [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
}

function responses(asked, response) {
  // Codex sends the tools of a server as one group.
  const tools = (asked.tools ?? []).flatMap((tool) =>
    tool.type === "namespace" ? tool.tools.map((own) => ({ name: own.name, namespace: tool.name })) : [{ name: tool.name ?? tool.type }],
  );
  const names = tools.map((tool) => (tool.namespace ? `${tool.namespace}${tool.name}` : tool.name));
  const outputs = (asked.input ?? []).filter((item) => item.type === "function_call_output");
  const step = next(names, outputs.map((item) => textOf(item.output)));
  let item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: step.text, annotations: [] }] };
  if (step.tool) {
    called.add(step.tool);
    const tool = tools[names.indexOf(step.tool)];
    item = { type: "function_call", id: "fc_1", call_id: `call_${called.size}`, name: tool.name, arguments: JSON.stringify(step.arguments ?? args), status: "completed" };
    if (tool.namespace) {
      item.namespace = tool.namespace;
    }
  }
  const whole = { id: "resp_1", object: "response", status: "in_progress", model: asked.model, output: [] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  stream(response, [
    { type: "response.created", response: whole },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...whole, status: "completed", output: [item], usage } },
  ]);
}
