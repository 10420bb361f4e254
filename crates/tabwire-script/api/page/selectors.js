// Selectors as text, in Playwright's syntax, turned into the steps of a locator.

/** Text or a pattern as a step carries it. */
function toMatch(value) {
  return value instanceof RegExp ? { re: value.source, flags: value.flags } : String(value);
}

/** Splits at `>>` outside of quotes. A quote inside of an unquoted `text=` body is a letter. */
function splitSelector(selector) {
  const parts = [];
  let start = 0;
  let at = 0;
  let quote = null;
  const isTextBody = () => /^\s*text\s*=./s.test(selector.slice(start, at));
  while (at < selector.length) {
    const letter = selector[at];
    if (letter === "\\" && at + 1 < selector.length) at += 2;
    else if (letter === quote) {
      quote = null;
      at++;
    } else if (quote === null && (letter === '"' || letter === "'" || letter === "`") && !isTextBody()) {
      quote = letter;
      at++;
    } else if (quote === null && letter === ">" && selector[at + 1] === ">") {
      parts.push(selector.slice(start, at));
      at += 2;
      start = at;
    } else at++;
  }
  parts.push(selector.slice(start));
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
  return exact === null ? { text: body } : { text: exact, exact: true, runs: true };
}

/** The attributes of `role=`: which values they take, and which roles have them. */
const ROLE_ATTRIBUTES = {
  __proto__: null,
  checked: { values: [true, false, "mixed"], roles: ["checkbox", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "treeitem"] },
  description: {},
  disabled: { values: [true, false] },
  expanded: { values: [true, false], roles: ["application", "button", "checkbox", "columnheader", "combobox", "gridcell", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "row", "rowheader", "switch", "tab", "treeitem"] },
  "include-hidden": { values: [true, false] },
  level: { roles: ["heading", "listitem", "row", "treeitem"] },
  name: {},
  pressed: { values: [true, false, "mixed"], roles: ["button"] },
  selected: { values: [true, false], roles: ["columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"] },
};

const quotedList = (list) => list.map((one) => stringify(one)).join(", ");

/** A pattern for an attribute of `role=` with an operator other than plain equality. */
function attributePattern(text, operator, isFolded) {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const source = { "=": `^${escaped}$`, "*=": escaped, "^=": `^${escaped}`, "$=": `${escaped}$`, "|=": `^${escaped}(-|$)`, "~=": `(^|\\s)${escaped}(\\s|$)` }[operator];
  return { re: source, flags: isFolded ? "i" : "" };
}

/** One attribute of `role=` as `{ name, value, match }`; `match` is what a text is compared with. */
function roleAttribute([, path, operator = "", given, flag], role, selector) {
  const name = path.replace(/\s*\.\s*/g, ".");
  const pattern = /^\/(.*)\/([a-z]*)$/s.exec(given ?? "");
  const text = given === undefined ? undefined : unquote(given) ?? given;
  const isText = given !== undefined && unquote(given) !== null;
  const value = given === undefined ? true : isText || pattern !== null ? text : text === "true" ? true : text === "false" ? false : text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
  const known = ROLE_ATTRIBUTES[name];
  if (operator !== "" && operator !== "=" && typeof value !== "string") throw new Error(`Error while parsing selector \`${selector}\` - cannot use ${operator} in attribute with non-string matching value - ${text}`);
  if (known === undefined) throw new Error(`Unknown attribute "${name}", must be one of ${quotedList(Object.keys(ROLE_ATTRIBUTES))}.`);
  if (known.roles !== undefined && !known.roles.includes(role)) throw new Error(`"${name}" attribute is only supported for roles: ${quotedList(known.roles)}`);
  if (known.values !== undefined && !known.values.includes(value)) throw new Error(`"${name}" must be one of ${known.values.map((one) => (typeof one === "string" ? `"${one}"` : one)).join(", ")}`);
  if (name === "level" && (isText || !Number.isInteger(value))) throw new Error('"level" attribute must be compared to a number');
  if (name !== "name" && name !== "description") return { name, value };
  if (given === undefined || text === "") throw new Error(`"${name}" attribute must have a value`);
  if (pattern !== null) return { name, match: { re: pattern[1], flags: pattern[2] }, exact: false };
  if (operator === "=" && flag !== "i") return { name, match: text, exact: true };
  return { name, match: attributePattern(text.trim().replace(/\s+/g, " "), operator, flag === "i"), exact: false };
}

/** `role=button[name="Pay"][checked]`. */
function roleStep(body) {
  const [, role, rest] = /^\s*([\w-]+)(.*)$/s.exec(body) ?? [];
  if (role === undefined) throw new Error("Role must not be empty");
  const step = { role, states: {} };
  const attribute = /\[\s*([\w-]+(?:\s*\.\s*[\w-]+)*)\s*(?:([*^$|~]?=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/(?:[^/\\]|\\.)*\/[a-z]*|[^\]\s]+)\s*([is])?)?\s*\]/g;
  if (rest.replace(attribute, "").trim() !== "") throw new Error(`Error while parsing selector \`${body}\``);
  for (const found of rest.matchAll(attribute)) {
    const { name, value, match, exact } = roleAttribute(found, role, body);
    if (name === "name") assign(step, { name: match, exact });
    else if (name === "description") assign(step, { description: match, exactDescription: exact });
    else if (name === "include-hidden") step.includeHidden = value;
    else step.states[name] = value;
  }
  return step;
}

/** The name of the engine and the body of a part: `text=Pay`, `//div`, `"Pay"`, `div`. */
function engineOf(part) {
  const at = part.indexOf("=");
  const name = at < 0 ? "" : part.slice(0, at).trim();
  if (at >= 0 && /^[a-zA-Z_0-9\-+:*]+$/.test(name)) return [name, part.slice(at + 1)];
  if (part.length > 1 && ((part[0] === '"' && part.at(-1) === '"') || (part[0] === "'" && part.at(-1) === "'"))) return ["text", part];
  if (/^\(*\/\//.test(part) || part.startsWith("..")) return ["xpath", part];
  return ["css", part];
}

/** Engines that scripts added with `selectors.register`. */
const addedEngines = {};

function selectorStep(engine, body, selector) {
  switch (engine.replace(/:light$/, "")) {
    case "css":
      return { css: body };
    case "xpath":
      return { xpath: body };
    case "text":
      return textStep(body.trimEnd());
    case "role":
    case "internal:role":
      return roleStep(body);
    case "id":
      return { attribute: "id", value: body, exact: true };
    case "data-testid":
    case "data-test-id":
    case "data-test":
      return { attribute: engine.replace(/:light$/, ""), value: unquote(body) ?? body, exact: true };
    case "nth":
      return { nth: Number(body) };
    case "visible":
      return { visible: body.trim() !== "false" };
    case "aria-ref":
      return { ref: body };
    case "internal:control":
      return body === "enter-frame" ? { frame: true } : {};
    case "internal:text":
    case "internal:has-text":
    case "internal:label": {
      const { runs: _, ...step } = textStep(body.replace(/(["'])([is])$/, "$1"));
      const exact = /["']s?$/.test(body) && !/i$/.test(body);
      if (engine === "internal:label") return { label: step.text, exact };
      return engine === "internal:text" ? { text: step.text, exact } : { filter: { hasText: step.text } };
    }
    case "internal:testid":
    case "internal:attr": {
      const [, name, value, flag] = /^\[([^=]+)=(.*?)([is])?\]$/s.exec(body) ?? [];
      const pattern = /^\/(.*)\/([a-z]*)$/s.exec(`${value}${flag ?? ""}`);
      if (pattern !== null) return { attribute: name, value: { re: pattern[1], flags: pattern[2] } };
      return { attribute: name, value: unquote(value) ?? value, exact: flag !== "i" };
    }
    case "internal:has":
      return { filter: { has: nestedSelector(engine, body) } };
    case "internal:has-not":
      return { filter: { hasNot: nestedSelector(engine, body) } };
    case "internal:and":
      return { and: nestedSelector(engine, body) };
    case "internal:or":
      return { or: nestedSelector(engine, body) };
    case "internal:chain":
      return { chain: nestedSelector(engine, body) };
    case "internal:describe":
      return null;
    default:
      throw new Error(`Unknown engine "${engine}" while parsing selector ${selector}`);
  }
}

/** A selector in quotes, as part of another. */
function nestedSelector(engine, body) {
  let inner = null;
  try {
    inner = parse(body);
  } catch {
    // Reported below.
  }
  if (typeof inner !== "string") throw new Error(`Malformed selector: ${engine}=${body}`);
  return selectorSteps(inner);
}

/** The steps of a selector. One that cannot be read has a step that throws the reason when it is used. */
function parseSelector(selector) {
  if (typeof selector !== "string") throw new Error(`selector: expected string, got ${typeof selector}`);
  try {
    return selectorSteps(selector);
  } catch (error) {
    return [{ problem: error.message }];
  }
}

function selectorSteps(selector) {
  const steps = [];
  let captured = null;
  for (const part of splitSelector(selector)) {
    if (part === "" && steps.length > 0) continue;
    const [name, body] = engineOf(part);
    const step = selectorStep(name.replace(/^\*/, ""), body, selector);
    if (step === null) continue;
    if (name.endsWith(":light")) step.light = true;
    if (steps.length === 0 && (step.filter !== undefined || step.and !== undefined || step.or !== undefined)) throw new Error(`"${name}" selector cannot be first`);
    if (step.chain !== undefined) steps.push(...withinSteps(step.chain));
    else steps.push(step);
    if (!name.startsWith("*")) continue;
    if (captured !== null) throw new Error("Only one of the selectors can capture using * modifier");
    captured = steps.length;
  }
  if (steps.at(-1)?.frame === true) throw new Error(`Selector cannot end with entering frame, while parsing selector ${selector}`);
  if (steps[0]?.frame === true) throw new Error(`Selector cannot start with entering frame, select the iframe first, while parsing selector ${selector}`);
  if (captured !== null && steps.slice(captured).some((step) => step.frame === true)) throw new Error("Can not capture the selector before diving into the frame");
  if (captured === null || captured === steps.length) return steps;
  return [...steps.slice(0, captured), { filter: { has: steps.slice(captured) }, isCapture: true }];
}

/** The steps of a locator as part of another: its alternatives and indexes apply below each match. */
function withinSteps(steps) {
  const isWhole = steps.some((step) => step.and !== undefined || step.or !== undefined || step.nth !== undefined);
  const hasFrame = stringify(steps).includes('"frame');
  return isWhole && !hasFrame ? [{ chain: steps }] : steps;
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
    if (selector instanceof Locator) return this.chain(withinSteps(selector.steps), `locator(${selector})`).filter(options);
    const located = this.chain(parseSelector(selector), `locator(${quoteText(selector)})`);
    return Object.keys(options).length === 0 ? located : located.filter(options);
  }

  getByRole(role, { name, description, exact, includeHidden, ...states } = {}) {
    const step = { role, states: { ...states } };
    if (name !== undefined) assign(step, { name: toMatch(name), exact: exact === true });
    if (description !== undefined) assign(step, { description: toMatch(description), exactDescription: exact === true });
    if (includeHidden !== undefined) step.includeHidden = includeHidden;
    const shown = showOptions({ name, description, exact, includeHidden, ...states });
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
    const [first, ...others] = testIdAttribute.split(",").map((name) => ({ attribute: name.trim(), value: toMatch(id), exact: true }));
    if (others.length === 0) return this.#getBy("getByTestId", first, id, { exact: true }, true);
    return this.chain([{ chain: [first, ...others.map((other) => ({ or: [other] }))] }], `getByTestId(${showMatch(id)})`);
  }

  #getBy(method, step, text, { exact } = {}, isPlain = false) {
    const options = exact && !isPlain ? `, ${showOptions({ exact })}` : "";
    return this.chain([{ ...step, exact: exact === true }], `${method}(${showMatch(text)}${options})`);
  }

  frameLocator(selector) {
    return this.locator(selector).contentFrame();
  }
}
