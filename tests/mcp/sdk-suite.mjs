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

const { tools } = await client.listTools();
assert.equal(tools.length, 28);

const call = async (name, args, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  const text = result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
  return { ...result, text: result.structuredContent ? JSON.stringify(result.structuredContent) : text };
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
