// An MCP client over a process's stdin and stdout.

import { spawn } from 'node:child_process';

/** No tool call takes longer than this. */
const LONGEST = 60_000;

export class McpClient {
  #process;
  #pending = new Map();
  #next = 0;

  static async start(program, args, options) {
    const client = new McpClient();
    client.#process = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    client.#listen();
    const clientInfo = { name: 'tasks', version: '1' };
    await client.#request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    client.#send({ method: 'notifications/initialized' });
    return client;
  }

  #listen() {
    let buffer = '';
    this.#process.stdout.on('data', (data) => {
      buffer += data;
      const lines = buffer.split('\n');
      buffer = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        this.#pending.get(message.id)?.(message);
        this.#pending.delete(message.id);
      }
    });
  }

  #send(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #request(method, params) {
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ error: { message: `${method} took too long` } }), LONGEST);
      this.#pending.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.#send({ id, method, params });
    });
  }

  /** Calls a tool; gives its text and whether it succeeded. */
  async call(name, args) {
    const { result, error } = await this.#request('tools/call', { name, arguments: args });
    const text = error ? error.message : result.content.map((part) => part.text ?? '').join('\n');
    return { ok: !error && !result.isError, text };
  }

  /** Ends the server: by closing its input, and by a signal when it is still there. */
  async stop() {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
    if (this.#process.exitCode === null && this.#process.signalCode === null) await ended;
    clearTimeout(timer);
  }
}
