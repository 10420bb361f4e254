// Requests, responses and WebSockets of pages, in Playwright's form.

/** Requests that are kept for each page. */
const MOST_REQUESTS = 2000;
const requestsByPage = new WeakMap();

function requestsOf(page) {
  if (!requestsByPage.has(page)) requestsByPage.set(page, new Map());
  return requestsByPage.get(page);
}

function keepRequest(page, request) {
  const known = requestsOf(page);
  known.set(request.number, request);
  if (known.size > MOST_REQUESTS) known.delete(known.keys().next().value);
}

/** Paused requests that the browser has not reported yet, so that they have no number: by page and the browser's id. */
const unnumberedByPage = new WeakMap();

function unnumberedOf(page) {
  if (!unnumberedByPage.has(page)) unnumberedByPage.set(page, new Map());
  return unnumberedByPage.get(page);
}

function keepUnnumbered(page, id, request) {
  const waiting = unnumberedOf(page);
  waiting.set(id, request);
  if (waiting.size > MOST_REQUESTS) waiting.delete(waiting.keys().next().value);
}

/** The paused request that an event gives its number; undefined if none waits for it. */
function numberedRequest(page, facts) {
  const request = unnumberedOf(page).get(facts.id);
  if (request === undefined) return undefined;
  unnumberedOf(page).delete(facts.id);
  return request.update({ facts });
}

/** Headers as an object with lower-case names; several of one name are joined. */
function headersObject(pairs) {
  const headers = {};
  for (const [name, value] of pairs ?? []) {
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}${key === "set-cookie" ? "\n" : ", "}${value}` : value;
  }
  return headers;
}

function toHeadersArray(pairs) {
  return (pairs ?? []).map(([name, value]) => ({ name, value }));
}

class ScriptRequest {
  #page;
  #facts;
  #response = null;
  #from = null;
  #to = null;
  #failure = null;
  #end = {};
  #override = {};

  constructor(page, facts) {
    this.#page = page;
    this.#facts = facts;
  }

  get number() {
    return this.#facts.number;
  }

  /** Takes what later events report. */
  update({ facts, response, from, to, failure, end, override }) {
    if (facts !== undefined) this.#facts = facts;
    if (response !== undefined) this.#response = response;
    if (from !== undefined) this.#from = from;
    if (to !== undefined) this.#to = to;
    if (failure !== undefined) this.#failure = failure;
    if (end !== undefined) this.#end = end;
    if (override !== undefined) {
      const headers = override.headers === undefined ? undefined : headersObject(entries(override.headers).filter(([, value]) => value !== undefined));
      this.#override = { ...this.#override, ...withoutUndefined({ ...override, headers }) };
    }
    return this;
  }

  get known() {
    return this.#response;
  }

  page() {
    return this.#page;
  }

  url() {
    return this.#override.url ?? this.#facts.url;
  }

  method() {
    return this.#override.method ?? this.#facts.method;
  }

  headers() {
    return this.#override.headers ?? headersObject(this.#facts.headers);
  }

  /** The names of the headers that the page sends. */
  sentHeaderNames() {
    return (this.#facts.headers ?? []).map(([name]) => name);
  }

  postData() {
    const override = this.#override.postData;
    if (override === undefined && this.#facts.post_bytes) return ScriptBuffer.from(this.#facts.post_bytes, "base64").toString();
    return override === undefined ? this.#facts.post_data ?? null : typeof override === "string" ? override : new ScriptTextDecoder().decode(override);
  }

  postDataBuffer() {
    const override = this.#override.postData;
    if (override !== undefined && typeof override !== "string") return ScriptBuffer.from(override);
    if (override === undefined && this.#facts.post_bytes) return ScriptBuffer.from(this.#facts.post_bytes, "base64");
    const text = this.postData();
    return text === null ? null : ScriptBuffer.from(text);
  }

  postDataJSON() {
    const text = this.postData();
    if (text === null) return null;
    if ((this.headers()["content-type"] ?? "").includes("application/x-www-form-urlencoded")) return Object.fromEntries(new ScriptURLSearchParams(text));
    try {
      return parse(text);
    } catch {
      throw new Error(`POST data is not a valid JSON object: ${text}`);
    }
  }

  resourceType() {
    return this.#facts.type === "event-source" ? "eventsource" : this.#facts.type;
  }

  frame() {
    return frameById(this.#page, this.#facts.frame || null);
  }

  isNavigationRequest() {
    return this.#facts.is_navigation === true;
  }

  redirectedFrom() {
    return this.#from;
  }

  redirectedTo() {
    return this.#to;
  }

  failure() {
    return this.#failure === null ? null : { errorText: this.#failure };
  }

  serviceWorker() {
    return null;
  }

  async #facts_of(part, title, timeout = NO_TIMEOUT) {
    return (await this.#page.call("request_facts", { number: this.#facts.number, part }, { title, timeout })).result;
  }

  /** A part of the request, from the browser. */
  readPart(part, title) {
    return this.#facts_of(part, title);
  }

  /** The URL that a route gave the request, if one did. */
  get changedUrl() {
    return this.#override.url;
  }

  async headersArray() {
    if (this.#override.headers !== undefined) return toHeadersArray(entries(this.#override.headers));
    if (!this.#facts.number) return toHeadersArray(this.#facts.headers);
    return toHeadersArray((await this.#facts_of("headers", "request.headersArray")).request_headers);
  }

  async allHeaders() {
    if (!this.#facts.number || this.#override.headers !== undefined) return this.headers();
    return headersObject((await this.#facts_of("headers", "request.allHeaders")).request_headers);
  }

  async headerValue(name) {
    return (await this.allHeaders())[name.toLowerCase()] ?? null;
  }

  async response() {
    if (this.#response !== null || !this.#facts.number) return this.#response;
    const { response, error } = await this.#facts_of("end", "request.response");
    if (error !== null && response === null) return null;
    this.#response ??= response === null ? null : new ScriptResponse(this, response);
    return this.#response;
  }

  /** The response, if it has arrived. */
  existingResponse() {
    return this.#response;
  }

  /** Bytes of headers and bodies, as HTTP/1.1 would send them. */
  async sizes() {
    const response = await this.response();
    if (response === null) throw new Error("request.sizes: Unable to fetch sizes for failed request");
    const { bytes } = await this.#facts_of("end", "request.sizes");
    const lines = (pairs) => pairs.reduce((sum, { name, value }) => sum + name.length + value.length + 4, 0);
    const requestHeadersSize = 4 + this.method().length + new ScriptURL(this.url()).pathname.length + 8 + lines(await this.headersArray());
    const responseHeadersSize = 4 + 8 + 3 + response.statusText().length + lines(await response.headersArray()) + 2;
    return { requestBodySize: this.postDataBuffer()?.length ?? 0, requestHeadersSize, responseBodySize: Math.max(0, (bytes ?? 0) - responseHeadersSize), responseHeadersSize };
  }

  timing() {
    const timing = this.#response?.phases ?? {};
    const none = { domainLookupStart: -1, domainLookupEnd: -1, connectStart: -1, secureConnectionStart: -1, connectEnd: -1, requestStart: -1, responseStart: -1 };
    return { startTime: (this.#facts.started ?? 0) * 1000, ...none, ...timing, responseEnd: this.#end.duration ?? -1 };
  }

  [describeSymbol]() {
    return `Request { ${this.method()} ${quoteText(this.url())} }`;
  }
}
defineProperty(ScriptRequest, "name", { value: "Request" });

class ScriptResponse {
  #request;
  #facts;

  constructor(request, facts) {
    this.#request = request;
    this.#facts = facts;
  }

  get phases() {
    return this.#facts.timing ?? {};
  }

  request() {
    return this.#request;
  }

  frame() {
    return this.#request.frame();
  }

  url() {
    return this.#request.changedUrl ?? this.#facts.url ?? this.#request.url();
  }

  status() {
    return this.#facts.status ?? 0;
  }

  statusText() {
    return this.#facts.status_text ?? "";
  }

  ok() {
    return this.status() === 0 || (this.status() >= 200 && this.status() <= 299);
  }

  headers() {
    return headersObject(this.#facts.headers);
  }

  fromServiceWorker() {
    return this.#facts.from_service_worker === true;
  }

  async httpVersion() {
    const version = String(this.#facts.protocol ?? "").toLowerCase();
    return { "http/1.0": "HTTP/1.0", "http/1.1": "HTTP/1.1", h2: "HTTP/2.0", h3: "HTTP/3.0" }[version] ?? (version === "" ? "HTTP/1.1" : version.toUpperCase());
  }

  async serverAddr() {
    return this.#facts.address ? { ipAddress: this.#facts.address, port: this.#facts.port } : null;
  }

  async securityDetails() {
    return null;
  }

  async #pairs(title) {
    const { response } = await this.#request.readPart("headers", title);
    return response?.headers ?? this.#facts.headers;
  }

  async headersArray() {
    return toHeadersArray(await this.#pairs("response.headersArray"));
  }

  async allHeaders() {
    return headersObject(await this.#pairs("response.allHeaders"));
  }

  async headerValue(name) {
    return (await this.allHeaders())[name.toLowerCase()] ?? null;
  }

  async headerValues(name) {
    return (await this.headersArray()).filter((one) => one.name.toLowerCase() === name.toLowerCase()).map((one) => one.value);
  }

  async body() {
    const { body } = await this.#request.readPart("response_body", "response.body");
    return ScriptBuffer.from(body ?? "", "base64");
  }

  async text() {
    return (await this.body()).toString();
  }

  async json() {
    return parse(await this.text());
  }

  async finished() {
    const { error } = await this.#request.readPart("end", "response.finished");
    return error === null ? null : new Error(error);
  }

  [describeSymbol]() {
    return `Response { ${this.status()} ${quoteText(this.url())} }`;
  }
}
defineProperty(ScriptResponse, "name", { value: "Response" });

/** The object of a request. */
function requestOf(page, facts) {
  const known = requestsOf(page).get(facts.number);
  if (known !== undefined) return known;
  const request = new ScriptRequest(page, facts);
  keepRequest(page, request);
  return request;
}

/** The newest requests of a page, at most 100. */
async function newestRequests(page) {
  const title = "page.requests";
  const { result } = await page.call("requests", { all: true, limit: 100 }, { title });
  const list = [];
  for (const { number } of result.requests) {
    const known = requestsOf(page).get(number);
    if (known !== undefined) list.push(known);
    else list.push(requestOf(page, (await page.call("request_facts", { number, part: "headers" }, { title })).result.request));
  }
  return list;
}

/** The response to a navigation; null when it has none. */
async function navigationResponse(page) {
  const { result } = await page.call("request_facts", { number: 0, part: "headers" }, { title: "page.goto" });
  if (result.request === null || result.response === null) return null;
  const request = requestOf(page, result.request);
  if (request.known === null) request.update({ response: new ScriptResponse(request, result.response) });
  return request.known;
}

function dispatchRequest(page, name, data) {
  const known = requestsOf(page);
  // Playwright does not show the browser's own questions before requests to other sites.
  if (String(data.url ?? "").startsWith("data:") || String(data.url ?? "").endsWith("/favicon.ico")) return;
  if (data.type === "preflight" || (name === "request" && isPreflight(new ScriptRequest(page, data)))) return;
  if (name === "request") {
    const request = known.get(data.number) ?? numberedRequest(page, data) ?? new ScriptRequest(page, data);
    const from = known.get(data.redirected_from);
    if (from !== undefined) {
      from.update({ to: request });
      request.update({ from });
    }
    keepRequest(page, request);
    return emitBoth(page, "request", request);
  }
  const request = known.get(data.number);
  // It began before the script listened.
  if (request === undefined) return;
  if (name === "response") {
    const response = new ScriptResponse(request, data);
    request.update({ response });
    return emitBoth(page, "response", response);
  }
  request.update({ end: data, failure: name === "requestfailed" ? data.error ?? "failed" : undefined });
  emitBoth(page, name, request);
}

class ScriptWebSocket {
  #url;
  #isClosed = false;

  constructor(url) {
    this.#url = url;
  }

  url() {
    return this.#url;
  }

  isClosed() {
    return this.#isClosed;
  }

  take({ what, payload, is_text: isText }) {
    const frame = () => ({ payload: isText ? payload : ScriptBuffer.from(payload, "base64") });
    if (what === "sent") this.emit("framesent", frame());
    else if (what === "received") this.emit("framereceived", frame());
    else if (what === "error") this.emit("socketerror", payload);
    else if (what === "close") {
      this.#isClosed = true;
      this.emit("close", this);
    }
  }
}
withEvents(ScriptWebSocket, "webSocket");
defineProperty(ScriptWebSocket, "name", { value: "WebSocket" });

/** The open sockets of each page, by their number. */
const socketsByPage = new WeakMap();

function socketsOf(page) {
  if (!socketsByPage.has(page)) socketsByPage.set(page, new Map());
  return socketsByPage.get(page);
}

function dispatchSocket(page, data) {
  const known = socketsOf(page);
  if (data.what === "open") {
    known.set(data.number, new ScriptWebSocket(data.url));
    return void page.emit("websocket", known.get(data.number));
  }
  const socket = known.get(data.number);
  socket?.take(data);
  if (data.what === "close" && socket !== undefined) {
    known.delete(data.number);
    endListeners(socket);
  }
}

/** A test of requests or responses: URL as text or glob, pattern, or function. */
function networkMatcher(wanted, owner) {
  return typeof wanted === "function" ? wanted : ((matches) => (one) => matches(one.url()))(urlMatcher(wanted, owner));
}
