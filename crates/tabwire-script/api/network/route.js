// Routes: functions of the script that decide about requests.

/** Routes that are in use, on pages and contexts. */
let routeCount = 0;

const ABORT_REASONS = {
  __proto__: null,
  aborted: "aborted",
  accessdenied: "failed",
  addressunreachable: "failed",
  blockedbyclient: "blocked",
  blockedbyresponse: "blocked",
  connectionaborted: "connection-reset",
  connectionclosed: "connection-reset",
  connectionfailed: "failed",
  connectionrefused: "connection-refused",
  connectionreset: "connection-reset",
  internetdisconnected: "offline",
  namenotresolved: "name-not-resolved",
  timedout: "timed-out",
  failed: "failed",
};

function routesOf(owner) {
  if (!Object.hasOwn(owner, "routeHandlers")) defineProperty(owner, "routeHandlers", { value: [] });
  return owner.routeHandlers;
}

/** Whether the browser pauses every request: a redirected one gets the headers that the script gave the first. */
let seesRedirects = false;

/** Pauses every request from now on. */
async function seeRedirects(page) {
  if (seesRedirects) return;
  seesRedirects = true;
  for (const owner of [page, page.context()]) if (routesOf(owner).length > 0) await applyRoutes(owner, "route.continue");
}

/** A pattern of the browser that matches at least what the script's pattern matches. */
function browserPattern(wanted) {
  if (seesRedirects) return "*";
  if (typeof wanted !== "string" || !/^(https?:|\*)/.test(wanted)) return "*";
  return wanted.replace(/\{[^}]*\}/g, "*").replace(/\*+\/?/g, "*").replace(/[?]/g, "?");
}

async function applyRoutes(owner, title) {
  const patterns = [...new Set(routesOf(owner).map((one) => browserPattern(withBase(owner, one.url))))];
  const isContext = owner instanceof BrowserContext;
  const page = isContext ? currentPage() : owner;
  // A page without a tab gets one: a route belongs to a tab.
  if (page.tab === null) await currentUrl(page);
  await page.call("route_handlers", { patterns, all: isContext }, { title });
}

const routing = {
  async route(url, handler, { times } = {}) {
    routesOf(this).unshift({ url, handler, matches: urlMatcher(url, this), left: times ?? Infinity });
    routeCount++;
    await applyRoutes(this, `${eventKind(this)}.route`);
  },
  async unroute(url, handler) {
    const isMeant = (one) => String(one.url) === String(url) && (handler === undefined || one.handler === handler);
    removeRoutes(this, isMeant);
    await applyRoutes(this, `${eventKind(this)}.unroute`);
  },
  async unrouteAll() {
    removeRoutes(this, () => true);
    await applyRoutes(this, `${eventKind(this)}.unrouteAll`);
  },
};

function eventKind(owner) {
  return owner instanceof BrowserContext ? "browserContext" : "page";
}

function removeRoutes(owner, isMeant) {
  const list = routesOf(owner);
  const kept = list.filter((one) => !isMeant(one));
  routeCount -= list.length - kept.length;
  list.splice(0, list.length, ...kept);
}

function withRoutes(Class) {
  for (const [name, value] of entries(routing)) defineProperty(Class.prototype, name, { value, writable: true, configurable: true });
}

/** A request is paused: the newest handler that matches decides, or passes it on to the next. */
function handleRoute(page, data, question) {
  if (data.redirected_from_paused) return void followRedirect(page, data, question);
  const request = requestsOf(page).get(data.number) ?? new ScriptRequest(page, data);
  if (data.number) keepRequest(page, request);
  else if (data.id) keepUnnumbered(page, data.id, request);
  keepPaused(data.paused, { request });
  const handlers = [...routesOf(page), ...routesOf(page.context())];
  const route = new Route(page, request, question, handlers, data.paused);
  // As Playwright does: pages are tested without their icons.
  if (isIcon(request) && handlers.length > 0) return void route.abort("aborted").catch(() => {});
  if (isPreflight(request) && handlers.some((one) => fitsRoute(one, page, request))) return void route.allowOrigin().catch(() => {});
  route.next();
}

/** A redirected request goes on without handlers, with the headers that the first one was given. */
function followRedirect(page, data, question) {
  const first = pausedRequests.get(data.redirected_from_paused);
  const request = requestsOf(page).get(data.number) ?? new ScriptRequest(page, data);
  // The browser may pause it before it has its own number.
  if (first !== undefined && first.request !== request) {
    first.request.update({ to: request });
    request.update({ from: first.request });
  }
  let headers = first?.headers;
  // A request that became a GET has no body any more.
  if (headers !== undefined && data.method === "GET") headers = Object.fromEntries(entries(headers).filter(([name]) => !name.toLowerCase().startsWith("content-")));
  if (headers !== undefined) request.update({ override: { headers } });
  keepPaused(data.paused, { request, headers });
  if (data.number) keepRequest(page, request);
  else if (data.id) keepUnnumbered(page, data.id, request);
  new Route(page, request, question, [], data.paused, withoutUndefined({ headers })).next();
}

/** Whether a route is still in use and matches the URL that a request has now. */
function fitsRoute(one, page, request) {
  try {
    const isInUse = routesOf(page).includes(one) || routesOf(page.context()).includes(one);
    return isInUse && one.left > 0 && one.matches(request.url());
  } catch {
    return false;
  }
}

function isIcon(request) {
  return request.url().endsWith("/favicon.ico");
}

/** Paused requests with the headers that routes gave them, by the id of the pause, for redirects. */
const pausedRequests = new Map();

function keepPaused(paused, facts) {
  if (paused === undefined || paused === null) return;
  pausedRequests.set(paused, facts);
  if (pausedRequests.size > MOST_REQUESTS) pausedRequests.delete(pausedRequests.keys().next().value);
}

/** Whether the browser asks, before a request to another site, if it may send it. */
function isPreflight(request) {
  const headers = request.method() === "OPTIONS" ? request.headers() : {};
  return headers["access-control-request-method"] !== undefined && headers.origin !== undefined;
}

/** Headers that let a page of another site read a response. */
function originHeaders(origin) {
  return { "access-control-allow-origin": origin, "access-control-allow-credentials": "true", vary: "Origin" };
}

/** Headers that a script cannot remove: the browser needs them. */
const KEPT_HEADERS = new Set(["cookie", "origin"]);

class Route {
  #page;
  #request;
  #question;
  #handlers;
  #changes = {};
  #paused;
  #isHandled = false;

  constructor(page, request, question, handlers, paused = null, changes = {}) {
    this.#changes = changes;
    this.#paused = paused;
    this.#page = page;
    this.#request = request;
    this.#question = question;
    this.#handlers = handlers;
  }

  request() {
    return this.#request;
  }

  /** Gives the request to the next handler; after the last it continues. */
  next() {
    let entry = this.#handlers.shift();
    while (entry !== undefined && !fitsRoute(entry, this.#page, this.#request)) entry = this.#handlers.shift();
    const failed = (error) => {
      host.console("error", `route: a handler failed: ${inspect(error)}`);
      if (!this.#isHandled) this.#decide("pass", {}, "route").catch(() => {});
    };
    if (entry === undefined) return this.#continue(this.#changes, "route.fallback").catch(() => {});
    entry.left--;
    this.#isHandled = false;
    try {
      const result = entry.handler(this, this.#request);
      if (typeof result?.then === "function") result.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Lets the page send its request: the script's routes decide about that one. */
  async allowOrigin() {
    const asked = this.#request.headers();
    const allowed = { ...originHeaders(asked.origin), "access-control-allow-methods": asked["access-control-request-method"], "access-control-allow-headers": asked["access-control-request-headers"] ?? "*" };
    await this.#decide("fulfill", { status: 204, headers: entries(allowed).map(([name, value]) => `${name}: ${value}`), body: "" }, "route");
  }

  #begin(title) {
    if (this.#isHandled) throw new Error(`${title}: Route is already handled!`);
    this.#isHandled = true;
  }

  async #decide(decision, params, title) {
    this.#isHandled = true;
    await callAction("route_decision", { question: this.#question, decision, ...withoutUndefined(params) }, { title, tab: this.#page.tab });
  }

  async abort(code = "failed") {
    this.#begin("route.abort");
    const reason = ABORT_REASONS[code];
    if (reason === undefined) throw new Error(`route.abort: Unknown error code: ${code}`);
    await this.#decide("abort", { reason }, "route.abort");
  }

  async fallback(changes = {}) {
    this.#begin("route.fallback");
    this.#change(changes);
    this.next();
  }

  #change(changes) {
    const postData = changes.postData !== null && typeof changes.postData === "object" && !ArrayBuffer.isView(changes.postData) ? stringify(changes.postData) : changes.postData;
    this.#changes = { ...this.#changes, ...withoutUndefined({ ...changes, postData }) };
    this.#request.update({ override: { ...changes, postData } });
  }

  async continue(changes = {}) {
    this.#begin("route.continue");
    this.#change(changes);
    await this.#continue(this.#changes, "route.continue");
  }

  async #continue({ url, method, headers, postData }, title) {
    if ([url, method, headers, postData].every((one) => one === undefined)) return this.#decide("pass", {}, title);
    const params = { url, method, body: postData === undefined ? undefined : toBase64(bytesOf(postData)) };
    if (headers !== undefined) {
      keepPaused(this.#paused, { request: this.#request, headers });
      // The script's own decision does not depend on it.
      await seeRedirects(this.#page).catch(() => {});
      // The browser adds its own cookies.
      const given = entries(headers).filter(([name, value]) => value !== undefined && name.toLowerCase() !== "cookie");
      params.headers = given.map(([name, value]) => `${name}: ${value}`);
      const names = new Set(given.map(([name]) => name.toLowerCase()));
      params.remove_headers = this.#request.sentHeaderNames().filter((name) => !names.has(name.toLowerCase()) && !KEPT_HEADERS.has(name.toLowerCase()));
    }
    await this.#decide("continue", params, title);
  }

  async fulfill(response = {}) {
    this.#begin("route.fulfill");
    try {
      await this.#fulfill(response);
    } catch (error) {
      // Nothing was sent: the handler may decide otherwise.
      if (error.code === undefined) this.#isHandled = false;
      throw error;
    }
  }

  async #fulfill({ response, status, headers, contentType, body, json, path }) {
    if (json !== undefined && body !== undefined) throw new Error("route.fulfill: Can specify either body or json parameters");
    let content = json !== undefined ? stringify(json) : body;
    if (response !== undefined) {
      status ??= response.status();
      headers ??= response.headers();
      if (content === undefined && path === undefined) content = await response.body();
    }
    const named = headersObject(entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
    if (contentType !== undefined) named["content-type"] = contentType;
    else if (json !== undefined) named["content-type"] ??= "application/json";
    else if (path !== undefined) named["content-type"] ??= mimeTypeOf(path);
    const { origin } = this.#request.headers();
    if (origin !== undefined && named["access-control-allow-origin"] === undefined && !this.#request.url().startsWith(`${origin}/`)) assign(named, { ...originHeaders(origin), ...named });
    // The body is not compressed any more.
    if (response !== undefined) for (const name of ["content-encoding", "content-length", "transfer-encoding"]) delete named[name];
    const lines = entries(named).flatMap(([name, value]) => (name === "set-cookie" ? value.split("\n") : [value]).map((one) => `${name}: ${one}`));
    const bytes = content === undefined ? undefined : bytesOf(content);
    if (bytes !== undefined && named["content-length"] === undefined) lines.push(`content-length: ${bytes.length}`);
    await this.#decide("fulfill", { status, headers: lines, body: bytes === undefined ? undefined : toBase64(bytes), path }, "route.fulfill");
  }

  async fetch({ url, method, headers, postData, maxRedirects, timeout } = {}) {
    const request = this.#request;
    const data = postData === undefined ? request.postDataBuffer() ?? undefined : typeof postData === "object" && !ArrayBuffer.isView(postData) ? stringify(postData) : postData;
    return fetchThrough(this.#page, url ?? request.url(), { method: method ?? request.method(), headers: headers ?? request.headers(), data, maxRedirects, timeout, title: "route.fetch" });
  }
}

const MIME_TYPES = { __proto__: null, html: "text/html", htm: "text/html", css: "text/css", js: "text/javascript", mjs: "text/javascript", json: "application/json", txt: "text/plain", svg: "image/svg+xml", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", pdf: "application/pdf", xml: "text/xml", csv: "text/csv" };

function mimeTypeOf(path) {
  return MIME_TYPES[String(path).split(".").at(-1).toLowerCase()] ?? "application/octet-stream";
}

withRoutes(Page);
withRoutes(BrowserContext);
