// Text as CSS renders it: changed case, and the content of ::before and ::after.

/** Applies `text-transform`. */
function shownText(data, element, walk) {
  if (walk.isBoxless) return data;
  switch (styleOf(element).textTransform) {
    case "none":
      return data;
    case "uppercase":
      return upperCased(data, element.lang);
    case "lowercase":
      return data.toLocaleLowerCase(element.lang || undefined);
    case "capitalize":
      return capitalized(data);
    default:
      return data;
  }
}

/** Upper case as it is drawn: Greek capitals lose their accent. Firefox's strings keep it. */
function upperCased(data, language) {
  const upper = data.toLocaleUpperCase(language || undefined);
  if (!/^el\b/i.test(language)) return upper;
  return upper.normalize("NFD").replace(/([\u0391-\u03A9]\u0308?)\u0301/g, "$1").normalize("NFC");
}

function capitalized(data) {
  const words = new Intl.Segmenter(undefined, { granularity: "word" });
  return Array.from(words.segment(data), ({ segment, isWordLike }) => {
    if (!isWordLike) return segment;
    const [first] = segment;
    return first.toUpperCase() + segment.slice(first.length);
  }).join("");
}

/**
 * Style rules that give ::before or ::after text.
 *
 * Computed styles of pseudo-elements are slow. This scans the style sheets once and then checks only elements with a
 * class, id or tag that such a rule names.
 */
class GeneratedTextRules {
  constructor() {
    this.classes = new Set();
    this.ids = new Set();
    this.tags = new Set(["q"]);
    this.isAny = false;
  }

  addRules(rules) {
    for (const rule of rules) {
      if (rule.styleSheet) this.addSheet(rule.styleSheet);
      if (rule.selectorText !== undefined && makesText(rule)) this.addSelectors(rule.selectorText);
      if (rule.cssRules?.length > 0) this.addRules(rule.cssRules);
    }
  }

  addSheet(sheet) {
    const known = rulesOfSheet(sheet);
    this.isAny ||= known.isAny;
    for (const kind of ["classes", "ids", "tags"]) for (const name of known[kind]) this[kind].add(name);
  }

  /** Parsing a selector list inside brackets or a namespace does not pay: treat the rule as matching every element. */
  addSelectors(selectors) {
    if (/[(|]/.test(selectors) && /:(before|after)/i.test(selectors)) this.isAny = true;
    else selectors.split(",").forEach((selector) => this.addSelector(selector));
  }

  /** Records the compound that the element itself has to match. */
  addSelector(selector) {
    if (!/:(before|after)/i.test(selector)) return;
    const subject = /([^\s>+~]*?)::?(?:before|after)[^\s>+~]*$/i.exec(selector.trim())?.[1] ?? "&";
    const [, tag, mark, name] = /^([a-zA-Z][\w-]*)?(?:([.#])((?:[\w-]|[^\x00-\x7f]|\\.)+))?/.exec(subject);
    if (mark === ".") this.classes.add(name.replace(/\\(.)/g, "$1"));
    else if (mark === "#") this.ids.add(name.replace(/\\(.)/g, "$1"));
    else if (tag !== undefined) this.tags.add(tag.toLowerCase());
    else this.isAny = true;
  }

  mayApply(element) {
    if (this.isAny || this.tags.has(element.localName)) return true;
    if (this.ids.size > 0 && element.id !== "" && this.ids.has(element.id)) return true;
    if (this.classes.size === 0) return false;
    for (const name of element.classList) if (this.classes.has(name)) return true;
    return false;
  }
}

/** Whether a pseudo-element rule sets text content. */
function makesText(rule) {
  const content = rule.style?.content ?? "";
  return content !== "" && content !== '""' && content !== "none" && content !== "normal";
}

/** Scanned sheets, with their number of rules at the time of the scan. */
const knownSheets = new WeakMap();

function rulesOfSheet(sheet) {
  let rules = null;
  try {
    rules = sheet.cssRules;
  } catch {
    // Cross-origin sheets cannot be read, so any rule is possible.
  }
  const known = knownSheets.get(sheet);
  if (known !== undefined && known.count === rules?.length) return known.found;
  const found = new GeneratedTextRules();
  if (rules === null) found.isAny = true;
  else found.addRules(rules);
  knownSheets.set(sheet, { count: rules?.length, found });
  return found;
}

let rulesInPass = null;
/** Cache: the parent of the last element, and the rules of its tree. */
let lastParent = null;
let lastRules = null;

function forgetGeneratedText() {
  rulesInPass = null;
  lastParent = null;
  lastRules = null;
}

/** Whether CSS may generate text for the element. */
function hasGeneratedText(element) {
  if (EMPTY_TAGS.has(element.localName)) return false;
  // A shadow root's sheets can style its host and slotted elements.
  if (shadowRootOf(element) !== null || element.assignedSlot !== null) return true;
  const holder = element.parentNode;
  if (holder === null || holder !== lastParent) {
    lastRules = generatedTextRulesOf(element.getRootNode());
    lastParent = holder;
  }
  return lastRules.mayApply(element);
}

/** The text-generating rules of a tree; scanned once per pass. */
function generatedTextRulesOf(root) {
  rulesInPass ??= new Map();
  let found = rulesInPass.get(root);
  if (found === undefined) {
    found = new GeneratedTextRules();
    for (const sheet of root.styleSheets ?? []) found.addSheet(sheet);
    for (const sheet of root.adoptedStyleSheets ?? []) found.addSheet(sheet);
    rulesInPass.set(root, found);
  }
  return found;
}

/** Adds the content of ::before or ::after. */
function addGeneratedText(text, element, which, walk) {
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (content === "none" || content === "normal" || content === "") return;
  if (style.display === "none" || style.visibility !== "visible") return;
  walk.pieces += 1;
  const [shown, alternative] = generatedParts(content);
  const isApart = style.display !== "inline" || alternative !== null;
  if (isApart) text.setApart();
  text.add(alternative ?? generatedText(shown, element));
  if (isApart) text.setApart();
  if (!style.display.startsWith("inline")) text.hasBlock = true;
}

/** Strings, names and slashes of a `content` value. The text after a slash is its alternative text. */
const CONTENT_TOKEN = /"((?:[^"\\]|\\.)*)"|url\("(?:[^"\\]|\\.)*"\)|\/|[\w-]+(?:\([^)]*\))?/g;

function generatedParts(content) {
  const shown = [];
  let alternative = null;
  for (const [token, quoted] of content.matchAll(CONTENT_TOKEN)) {
    if (token === "/" && quoted === undefined) alternative = "";
    else if (alternative !== null) alternative += unquoted(quoted);
    else shown.push(quoted === undefined ? token : { text: unquoted(quoted) });
  }
  return [shown, alternative];
}

function unquoted(quoted) {
  return (quoted ?? "").replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, (_, code, letter) => {
    return code === undefined ? letter : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff));
  });
}

function generatedText(parts, element) {
  let text = "";
  for (const part of parts) {
    if (part === "open-quote" || part === "close-quote") text += quoteMark(element, part === "open-quote");
    else if (typeof part === "object") text += part.text;
  }
  return text;
}

/** Quotation marks alternate with the nesting depth. */
function quoteMark(element, isOpening) {
  let depth = 0;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) if (node.localName === "q") depth += 1;
  const own = [...styleOf(element).quotes.matchAll(/"([^"]*)"/g)].map(([, mark]) => mark);
  const marks = own.length >= 2 ? own : ["“", "”", "‘", "’"];
  const pair = Math.min(depth, marks.length / 2 - 1) * 2;
  return marks[pair + (isOpening ? 0 : 1)];
}
