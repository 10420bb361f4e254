// Runs the tests of one prepared spec in the process of a script. The runner puts `harness.js` before this file and the
// spec after it, as the function `specBody`.

const [specName, settingsText] = args;
const settings = JSON.parse(settingsText);
const MARK = "\u0001";

/** A page that speaks with the servers: the process itself has no network. */
const link = await context.newPage();
await link.goto(`http://link.localhost:${settings.link}/${settings.worker}`);

async function send(verb, value) {
  const text = await link.evaluate(([address, body]) => fetch(address, { method: "POST", body }).then((response) => response.text()), [`/${settings.worker}/${verb}`, JSON.stringify(value)]);
  const result = JSON.parse(text);
  if (result.error !== undefined) throw new Error(result.error);
  return result;
}

/** The bytes of a text or of an array, as base64. */
function bytesOf(data) {
  if (data === undefined || data === null) return null;
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function bufferOf(base64) {
  return typeof Buffer === "function" ? Buffer.from(base64, "base64") : Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** What handlers do with responses, sent in groups. */
const steps = { waiting: [], isSending: false };

async function sendSteps() {
  if (steps.isSending) return;
  steps.isSending = true;
  await Promise.resolve();
  while (steps.waiting.length > 0) await send("apply", steps.waiting.splice(0)).catch(() => {});
  steps.isSending = false;
}

class SpecResponse {
  #id;
  #status = 200;

  constructor(id) {
    this.#id = id;
    this.connection = { destroy: () => this.destroy(), end: () => this.destroy() };
    this.socket = this.connection;
    this.writableEnded = false;
  }

  step(...given) {
    steps.waiting.push({ id: this.#id, steps: [given] });
    void sendSteps();
    return this;
  }

  get statusCode() {
    return this.#status;
  }

  set statusCode(status) {
    this.#status = status;
    this.step("status", status);
  }

  writeHead(status, ...headers) {
    return this.step("head", status, ...headers.filter((one) => one !== undefined));
  }

  setHeader(name, value) {
    return this.step("header", name, value);
  }

  flushHeaders() {
    return this.step("flush");
  }

  write(data, ...rest) {
    this.step("write", bytesOf(data));
    rest.find((one) => typeof one === "function")?.();
    return true;
  }

  end(data, ...rest) {
    this.writableEnded = true;
    this.step("end", bytesOf(data));
    rest.find((one) => typeof one === "function")?.();
    return this;
  }

  destroy() {
    this.writableEnded = true;
    return this.step("destroy");
  }

  on() {
    return this;
  }

  once() {
    return this;
  }
}

const serve = (request, response, options) => void response.step("asset", options);
const servers = { http: new SpecServer(settings.http, "http", serve), https: new SpecServer(settings.https, "https", serve) };

/** Asks for requests and runs their handlers, until the run ends. */
async function handleRequests() {
  for (;;) {
    let events = [];
    try {
      events = await send("poll", null);
    } catch (error) {
      if (/run has ended|closed/.test(error.message)) return;
    }
    for (const { id, kind, body, ...facts } of events) {
      const response = new SpecResponse(id);
      const request = { ...facts, postBody: Promise.resolve(bufferOf(body)), socket: response.connection, connection: response.connection, on: () => request, once: () => request };
      try {
        Promise.resolve(servers[kind].handle(request, response)).catch(() => {});
      } catch {
        response.destroy();
      }
    }
  }
}
void handleRequests();

const textPath = {
  join: (...parts) => textPath.normalize(parts.filter((part) => part !== "").join("/")),
  normalize: (name) => {
    const kept = [];
    for (const part of name.split("/")) {
      if (part === ".." && kept.length > 0) kept.pop();
      else if (part !== "" && part !== ".") kept.push(part);
    }
    return (name.startsWith("/") ? "/" : "") + kept.join("/");
  },
  resolve: (...parts) => textPath.normalize(parts.reduce((left, right) => (right.startsWith("/") ? right : `${left}/${right}`), settings.checkout)),
  dirname: (name) => name.slice(0, Math.max(name.lastIndexOf("/"), 1)),
  basename: (name) => name.slice(name.lastIndexOf("/") + 1),
  extname: (name) => /\.[^./]*$/.exec(name)?.[0] ?? "",
  isAbsolute: (name) => name.startsWith("/"),
  relative: (from, to) => {
    const [left, right] = [textPath.resolve(from), textPath.resolve(to)].map((name) => name.split("/").filter(Boolean));
    let same = 0;
    while (same < left.length && left[same] === right[same]) same++;
    return [...left.slice(same).map(() => ".."), ...right.slice(same)].join("/");
  },
  sep: "/",
};

const readFile = async (name, encoding) => {
  const bytes = bufferOf((await send("file", { what: "read", name })).data);
  return encoding === undefined ? bytes : new TextDecoder().decode(bytes);
};
const files = {
  promises: {
    readFile,
    writeFile: (name, data) => send("file", { what: "write", name, data: bytesOf(data) }),
    mkdir: (name) => send("file", { what: "mkdir", name }),
    unlink: (name) => send("file", { what: "unlink", name }),
  },
  statSync: (name) => ({ size: files.readFileSync(name).length }),
  readFileSync: (name, encoding) => {
    const data = settings.files[name];
    if (data === undefined) throw new Error(`a script cannot read files synchronously: ${name}`);
    return encoding === undefined ? bufferOf(data) : new TextDecoder().decode(bufferOf(data));
  },
};

const addresses = { pathToFileURL: (name) => new URL(`file://${name}`), fileURLToPath: (url) => new URL(url).pathname, URL };
const environment = { env: {}, platform: "linux", cwd: () => settings.checkout, on() {}, off() {}, version: "v22.0.0", versions: { node: "22.0.0" } };

const { test: specTest, tests: specTests } = makeTest();
const specExpect = extendExpect(expect);
// Outside of its own runner the stock client throws for soft assertions too.
specExpect.soft = specExpect;
const utilities = specUtils(specExpect);
const playwrightNames = { ...globalThis.__tabwire_modules.playwright };

function importForSpec(source) {
  if (source === "./pageTest") return { test: specTest, expect: specExpect, rafraf: utilities.rafraf };
  if (source.startsWith("../config/")) return utilities;
  // Internals of the stock client: a test that needs them fails on both sides.
  if (source.startsWith("../../packages/") || source === "formidable") return new Proxy({}, { get: () => ({}) });
  if (source.startsWith("playwright") || source.startsWith("@playwright")) return { ...playwrightNames, expect: specExpect };
  const known = { fs: files, path: textPath, url: addresses, os: { arch: () => "x64", EOL: "\n" } }[source];
  return { ...known, default: known ?? {} };
}

const major = Number.parseInt(settings.version, 10);
const side = {
  fixtures: { server: servers.http, httpsServer: servers.https, asset: (one) => `${settings.checkout}/tests/assets/${one}`, playwright: playwrightNames, browser, browserType: playwrightNames.chromium, browserVersion: settings.version, browserMajorVersion: major },
  testInfo: (file, title) => {
    const outputDir = `${settings.output}/${file}/${title.replace(/[^\w]+/g, "-").slice(0, 80)}`;
    return { title, annotations: [], outputDir, outputPath: (...parts) => textPath.join(outputDir, ...parts), project: { name: "chromium" } };
  },
  newPage: async () => {
    const made = await browser.newContext();
    return { context: made, page: await made.newPage() };
  },
  end: async (made) => {
    await Promise.race([made?.context.close(), new Promise((resolve) => setTimeout(resolve, 2000))]).catch(() => {});
    for (const server of Object.values(servers)) server.clear();
    await send("reset", null);
  },
};

specBody(importForSpec, importForSpec, `${settings.checkout}/tests/page`, `${settings.checkout}/tests/page/${specName}.ts`, environment);
await runSpec(specName, specTests, specTest, side, { ...settings, only: settings.only === null ? null : new Set(settings.only), done: new Set(settings.done) }, (result) => console.log(MARK + JSON.stringify(result)));
console.log("spec finished");
await link.close();
