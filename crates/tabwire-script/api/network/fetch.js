// Requests of scripts: the browser sends them with its cookies, and the policy judges each URL and redirect.

class APIResponse {
  #facts;
  #body;

  constructor(facts) {
    this.#facts = facts;
    this.#body = facts.body;
  }

  get requestMethod() {
    return this.#facts.method;
  }

  url() {
    return this.#facts.url;
  }

  status() {
    return this.#facts.status;
  }

  statusText() {
    return this.#facts.status_text;
  }

  ok() {
    return this.status() >= 200 && this.status() <= 299;
  }

  headers() {
    return headersObject(this.#facts.headers);
  }

  headersArray() {
    return toHeadersArray(this.#facts.headers);
  }

  async body() {
    if (this.#body === null) throw new Error("Response has been disposed");
    return ScriptBuffer.from(this.#body, "base64");
  }

  async text() {
    return (await this.body()).toString();
  }

  async json() {
    return parse(await this.text());
  }

  async dispose() {
    this.#body = null;
  }

  [describeSymbol]() {
    return `APIResponse: ${this.status()} ${this.statusText()}`;
  }
}

/** The body of a request and its type. */
function requestBody({ data, form, multipart }) {
  if ([data, form, multipart].filter((one) => one !== undefined).length > 1) throw new Error("Only one of 'data', 'form' or 'multipart' can be specified");
  if (form !== undefined) return { bytes: bytesOf(new ScriptURLSearchParams(form).toString()), type: "application/x-www-form-urlencoded" };
  if (multipart !== undefined) return multipartBody(multipart);
  if (data === undefined) return {};
  if (typeof data === "string") return { bytes: bytesOf(data), type: "text/plain" };
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return { bytes: bytesOf(data), type: "application/octet-stream" };
  return { bytes: bytesOf(stringify(data)), type: "application/json" };
}

function multipartBody(fields) {
  const boundary = `----tabwire${randomUUID().replaceAll("-", "")}`;
  const parts = [];
  const quoted = (text) => String(text).replace(/["\r\n]/g, (letter) => ({ '"': "%22", "\r": "%0D", "\n": "%0A" })[letter]);
  for (const [name, value] of entries(fields)) {
    const isFile = value !== null && typeof value === "object" && value.buffer !== undefined && value.name !== undefined;
    const file = isFile ? `; filename="${quoted(value.name)}"\r\nContent-Type: ${value.mimeType ?? mimeTypeOf(value.name)}` : "";
    parts.push(bytesOf(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`));
    parts.push(isFile ? bytesOf(value.buffer) : bytesOf(String(value)), bytesOf("\r\n"));
  }
  parts.push(bytesOf(`--${boundary}--\r\n`));
  return { bytes: ScriptBuffer.concat(parts), type: `multipart/form-data; boundary=${boundary}` };
}

/** Sends a request with the cookies of a page's context. */
async function fetchThrough(page, url, options = {}) {
  const { method = "GET", headers = {}, params, maxRedirects, timeout, failOnStatusCode = false, title = "apiRequestContext.fetch" } = options;
  const base = page.context().baseURL ?? page.url();
  const whole = new ScriptURL(typeof url === "string" ? url : String(url.url?.() ?? url), /^https?:/.test(base) ? base : undefined);
  for (const [name, value] of params === undefined ? [] : typeof params === "object" && typeof params[Symbol.iterator] !== "function" ? entries(params) : new ScriptURLSearchParams(params)) whole.searchParams.append(name, value);
  const { bytes, type } = requestBody(options);
  const given = entries(headers).filter(([, value]) => value !== undefined);
  if (type !== undefined && !given.some(([name]) => name.toLowerCase() === "content-type")) given.push(["Content-Type", type]);
  const asked = { url: whole.href, method, headers: given.map(([name, value]) => `${name}: ${value}`), body: bytes === undefined ? undefined : toBase64(bytes), max_redirects: maxRedirects };
  const { result } = await page.call("http_fetch", withoutUndefined(asked), { title, timeout: timeout === 0 ? NO_TIMEOUT : timeout ?? 30000 });
  const response = new APIResponse({ method, ...result });
  if (failOnStatusCode && !response.ok()) throw new Error(`${title}: ${response.status()} ${response.statusText()}`);
  return response;
}

class APIRequestContext {
  #page;
  #defaults;

  constructor(page, { baseURL, extraHTTPHeaders } = {}) {
    this.#page = page;
    this.#defaults = { baseURL, extraHTTPHeaders };
  }

  #send(name, url, options = {}) {
    const { baseURL, extraHTTPHeaders } = this.#defaults;
    const address = baseURL === undefined || typeof url !== "string" ? url : new ScriptURL(url, baseURL).href;
    return fetchThrough(this.#page(), address, { ...options, headers: { ...extraHTTPHeaders, ...options.headers }, title: `apiRequestContext.${name}` });
  }

  fetch(url, options = {}) {
    if (typeof url === "string") return this.#send("fetch", url, options);
    return this.#send("fetch", url.url(), { method: url.method(), headers: url.headers(), data: url.postDataBuffer() ?? undefined, ...options });
  }

  get(url, options) {
    return this.#send("get", url, { ...options, method: "GET" });
  }

  head(url, options) {
    return this.#send("head", url, { ...options, method: "HEAD" });
  }

  post(url, options) {
    return this.#send("post", url, { ...options, method: "POST" });
  }

  put(url, options) {
    return this.#send("put", url, { ...options, method: "PUT" });
  }

  patch(url, options) {
    return this.#send("patch", url, { ...options, method: "PATCH" });
  }

  delete(url, options) {
    return this.#send("delete", url, { ...options, method: "DELETE" });
  }

  storageState(options) {
    return this.#page().context().storageState(options);
  }

  async dispose() {}
}

/** Headers as `fetch` has them. */
class ScriptHeaders {
  #pairs = [];

  constructor(init = []) {
    for (const [name, value] of init instanceof ScriptHeaders || typeof init[Symbol.iterator] === "function" ? init : entries(init)) this.append(name, value);
  }

  append(name, value) {
    this.#pairs.push([String(name).toLowerCase(), String(value)]);
  }

  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }

  delete(name) {
    this.#pairs = this.#pairs.filter(([key]) => key !== String(name).toLowerCase());
  }

  get(name) {
    const values = this.#pairs.filter(([key]) => key === String(name).toLowerCase()).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }

  has(name) {
    return this.get(name) !== null;
  }

  forEach(callback) {
    for (const [name, value] of this) callback(value, name, this);
  }

  *[Symbol.iterator]() {
    for (const name of [...new Set(this.#pairs.map(([key]) => key))].sort()) yield [name, this.get(name)];
  }

  entries() {
    return this[Symbol.iterator]();
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }
}
defineProperty(ScriptHeaders, "name", { value: "Headers" });

/** `fetch` of the web, through the browser. */
async function scriptFetch(url, { method, headers, body, redirect = "follow" } = {}) {
  const given = Object.fromEntries(new ScriptHeaders(headers ?? []));
  const isForm = body instanceof ScriptURLSearchParams;
  const data = isForm ? String(body) : body ?? undefined;
  if (isForm) given["content-type"] ??= "application/x-www-form-urlencoded;charset=UTF-8";
  else if (typeof data === "string") given["content-type"] ??= "text/plain;charset=UTF-8";
  const response = await fetchThrough(currentPage(), String(url), { method: method ?? "GET", headers: given, data, maxRedirects: redirect === "follow" ? undefined : 0, title: "fetch" });
  if (redirect === "error" && response.status() >= 300 && response.status() <= 399) throw new TypeError("fetch: unexpected redirect");
  return {
    ok: response.ok(),
    status: response.status(),
    statusText: response.statusText(),
    url: response.url(),
    redirected: response.url() !== new ScriptURL(String(url), /^https?:/.test(currentPage().url()) ? currentPage().url() : undefined).href,
    headers: new ScriptHeaders(response.headersArray().map(({ name, value }) => [name, value])),
    text: () => response.text(),
    json: () => response.json(),
    arrayBuffer: async () => (await response.body()).buffer,
  };
}

assign(webGlobals, { fetch: scriptFetch, Headers: ScriptHeaders });
