// The TypeScript SDK as a client of `tabwire mcp`: over stdio with a command, over HTTP with a URL.
// Usage: node sdk-suite.mjs SITE_PORT stdio COMMAND [ARGUMENTS...] | node sdk-suite.mjs SITE_PORT http URL

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [port, kind, address, ...more] = process.argv.slice(2);
const transport = kind === 'stdio'
  ? new StdioClientTransport({ command: address, args: more, env: process.env })
  : new StreamableHTTPClientTransport(new URL(address));
const client = new Client({ name: 'typescript-suite', version: '1.0.0' });
await client.connect(transport);

const listed = await client.listTools();
const { tools } = listed;
assert.equal(tools.length, 29);
assert.ok(JSON.stringify(listed).length <= 4 * 4000, 'the list has at most 4,000 tokens');
assert.ok(tools.every((tool) => tool.outputSchema === undefined), 'results are text by default');

const call = async (name, args, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  const text = result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
  return { ...result, text };
};

const opened = await call('navigate', { url: `http://a.localhost:${port}/form` });
assert.ok(!opened.isError, opened.text);
const seen = await call('snapshot', {});
const ref = /textbox "Name" \[(e\d+)\]/.exec(seen.text)[1];
assert.match((await call('fill', { ref, value: 'Anna' })).text, /"Anna"/);
const failed = await call('click', { selector: '#nowhere', ref });
assert.equal(failed.isError, true);
assert.match(failed.text, /^BAD_ARGS: .*\nnext: /);
const screenshot = await call('screenshot', {});
assert.equal(screenshot.content.find((block) => block.type === 'image').mimeType, 'image/png');

// The text holds the result, and the result is sent once.
for (const [name, args, expected] of [
  ['tabs_list', {}, /\/form/],
  ['eval', { expression: '[6 * 7, "x"]' }, /42/],
  ['extract_links', {}, /<page /],
  ['press', { keys: 'Escape' }, /pressed Escape/],
  ['scroll', { by: [0, 10] }, /scrolled/],
  ['scroll', { by: '0,10' }, /scrolled/],
  ['scroll', { to: [0, 0] }, /at 0,0/],
  ['scroll', { to: '0,0' }, /at 0,0/],
  ['status', {}, /upstream: [\s\S]*current_tab: [\s\S]*\/form/],
]) {
  const result = await call(name, args);
  assert.ok(!result.isError && expected.test(result.text), `${name}: ${result.text}`);
  assert.equal(result.structuredContent, undefined, name);
}
const wrong = await call('scroll', { by: 'far' });
assert.match(wrong.text, /^BAD_ARGS: .*`by`.*\nnext: .*the schema of the tool `scroll`/);

// Three calls at once: responses come in the order the calls end, progress is reported, and one call is
// cancelled.
const ended = [];
const progress = [];
const stop = new AbortController();
await Promise.allSettled([
  call('wait_for', { time: 1500 }, { onprogress: (step) => progress.push(step) }).then(() => ended.push('slow')),
  call('wait_for', { time: 60000, timeout_ms: 90000 }, { signal: stop.signal }).catch(() => ended.push('cancelled')),
  call('eval', { expression: '6 * 7' }).then(({ text }) => { assert.match(text, /42/); ended.push('fast'); stop.abort(); }),
]);
assert.deepEqual(ended, ['fast', 'cancelled', 'slow']);
assert.ok(progress.length >= 1 && /wait_for/.test(progress[0].message));

const { resources } = await client.listResources();
assert.equal(resources.length, 5);
const page = await client.readResource({ uri: 'tabwire://page.md' });
assert.match(page.contents[0].text, /^<page /);
const { messages } = await client.getPrompt({ name: 'drive' });
assert.match(messages[0].content.text, /snapshot/);
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify({ passed: true }));
