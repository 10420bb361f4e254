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

/** By style sheet: how many rules it had, and whether any of them makes text. */
const generatingSheets = new WeakMap();
let generatingRoots = new Map();

function forgetGeneratedText() {
  generatingRoots = new Map();
}

/**
 * Whether CSS may put text before or after the element.
 *
 * Computed styles of pseudo-elements are slow to get, and on a page whose sheets have no rule for them not needed.
 */
function hasGeneratedText(element) {
  if (element.localName === "q") return true;
  if (EMPTY_TAGS.has(element.localName)) return false;
  const root = element.getRootNode();
  let answer = generatingRoots.get(root);
  if (answer === undefined) {
    answer = [...(root.styleSheets ?? []), ...(root.adoptedStyleSheets ?? [])].some(isGenerating);
    generatingRoots.set(root, answer);
  }
  return answer;
}

function isGenerating(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return true; // Of another origin: not to be read, so it may.
  }
  const known = generatingSheets.get(sheet);
  if (known !== undefined && known.count === rules.length) return known.answer;
  const answer = hasGeneratingRule(rules);
  generatingSheets.set(sheet, { count: rules.length, answer });
  return answer;
}

function hasGeneratingRule(rules) {
  for (const rule of rules) {
    if (rule.styleSheet) {
      if (isGenerating(rule.styleSheet)) return true;
    } else if (rule.selectorText !== undefined && /:(before|after)/i.test(rule.selectorText)) {
      return true;
    } else if (rule.cssRules?.length > 0 && hasGeneratingRule(rule.cssRules)) {
      return true;
    }
  }
  return false;
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
