// Opens each type of target as a client that pauses new targets does, and prints what its sessions receive from the
// creation of the target to its first responses.
//
//   node target-events.mjs (--endpoint URL | --executable PATH) [--context own|default] [--intercept yes]
//
// Prints one line of JSON: for each target, for each session on it, the network and page events in order. Two browsers
// behave the same when their lines are equal.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { readArguments } from './shared/command-line.mjs';
import { websocketAddress } from './shared/devtools-endpoint.mjs';
import { firstLine } from './shared/stock-chromium.mjs';

const settings = readArguments({ endpoint: '', executable: '', context: 'own', intercept: '' });
const STEP_MILLISECONDS = 8_000;
const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };

const html = (body) => ['text/html', `<!doctype html><title>t</title><link rel=icon href=data:,>${body}`];
const script = (body) => ['text/javascript', body];
const FILES = {
  '/start': html('<h1>start</h1>'),
  '/created': html('<h1>created</h1>'),
  '/opened': html('<h1>opened</h1>'),
  '/linked': html('<h1>linked</h1>'),
  '/frame': html('<h1>frame</h1>'),
  '/worker.js': script('importScripts("/imported.js"); fetch("/data")'),
  '/shared.js': script('importScripts("/imported.js"); fetch("/data"); onconnect = () => {}'),
  '/service.js': script('importScripts("/imported.js"); fetch("/data")'),
  '/imported.js': script('self.imported = 1'),
  '/data': ['text/plain', 'data'],
};

const site = createServer((request, response) => {
  const [type, body] = FILES[new URL(request.url, 'http://site').pathname] ?? ['text/plain', 'missing'];
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
const port = site.address().port;
// Every run has a site of its own, because service workers stay registered.
const home = `http://${settings.context}${settings.intercept}.localhost:${port}`;
const pathOf = (url) => { try { return new URL(url).pathname; } catch { return url; } };

/** A target to open: how, the session to watch, and the last event of each kind that it must receive. */
const SCENARIOS = {
  created: { open: (client) => client.send('Target.createTarget', { url: `${home}/created`, ...client.where }), watch: 'page#root', last: ['attached paused'] },
  opened: { page: `void window.open('${home}/opened')`, watch: 'page#root', last: ['response /opened', 'frameNavigated /opened'] },
  linked: {
    page: `(() => { const link = document.createElement('a'); link.href = '${home}/linked'; link.target = '_blank'; link.rel = 'noopener';
      document.body.append(link); link.click(); })()`,
    watch: 'page#root', last: ['response /linked', 'frameNavigated /linked'],
  },
  frame: {
    page: `(() => { const frame = document.createElement('iframe'); frame.src = 'http://127.0.0.1:${port}/frame'; document.body.append(frame); })()`,
    watch: 'iframe#page', last: ['frameNavigated /frame'],
  },
  worker: { page: "void (self.worker = new Worker('/worker.js'))", watch: 'worker#page', last: ['response /data'] },
  shared: { page: "void (self.shared = new SharedWorker('/shared.js'))", watch: 'shared_worker#root', last: ['response /data'] },
  service: { page: "void navigator.serviceWorker.register('/service.js')", watch: 'service_worker#root', last: ['response /data'] },
};

class Client {
  static async connect(endpoint) {
    const client = new Client();
    client.socket = new WebSocket(await websocketAddress(endpoint), { perMessageDeflate: false, handshakeTimeout: STEP_MILLISECONDS });
    client.socket.on('message', (data) => client.receive(JSON.parse(data)));
    await new Promise((resolve, reject) => client.socket.once('open', resolve).once('error', reject));
    return client;
  }

  constructor() {
    this.waiting = new Map();
    this.sessions = new Map();
    this.seen = new Map();
    this.last = 0;
    this.changed = () => {};
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  receive(message) {
    if (message.id !== undefined) {
      this.waiting.get(message.id)?.(message.result ?? { error: message.error });
      this.waiting.delete(message.id);
      return;
    }
    const line = this.describe(message);
    const session = this.sessions.get(message.sessionId);
    if (message.method === 'Target.attachedToTarget') this.attached(message.params, session);
    if (!line || !session || !this.recorded?.has(session.target)) return;
    // Events of different domains come from different processes, so their order among each other varies.
    this.linesOf(session.name)[message.method.split('.')[0]].push(line);
    this.changed();
  }

  linesOf(name) {
    if (!this.seen.has(name)) this.seen.set(name, { Target: [], Network: [], Fetch: [], Page: [] });
    return this.seen.get(name);
  }

  describe({ method, params, sessionId }) {
    switch (method) {
      case 'Network.requestWillBeSent': return `request ${pathOf(params.request.url)} ${params.type}`;
      case 'Network.responseReceived': return `response ${pathOf(params.response.url)}`;
      case 'Page.frameNavigated': return `frameNavigated ${pathOf(params.frame.url)}`;
      case 'Fetch.requestPaused':
        this.send('Fetch.continueRequest', { requestId: params.requestId }, sessionId);
        return `paused ${pathOf(params.request.url)} ${params.resourceType}`;
      default: return undefined;
    }
  }

  /** Sets a new session up and resumes its target, without waiting for the responses. */
  attached({ targetInfo, sessionId, waitingForDebugger }, parent) {
    const { type, targetId } = targetInfo;
    if (type === 'browser_ui' || type === 'tab') return this.send('Runtime.runIfWaitingForDebugger', {}, sessionId);
    const name = `${type}#${parent?.type ?? 'root'}`;
    this.sessions.set(sessionId, { name, type, target: targetId });
    if (this.recorded && waitingForDebugger !== undefined && !this.known.has(targetId)) {
      this.recorded.add(targetId);
      this.linesOf(name).Target.push(`attached ${waitingForDebugger ? 'paused' : 'running'}`);
      this.changed();
    }
    const isPage = type === 'page' || type === 'iframe';
    for (const method of [...(isPage ? ['Page.enable'] : []), 'Runtime.enable', 'Network.enable']) this.send(method, {}, sessionId);
    if (settings.intercept) this.send('Fetch.enable', { patterns: [{}] }, sessionId);
    this.send('Target.setAutoAttach', AUTO_ATTACH, sessionId);
    this.send('Runtime.runIfWaitingForDebugger', {}, sessionId);
    this.newest = { sessionId, targetId, type };
    return undefined;
  }

  /** Opens one target and waits until its session has received the last events, or the deadline. */
  async run(name, { open, page, watch, last }) {
    this.known = new Set([...this.sessions.values()].map(({ target }) => target));
    this.recorded = new Set([this.target]);
    this.seen = new Map();
    const done = new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), STEP_MILLISECONDS);
      this.changed = () => {
        const lines = this.seen.get(watch);
        const all = Object.values(lines ?? {}).flat();
        if (last.every((line) => all.includes(line))) { clearTimeout(timer); resolve(true); }
      };
    });
    await (open ? open(this) : this.send('Runtime.evaluate', { expression: page, awaitPromise: true, userGesture: true }, this.page));
    const complete = await done;
    // One more round trip, so that events which follow are recorded too.
    await this.send('Runtime.evaluate', { expression: '1' }, this.page);
    // Chromium reports requests to later sessions on a target only from the moment at which they are set up.
    for (const [name, lines] of this.seen) if (name !== watch && name !== 'opener') lines.Network = [];
    // A page that is created with a URL may load before a client can observe it.
    for (const lines of this.seen.values()) if (open) Object.assign(lines, { Network: [], Fetch: [], Page: [] });
    const sessions = Object.fromEntries([...this.seen].sort(([one], [other]) => (one < other ? -1 : 1)));
    this.recorded = undefined;
    for (const { target } of this.sessions.values()) {
      if (!this.known.has(target) && watch.startsWith('page')) await this.send('Target.closeTarget', { targetId: target });
    }
    return { [name]: { complete, sessions } };
  }
}

async function launch(executable) {
  const profile = await mkdtemp(join(tmpdir(), 'target-events-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'];
  const child = spawn(executable, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const endpoint = await firstLine(child.stderr, /DevTools listening on (ws:\S+)/);
  return { endpoint, async stop() {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(timer);
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  } };
}

const browser = settings.executable ? await launch(settings.executable) : { endpoint: settings.endpoint, stop: async () => {} };
const client = await Client.connect(browser.endpoint);
try {
  await client.send('Target.setAutoAttach', AUTO_ATTACH);
  client.where = {};
  if (settings.context === 'own') {
    const { browserContextId } = await client.send('Target.createBrowserContext', { disposeOnDetach: true });
    client.where = { browserContextId };
  }
  const { targetId } = await client.send('Target.createTarget', { url: 'about:blank', ...client.where });
  client.target = targetId;
  [client.page] = [...client.sessions].find(([, session]) => session.target === targetId);
  client.sessions.get(client.page).name = 'opener';
  await client.send('Page.navigate', { url: `${home}/start` }, client.page);
  await client.send('Runtime.evaluate', { expression: 'new Promise((resolve) => { if (document.readyState === "complete") resolve(); else onload = resolve; })', awaitPromise: true }, client.page);
  let results = {};
  for (const [name, scenario] of Object.entries(SCENARIOS)) results = { ...results, ...await client.run(name, scenario) };
  console.log(JSON.stringify(results));
} finally {
  client.socket.close();
  await browser.stop();
  site.close();
  site.closeAllConnections();
}
