// Starts a stock MCP server that launches its own Chrome, and calls its tools: one line of JSON in, one line
// out.
//
//   node launch/mcp-launcher.mjs --tool chrome-devtools-mcp|playwright-mcp --executable PATH --profile DIRECTORY
//     [--arguments '["--a", "b"]'], which replaces the server's default arguments
//
// Commands: {"call": TOOL, "arguments": {...}} {"close": true}. Results: {"text": ..., "failed": ...} or
// {"error": MESSAGE}.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readArguments } from '../shared/command-line.mjs';

const settings = readArguments({ arguments: '' }, ['tool', 'executable', 'profile']);
const require = createRequire(import.meta.url);
const say = (line) => console.log(JSON.stringify(line));
const STEP_MILLISECONDS = 30_000;

function program() {
  if (settings.tool === 'playwright-mcp') {
    const script = join(dirname(require.resolve('@playwright/mcp/package.json')), 'cli.js');
    if (settings.arguments) return [script, ...JSON.parse(settings.arguments)];
    return [script, '--headless', '--no-sandbox', '--executable-path', settings.executable, '--user-data-dir', settings.profile];
  }
  const script = join(dirname(require.resolve('chrome-devtools-mcp/package.json')), 'build/src/bin/chrome-devtools-mcp.js');
  if (settings.arguments) return [script, ...JSON.parse(settings.arguments)];
  return [script, '--headless', '--executablePath', settings.executable, '--userDataDir', settings.profile,
    '--chromeArg=--no-sandbox', '--no-usage-statistics'];
}

// The server writes its files beside its profile.
const server = spawn(process.execPath, program(), { stdio: ['pipe', 'pipe', 'inherit'], cwd: dirname(settings.profile) });
const waiting = new Map();
let last = 0;

createInterface({ input: server.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
});

function request(method, params) {
  const id = ++last;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${method}: no response`)), STEP_MILLISECONDS);
    waiting.set(id, (message) => { clearTimeout(timer); resolve(message); });
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
}

async function call(name, parameters) {
  const message = await request('tools/call', { name, arguments: parameters });
  if (message.error) return { error: message.error.message };
  const text = (message.result.content ?? []).map((part) => part.text ?? '').join('\n');
  return { text: text.slice(0, 4000), failed: message.result.isError === true };
}

await request('initialize', {
  protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tabwire-test', version: '0' },
});
server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
say({ ready: true, pid: server.pid });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.close) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.stdin.end();
    const timer = setTimeout(() => server.kill('SIGTERM'), 10_000);
    await ended;
    clearTimeout(timer);
    say({ closed: true });
    process.exit(0);
  }
  try {
    say(await call(command.call, command.arguments ?? {}));
  } catch (error) {
    say({ error: String(error?.message ?? error).slice(0, 400) });
  }
}
server.kill('SIGKILL');
