// A scripted model on loopback: the parts of OpenAI's Responses API and Anthropic's Messages API that the agents use.
//
// Each line of the user's last message is one step; a step that calls a tool ends a response.
//   say TEXT    tool NAME JSON    shell COMMAND    hang    slow    flood    fail    seen
// Usage: node model-server.mjs LOG-FILE. Prints its port. Each request is one line of JSON in the log file.

import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const [log] = process.argv.slice(2);
const MODEL = "scripted-model";
let next = 0;

/** The words of the user's last message and how many tools were called since. */
function position(messages) {
  let words = "";
  let called = 0;
  for (const message of messages) {
    if (message.role === "user" && message.text !== undefined) {
      words = message.text;
      called = 0;
    } else if (message.result !== undefined) {
      called += 1;
    }
  }
  const lines = words.split("\n").map((line) => line.trim());
  const steps = lines.filter((line) => /^(say|tool|shell|hang|slow|flood|fail|seen)\b/.test(line));
  return { steps, called, last: messages.filter((message) => message.result !== undefined).at(-1)?.result };
}

/** What to respond: texts, and at most one call. */
function plan(messages, tools) {
  const { steps, called, last } = position(messages);
  const texts = called > 0 && last !== undefined ? [`Result: ${String(last).slice(0, 400).replaceAll("\n", " ")}\n`] : [];
  let calls = 0;
  for (const step of steps) {
    const [word, ...rest] = step.split(" ");
    const text = rest.join(" ");
    if (word === "tool" || word === "shell") {
      calls += 1;
      if (calls <= called) continue;
      const [name, ...json] = word === "tool" ? rest : ["shell"];
      const input = word === "tool" ? JSON.parse(json.join(" ") || "{}") : shellInput(tools, text);
      return { texts, call: { name: findTool(tools, name), input } };
    }
    if (calls < called) continue;
    if (word === "say") texts.push(`${text}\n`);
    if (word === "seen") texts.push(`Tools: ${tools.map((tool) => tool.name).join(" ")}\n`);
    if (word === "hang") return { texts, hangs: true };
    if (word === "slow") texts.push(...Array.from({ length: 120 }, (_, at) => `${at} `));
    // More than a message of a chat keeps.
    if (word === "flood") texts.push(...Array.from({ length: 2_000 }, (_, at) => `${String(at).padEnd(199, "x")}\n`));
    if (word === "fail") return { texts, fails: true };
  }
  return { texts: texts.length === 0 ? ["Done.\n"] : texts, slow: steps.includes("slow") };
}

const SHELLS = ["shell", "shell_command", "exec_command", "local_shell", "Bash"];

function findTool(tools, name) {
  const names = tools.map((tool) => tool.name);
  if (name === "shell") return names.find((known) => SHELLS.includes(known)) ?? "shell";
  return names.find((known) => known === name || known.endsWith(`__${name}`)) ?? name;
}

function shellInput(tools, command) {
  const name = findTool(tools, "shell");
  if (name === "Bash") return { command };
  return name === "exec_command" ? { cmd: command } : { command: ["bash", "-c", command] };
}

const flat = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");

// OpenAI

function openAiTools(tools) {
  return (tools ?? []).flatMap((tool) =>
    tool.type === "namespace"
      ? tool.tools.map((inner) => ({ name: `${tool.name}__${inner.name}`, namespace: tool.name, inner: inner.name }))
      : [{ name: tool.name ?? tool.type }],
  );
}

function openAiMessages(input) {
  return (typeof input === "string" ? [{ role: "user", content: input, type: "message" }] : input).map((item) => {
    if (item.type === "function_call_output") return { result: flat(item.output) };
    if (item.type === "message" || item.role) {
      const text = flat(item.content);
      // What the client adds by itself is in tags.
      return item.role === "user" && !text.trimStart().startsWith("<") ? { role: "user", text } : { role: item.role };
    }
    return {};
  });
}

async function respondOpenAi(body, send, end) {
  const tools = openAiTools(body.tools);
  const { texts, call, hangs, fails, slow } = plan(openAiMessages(body.input), tools);
  const id = `resp_${(next += 1)}`;
  const response = { id, object: "response", model: MODEL, status: "in_progress", output: [] };
  let sequence = 0;
  const event = (type, more) => send(type, { type, sequence_number: (sequence += 1), ...more });
  event("response.created", { response });
  if (fails) {
    const error = { code: "invalid_prompt", message: "The scripted model failed." };
    event("response.failed", { response: { ...response, status: "failed", error } });
    return end();
  }
  const output = [];
  if (texts.length > 0) {
    const item = { id: `msg_${next}`, type: "message", role: "assistant", status: "in_progress", content: [] };
    event("response.output_item.added", { output_index: 0, item });
    event("response.content_part.added", { item_id: item.id, output_index: 0, content_index: 0, part: { type: "output_text", text: "", annotations: [] } });
    for (const delta of texts) {
      event("response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta });
      if (slow) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const text = texts.join("");
    const done = { ...item, status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
    if (hangs) return;
    event("response.output_text.done", { item_id: item.id, output_index: 0, content_index: 0, text });
    event("response.output_item.done", { output_index: 0, item: done });
    output.push(done);
  }
  if (hangs) return;
  if (call) {
    const tool = tools.find((known) => known.name === call.name);
    const item = {
      id: `fc_${next}`, type: "function_call", status: "completed", call_id: `call_${next}`,
      name: tool?.inner ?? call.name, arguments: JSON.stringify(call.input),
      ...(tool?.namespace ? { namespace: tool.namespace } : {}),
    };
    event("response.output_item.added", { output_index: output.length, item: { ...item, arguments: "" } });
    event("response.output_item.done", { output_index: output.length, item });
    output.push(item);
  }
  const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, output_tokens: 10, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 110 };
  event("response.completed", { response: { ...response, status: "completed", output, usage } });
  end();
}

// Anthropic

function anthropicMessages(messages) {
  return messages.flatMap((message) => {
    if (message.role !== "user") return [{ role: message.role }];
    const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    return parts.map((part) => {
      if (part.type === "tool_result") return { result: flat(part.content) };
      const own = part.type === "text" && !part.text.trimStart().startsWith("<");
      return own ? { role: "user", text: part.text } : {};
    });
  });
}

async function respondAnthropic(body, send, end) {
  const tools = body.tools ?? [];
  const { texts, call, hangs, slow } = plan(anthropicMessages(body.messages), tools);
  const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const message = { id: `msg_${(next += 1)}`, type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
  const event = (type, more) => send(type, { type, ...more });
  event("message_start", { message });
  let index = 0;
  event("content_block_start", { index, content_block: { type: "text", text: "" } });
  for (const text of texts) {
    event("content_block_delta", { index, delta: { type: "text_delta", text } });
    if (slow) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (hangs) return;
  event("content_block_stop", { index });
  if (call) {
    index += 1;
    event("content_block_start", { index, content_block: { type: "tool_use", id: `toolu_${next}`, name: call.name, input: {} } });
    event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(call.input) } });
    event("content_block_stop", { index });
  }
  event("message_delta", { delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }, usage: { output_tokens: 10 } });
  event("message_stop", {});
  end();
}

const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  const path = new URL(request.url, "http://localhost").pathname;
  const body = text === "" ? {} : JSON.parse(text);
  const names = (body.tools ?? []).flatMap((tool) => (tool.tools ? tool.tools.map((inner) => `${tool.name}__${inner.name}`) : [tool.name ?? tool.type]));
  appendFileSync(log, `${JSON.stringify({ method: request.method, path, tools: names, input: body.input ?? body.messages })}\n`);
  const json = (value, status = 200) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  const isAnthropic = path.endsWith("/messages");
  if (!isAnthropic && !path.endsWith("/responses")) {
    if (path.endsWith("/models")) return json({ object: "list", data: [{ id: MODEL, object: "model" }], models: [] });
    return json({ error: { type: "not_found", message: "no such path" } }, 404);
  }
  if (isAnthropic && /^fail\b/m.test(position(anthropicMessages(body.messages)).steps.join("\n"))) {
    return json({ type: "error", error: { type: "invalid_request_error", message: "The scripted model failed." } }, 400);
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, value) => response.write(`event: ${type}\ndata: ${JSON.stringify(value)}\n\n`);
  if (isAnthropic) await respondAnthropic(body, send, () => response.end());
  else await respondOpenAi(body, send, () => response.end());
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
