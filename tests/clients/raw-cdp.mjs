// Drives a CDP endpoint with a bare websocket: discovery, flat sessions, and ids used twice on purpose.
//
//   node raw-cdp.mjs --endpoint <ws or http address> [--site-port N] [--operations 30] [--seed 1]
//
// Exit code 0 only if every check passed.

import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { readArguments } from './shared/command-line.mjs';
import { websocketAddress } from './shared/devtools-endpoint.mjs';
import { OperationRunner } from './shared/operation-runner.mjs';
import { SeededRandom } from './shared/seeded-random.mjs';

const RESPONSE_MILLISECONDS = 8_000;
const SESSION_NOT_FOUND = -32001;

/** One websocket; every response and event it got is kept, so that a stray one is noticed. */
class RawClient {
  static async connect(endpoint) {
    const client = new RawClient();
    client.socket = new WebSocket(await websocketAddress(endpoint), { perMessageDeflate: false, handshakeTimeout: RESPONSE_MILLISECONDS });
    client.socket.on('message', (data) => client.receive(JSON.parse(data)));
    await new Promise((resolve, reject) => client.socket.once('open', resolve).once('error', reject));
    return client;
  }

  constructor() {
    this.waiting = new Map();
    this.events = [];
    this.strays = [];
    this.last = 0;
  }

  receive(message) {
    if (message.id === undefined) return this.events.push(message);
    let key = `${message.sessionId ?? ''}/${message.id}`;
    if (message.error?.code === SESSION_NOT_FOUND && !message.sessionId) {
      // Chrome responds on the root when it does not know the session, so only the id identifies the
      // response.
      key = [...this.waiting.keys()].find((each) => each.endsWith(`/${message.id}`)) ?? key;
    }
    const waiting = this.waiting.get(key);
    if (!waiting) return this.strays.push(message);
    this.waiting.delete(key);
    clearTimeout(waiting.timer);
    return waiting.resolve(message);
  }

  /** Sends a command with this id and gives the whole response, errors included. */
  ask(id, method, params = {}, sessionId = undefined) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no response to ${method}`)), RESPONSE_MILLISECONDS);
      this.waiting.set(`${sessionId ?? ''}/${id}`, { resolve, timer });
      this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** Sends a command and gives its result; an error is thrown. */
  async call(method, params, sessionId) {
    const response = await this.ask(++this.last, method, params, sessionId);
    if (response.error) throw new Error(`${method}: ${response.error.message}`);
    return response.result;
  }

  async evaluate(expression, sessionId, id = ++this.last) {
    const response = await this.ask(id, 'Runtime.evaluate', { expression, returnByValue: true }, sessionId);
    if (response.error) throw new Error(response.error.message);
    return response.result.result.value;
  }

  /** Makes a page and attaches to it. */
  async openPage() {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' });
    return { targetId, sessionId: await this.attach(targetId) };
  }

  async attach(targetId) {
    return (await this.call('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  }
}

const settings = readArguments({ 'site-port': '', operations: '30', seed: '1' }, ['endpoint']);
const runner = new OperationRunner('raw', new SeededRandom(Number(settings.seed)));
const first = await RawClient.connect(settings.endpoint);
const second = await RawClient.connect(settings.endpoint);

async function withPage(client, work) {
  const page = await client.openPage();
  try {
    await work(page);
  } finally {
    await client.call('Target.closeTarget', { targetId: page.targetId });
  }
}

const checks = [
  { name: 'version', async run() {
    assert.match((await first.call('Browser.getVersion')).product, /Chrom/);
  } },
  { name: 'flat attach and evaluate', run: () => withPage(first, async ({ sessionId }) => {
    assert.equal(await first.evaluate('6 * 7', sessionId), 42);
  }) },
  { name: 'two sessions on one target', run: () => withPage(first, async ({ targetId, sessionId }) => {
    const other = await first.attach(targetId);
    assert.notEqual(other, sessionId);
    await first.evaluate('window.mark = "seen by both"', sessionId);
    assert.equal(await first.evaluate('window.mark', other), 'seen by both');
    await first.call('Target.detachFromTarget', { sessionId: other });
    assert.equal(await first.evaluate('window.mark', sessionId), 'seen by both');
    assert.equal((await first.ask(++first.last, 'Runtime.evaluate', { expression: '1' }, other)).error.code, SESSION_NOT_FOUND);
  }) },
  { name: 'events go to the session that asked', run: () => withPage(first, async ({ targetId, sessionId }) => {
    const quiet = await first.attach(targetId);
    await first.call('Runtime.enable', {}, sessionId);
    await first.evaluate('console.log("only for one")', sessionId);
    await first.evaluate('1', quiet);
    const logged = first.events.filter((event) => event.method === 'Runtime.consoleAPICalled');
    assert.ok(logged.some((event) => event.sessionId === sessionId));
    assert.ok(!logged.some((event) => event.sessionId === quiet));
  }) },
  // The same id three times at once: on the root, on a session of this client, on one of another client.
  { name: 'same ids on purpose', run: () => withPage(first, (own) => withPage(second, async (other) => {
    const id = 1_000_000;
    const [root, mine, theirs] = await Promise.all([
      first.ask(id, 'Browser.getVersion'),
      first.evaluate('"mine"', own.sessionId, id),
      second.evaluate('"theirs"', other.sessionId, id),
    ]);
    assert.ok(root.result.product);
    assert.deepEqual([mine, theirs], ['mine', 'theirs']);
  })) },
  { name: 'unknown methods and sessions are errors', async run() {
    const method = await first.ask(++first.last, 'No.suchMethod');
    assert.equal(method.error.code, -32601);
    const session = await first.ask(++first.last, 'Runtime.evaluate', { expression: '1' }, 'NO-SUCH-SESSION');
    assert.equal(session.error.code, SESSION_NOT_FOUND);
  } },
  { name: 'no stray responses', async run() {
    assert.deepEqual([first.strays, second.strays, first.waiting.size, second.waiting.size], [[], [], 0, 0]);
  } },
];

const world = { kind: 'root', perform: (check) => check.run() };
await runner.runMany({ operations: checks, worlds: [world], count: Number(settings.operations), recheck: () => {}, pauseAt: 0 });
first.socket.close();
second.socket.close();
runner.finish();
