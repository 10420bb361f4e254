// HTTP servers for specs, in Node. Assets come from the checkout; every request first goes to a handler, which serves an
// asset or responds itself. For specs in a script's process, handlers are reached through a page of the browser under
// test (`/page`), because that process has no network.

import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import path from "node:path";
import zlib from "node:zlib";

const TYPES = { html: "text/html", css: "text/css", js: "text/javascript", mjs: "text/javascript", json: "application/json", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", svg: "image/svg+xml", txt: "text/plain", pdf: "application/pdf", woff: "font/woff", woff2: "font/woff2", ttf: "font/ttf", webm: "video/webm", mp4: "video/mp4", zip: "application/zip", wasm: "application/wasm", gif: "image/gif", webp: "image/webp", ico: "image/vnd.microsoft.icon", xml: "text/xml", md: "text/markdown", csv: "text/csv" };

/** Starts a server; `handle(request, response)` gets every request, with `postBody` as a promise. */
export async function startServer(handle, certificate) {
  const listener = (request, response) => {
    request.on("error", () => {});
    request.postBody = new Promise((resolve) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => resolve(Buffer.concat(chunks)));
      request.on("close", () => resolve(Buffer.concat(chunks)));
    });
    handle(request, response);
  };
  const server = certificate ? https.createServer(certificate, listener) : http.createServer(listener);
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.keepAliveTimeout = 60000;
  await new Promise((resolve) => server.listen(0, "::", resolve));
  return { server, port: server.address().port };
}

export function certificateOf(checkout) {
  const folder = path.join(checkout, "tests/config/testserver");
  return { key: fs.readFileSync(path.join(folder, "key.pem")), cert: fs.readFileSync(path.join(folder, "cert.pem")), passphrase: "aaaa" };
}

/** Sends an asset of the checkout. */
export async function serveAsset(checkout, request, response, { file, headers, isZipped }) {
  const assets = path.join(checkout, "tests/assets");
  const name = decodeURIComponent(request.url.split(/[?#]/)[0]);
  const source = file ?? path.join(assets, name === "/" ? "index.html" : name);
  if (source.startsWith(path.join(assets, "cached"))) {
    if (request.headers["if-modified-since"]) {
      response.statusCode = 304;
      return response.end();
    }
    response.setHeader("Cache-Control", "public, max-age=31536000, no-cache");
    response.setHeader("Last-Modified", new Date(0).toISOString());
  } else response.setHeader("Cache-Control", "no-cache, no-store");
  for (const [key, value] of Object.entries(headers)) response.setHeader(key, value);
  let data;
  try {
    data = await fs.promises.readFile(source);
  } catch {
    response.statusCode = 404;
    response.setHeader("Content-Type", "text/plain");
    return response.end(request.method === "HEAD" ? undefined : `File not found: ${source}`);
  }
  if (response.writableEnded) return;
  const type = TYPES[source.slice(source.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  response.setHeader("Content-Type", /^text\/|^application\/(javascript|json)/.test(type) ? `${type}; charset=utf-8` : type);
  if (isZipped) {
    response.setHeader("Content-Encoding", "gzip");
    data = zlib.gzipSync(data);
  }
  response.end(request.method === "HEAD" ? undefined : data);
}

/** The servers of one worker, whose requests wait for the script's process. */
class Remote {
  #checkout;
  #servers = [];
  #open = new Map();
  #events = [];
  #poll = null;
  #last = 0;

  constructor(checkout) {
    this.#checkout = checkout;
  }

  async start() {
    const ports = {};
    for (const [kind, certificate] of [["http"], ["https", certificateOf(this.#checkout)]]) {
      const made = await startServer((request, response) => void this.#forward(kind, request, response), certificate);
      this.#servers.push(made.server);
      ports[kind] = made.port;
    }
    return ports;
  }

  async #forward(kind, request, response) {
    const body = await request.postBody;
    const id = ++this.#last;
    this.#open.set(id, { request, response });
    const { url, method, headers, rawHeaders, httpVersion } = request;
    this.#events.push({ id, kind, url, method, headers, rawHeaders, httpVersion, body: body.toString("base64") });
    this.#flush();
  }

  #flush() {
    if (this.#poll === null || this.#events.length === 0) return;
    const poll = this.#poll;
    this.#poll = null;
    poll(this.#events.splice(0));
  }

  /** The next requests, or none after 20 s. */
  poll() {
    this.#poll?.([]);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#poll === given && ((this.#poll = null), resolve([])), 20000);
      const given = (events) => {
        clearTimeout(timer);
        resolve(events);
      };
      this.#poll = given;
      this.#flush();
    });
  }

  reset() {
    this.#events = [];
    this.#open.clear();
    for (const server of this.#servers) server.closeAllConnections();
  }

  /** What a handler did with a response. */
  apply({ id, steps }) {
    const { request, response } = this.#open.get(id) ?? {};
    if (response === undefined) return;
    for (const [step, ...given] of steps) {
      if (step === "asset") void serveAsset(this.#checkout, request, response, given[0]);
      else if (step === "status") response.statusCode = given[0];
      else if (step === "destroy") response.destroy();
      else if (step === "write" || step === "end") response[step](given[0] === null ? undefined : Buffer.from(given[0], "base64"));
      else if (step === "head") response.writeHead(...given);
      else if (step === "header") response.setHeader(...given);
      else if (step === "flush") response.flushHeaders();
    }
  }
}

/** Files for specs: reads anywhere in the checkout, writes below the output folder. */
async function doFile({ what, name, data }, checkout, output) {
  const full = path.resolve(name);
  const isBelow = (folder) => full === folder || full.startsWith(`${folder}/`);
  if (!isBelow(output) && !(what !== "write" && what !== "unlink" && what !== "mkdir" && isBelow(checkout))) throw new Error(`not allowed: ${full}`);
  if (what === "read") return { data: (await fs.promises.readFile(full)).toString("base64") };
  if (what === "write") {
    await fs.promises.mkdir(path.dirname(full), { recursive: true });
    await fs.promises.writeFile(full, Buffer.from(data, "base64"));
  } else if (what === "mkdir") await fs.promises.mkdir(full, { recursive: true });
  else if (what === "unlink") await fs.promises.unlink(full);
  return {};
}

/** Starts the servers of all workers and the one that links them with the scripts' processes. */
export async function startRemotes(checkout, output, count) {
  const remotes = [];
  const ports = [];
  for (let at = 0; at < count; at++) {
    remotes.push(new Remote(checkout));
    ports.push(await remotes[at].start());
  }
  const link = await startServer(async (request, response) => {
    response.setHeader("Content-Type", "text/html");
    const [, worker, verb] = request.url.split("/");
    const remote = remotes[Number(worker)];
    if (request.method !== "POST") return response.end("<title>link</title>");
    const given = JSON.parse((await request.postBody).toString());
    try {
      if (verb === "poll") return response.end(JSON.stringify(await remote.poll()));
      if (verb === "apply") given.forEach((one) => remote.apply(one));
      else if (verb === "reset") remote.reset();
      else if (verb === "file") return response.end(JSON.stringify(await doFile(given, checkout, output)));
      response.end("{}");
    } catch (error) {
      response.end(JSON.stringify({ error: String(error.message ?? error) }));
    }
  });
  return { ports, link: link.port };
}

if (process.argv[1]?.endsWith("server.mjs")) {
  const [checkout, output, count] = process.argv.slice(2);
  console.log(JSON.stringify(await startRemotes(path.resolve(checkout), path.resolve(output), Number(count))));
  // The runner holds the other end of standard input; its end ends this process.
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
}
