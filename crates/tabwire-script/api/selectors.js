// Selectors as text, in Playwright's syntax, turned into the steps of a locator.

/** Text or a pattern as a step carries it. */
function toMatch(value) {
  return value instanceof RegExp ? { re: value.source, flags: value.flags } : String(value);
}

/** Splits at `>>` outside of quotes and brackets. */
function splitSelector(selector) {
  const parts = [];
  let part = "";
  let quote = null;
  for (let at = 0; at < selector.length; at++) {
    const letter = selector[at];
    if (quote !== null) {
      if (letter === "\\") part += letter + (selector[++at] ?? "");
      else {
        part += letter;
        if (letter === quote) quote = null;
      }
    } else if (letter === '"' || letter === "'" || letter === "`") {
      quote = letter;
      part += letter;
    } else if (letter === ">" && selector[at + 1] === ">") {
      parts.push(part);
      part = "";
      at++;
    } else part += letter;
  }
  parts.push(part);
  return parts.map((one) => one.trim());
}

function unquote(text) {
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? /^'((?:[^'\\]|\\.)*)'$/s.exec(text);
  return inner === null ? null : inner[1].replace(/\\(.)/gs, "$1");
}

/** `text=Log in`, `text="Log in"`, `text=/log in/i`. */
function textStep(body) {
  const pattern = /^\/(.*)\/([a-z]*)$/s.exec(body);
  if (pattern !== null) return { text: { re: pattern[1], flags: pattern[2] } };
  const exact = unquote(body);
  return exact === null ? { text: body } : { text: exact, exact: true };
}

/** `role=button[name="Pay"][checked]`. */
function roleStep(body) {
  const [, role, rest] = /^([\w-]+)(.*)$/s.exec(body) ?? [];
  if (role === undefined) throw new Error(`Role must not be empty: role=${body}`);
  const step = { role, states: {} };
  for (const [, name, , value = "true", flag] of rest.matchAll(/\[\s*([\w-]+)\s*(=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/(?:[^/\\]|\\.)*\/[a-z]*|[^\]\s]+)\s*([is])?)?\s*\]/g)) {
    const text = unquote(value) ?? value;
    const pattern = /^\/(.*)\/([a-z]*)$/s.exec(value);
    if (name === "name") assign(step, { name: pattern === null ? text : { re: pattern[1], flags: pattern[2] }, exact: flag !== "i" && unquote(value) !== null });
    else if (name === "include-hidden") step.includeHidden = text === "true";
    else step.states[name] = text === "mixed" ? text : name === "level" ? Number(text) : text === "true";
  }
  return step;
}

function selectorStep(part) {
  const [, engine, body] = /^([a-zA-Z_][\w:-]*)\s*=\s*(.*)$/s.exec(part) ?? [];
  switch (engine) {
    case "css":
      return [{ css: body }];
    case "xpath":
      return [{ xpath: body }];
    case "text":
      return [textStep(body)];
    case "role":
      return [roleStep(body)];
    case "id":
      return [{ css: `#${body.replace(/[^\w-]/g, "\\$&")}` }];
    case "data-testid":
    case "data-test-id":
    case "data-test":
      return [{ attribute: engine, value: unquote(body) ?? body, exact: true }];
    case "nth":
      return [{ nth: Number(body) }];
    case "visible":
      return [{ visible: body === "true" }];
    case "aria-ref":
      return [{ ref: body }];
    default:
  }
  if (part.startsWith("//") || part.startsWith("..")) return [{ xpath: part }];
  if (part.startsWith("(//")) return [{ xpath: part }];
  if (unquote(part) !== null) return [{ text: unquote(part), exact: true }];
  return [{ css: part }];
}

/** The steps of a selector. */
function parseSelector(selector) {
  if (typeof selector !== "string") throw new TypeError(`selector: expected string, got ${typeof selector}`);
  return splitSelector(selector).flatMap((part) => (part === "" ? [] : selectorStep(part)));
}

function showMatch(value) {
  return value instanceof RegExp ? String(value) : quoteText(String(value));
}

function showOptions(options) {
  const shown = entries(options ?? {}).filter(([, value]) => value !== undefined);
  if (shown.length === 0) return "";
  return `{ ${shown.map(([name, value]) => `${name}: ${value instanceof RegExp || typeof value === "boolean" || typeof value === "number" ? String(value) : value instanceof Locator ? String(value) : quoteText(String(value))}`).join(", ")} }`;
}

let testIdAttribute = "data-testid";

/** The `getBy...` methods, for pages, locators and frames. `self.chain(steps, text)` makes the locator. */
class Finder {
  locator(selector, options = {}) {
    if (selector instanceof Locator) return this.chain(selector.steps, `locator(${selector})`).filter(options);
    const located = this.chain(parseSelector(selector), `locator(${quoteText(selector)})`);
    return Object.keys(options).length === 0 ? located : located.filter(options);
  }

  getByRole(role, { name, exact, includeHidden, ...states } = {}) {
    const step = { role, states: { ...states } };
    if (name !== undefined) assign(step, { name: toMatch(name), exact: exact === true });
    if (includeHidden !== undefined) step.includeHidden = includeHidden;
    const shown = showOptions({ name, exact, includeHidden, ...states });
    return this.chain([step], `getByRole(${quoteText(role)}${shown === "" ? "" : `, ${shown}`})`);
  }

  getByText(text, options = {}) {
    return this.#getBy("getByText", { text: toMatch(text) }, text, options);
  }

  getByLabel(text, options = {}) {
    return this.#getBy("getByLabel", { label: toMatch(text) }, text, options);
  }

  getByPlaceholder(text, options = {}) {
    return this.#getBy("getByPlaceholder", { attribute: "placeholder", value: toMatch(text) }, text, options);
  }

  getByAltText(text, options = {}) {
    return this.#getBy("getByAltText", { attribute: "alt", value: toMatch(text) }, text, options);
  }

  getByTitle(text, options = {}) {
    return this.#getBy("getByTitle", { attribute: "title", value: toMatch(text) }, text, options);
  }

  getByTestId(id) {
    return this.#getBy("getByTestId", { attribute: testIdAttribute, value: toMatch(id) }, id, { exact: true }, true);
  }

  #getBy(method, step, text, { exact } = {}, isPlain = false) {
    const options = exact && !isPlain ? `, ${showOptions({ exact })}` : "";
    return this.chain([{ ...step, exact: exact === true }], `${method}(${showMatch(text)}${options})`);
  }

  frameLocator(selector) {
    return new FrameLocator(this.locator(selector), `frameLocator(${quoteText(selector)})`);
  }
}
