// Text as CSS shows it: changed case, and what ::before and ::after add. Knows nothing of roles or labels.

/** Text as it is shown: CSS may change its case. */
function shownText(data, element, walk) {
  if (walk.isBoxless) return data;
  switch (styleOf(element).textTransform) {
    case "none":
      return data;
    case "uppercase":
      return data.toLocaleUpperCase(element.lang || undefined);
    case "lowercase":
      return data.toLocaleLowerCase(element.lang || undefined);
    case "capitalize":
      return capitalized(data);
    default:
      return data;
  }
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
 * Which elements may have text before or after them, by what style sheets say of them.
 *
 * Computed styles of pseudo-elements are slow to get. Rules that give a pseudo-element text are looked for once, and
 * only elements with a class, id or name that such a rule asks for are looked at.
 */
class GeneratingRules {
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

  /** A list inside brackets or a namespace is not worth taking apart: then the rule may match anything. */
  addSelectors(selectors) {
    if (/[(|]/.test(selectors) && /:(before|after)/i.test(selectors)) this.isAny = true;
    else selectors.split(",").forEach((selector) => this.addSelector(selector));
  }

  /** Takes the part of the selector that the element itself has to match. */
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

/** Whether a rule puts text in the place of a pseudo-element, if it is one for pseudo-elements. */
function makesText(rule) {
  const content = rule.style?.content ?? "";
  return content !== "" && content !== '""' && content !== "none" && content !== "normal";
}

/** What is known of a sheet, and how many rules it had when it was looked at. */
const knownSheets = new WeakMap();

function rulesOfSheet(sheet) {
  let rules = null;
  try {
    rules = sheet.cssRules;
  } catch {
    // Of another origin: it cannot be read, so it may say anything.
  }
  const known = knownSheets.get(sheet);
  if (known !== undefined && known.count === rules?.length) return known.found;
  const found = new GeneratingRules();
  if (rules === null) found.isAny = true;
  else found.addRules(rules);
  knownSheets.set(sheet, { count: rules?.length, found });
  return found;
}

let generatingInPass = null;
/** The node asked for last was in this one, and these are the rules of its tree. */
let lastHolder = null;
let lastGenerating = null;

function forgetGeneratedText() {
  generatingInPass = null;
  lastHolder = null;
  lastGenerating = null;
}

/** Whether CSS may put text before or after the element. */
function hasGeneratedText(element) {
  if (EMPTY_TAGS.has(element.localName)) return false;
  // A shadow root's sheets may speak of its host and of what is in its slots.
  if (element.shadowRoot !== null || element.assignedSlot !== null) return true;
  const holder = element.parentNode;
  if (holder === null || holder !== lastHolder) {
    lastGenerating = generatingIn(element.getRootNode());
    lastHolder = holder;
  }
  return lastGenerating.mayApply(element);
}

/** The rules of a tree that put text somewhere; looked for once in a pass. */
function generatingIn(root) {
  generatingInPass ??= new Map();
  let found = generatingInPass.get(root);
  if (found === undefined) {
    found = new GeneratingRules();
    for (const sheet of root.styleSheets ?? []) found.addSheet(sheet);
    for (const sheet of root.adoptedStyleSheets ?? []) found.addSheet(sheet);
    generatingInPass.set(root, found);
  }
  return found;
}

/** Adds what CSS puts before or after the element's content. */
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

/** Strings, names and slashes of a content value; the text after the slash is its alternative. */
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

/** Quotation marks alternate with the depth of quotations. */
function quoteMark(element, isOpening) {
  let depth = 0;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) if (node.localName === "q") depth += 1;
  const own = [...styleOf(element).quotes.matchAll(/"([^"]*)"/g)].map(([, mark]) => mark);
  const marks = own.length >= 2 ? own : ["“", "”", "‘", "’"];
  const pair = Math.min(depth, marks.length / 2 - 1) * 2;
  return marks[pair + (isOpening ? 0 : 1)];
}
