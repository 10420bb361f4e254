// Finds elements by their visible text.

const TEXTLESS = new Set(["script", "style", "noscript", "template", "head", "title", "textarea", "iframe", "object"]);
const BUTTON_INPUTS = "input[type=button], input[type=submit], input[type=reset]";

/** Folds whitespace for comparison. */
function foldText(text) {
  return text.replace(/[\s\u200b\u00ad]+/g, " ").trim();
}

function withoutSpace(text) {
  return text.replace(/[\s\u200b\u00ad]+/g, "").toLowerCase();
}

/** The smallest elements whose text contains `text`, or equals it when `exact`. */
function findByText(text, exact, roots) {
  const wanted = foldText(text);
  if (wanted === "") fail("BAD_ARGS", "The text to find is empty.", "Use part of the text, for example `text=Sign in`.");
  const lower = wanted.toLowerCase();
  const fits = exact ? (folded) => folded === wanted : (folded) => folded.toLowerCase().includes(lower);
  const holds = (element) => textsOf(element).some((one) => fits(foldText(one)));
  const bare = withoutSpace(wanted);
  const written = roots.flatMap((root) => smallestWith(bare, root, (node) => node.textContent).filter(holds));
  const found = written.some(isShown) ? written : findAcrossHidden(wanted, bare, roots, holds, written);
  const buttons = roots.flatMap((root) => [...root.querySelectorAll(BUTTON_INPUTS)]).filter(holds);
  return [...found, ...buttons];
}

/**
 * Hidden words can stand between words that a user reads as one text. `innerText` is slow, so this runs only in roots
 * that contain every word.
 */
function findAcrossHidden(wanted, bare, roots, holds, otherwise) {
  const words = wanted.split(" ").map(withoutSpace);
  const likely = words.length < 2 ? [] : roots.filter((root) => hasAll(topOf(root)?.textContent ?? "", words));
  const found = likely.flatMap((root) => smallestWith(bare, root, (node) => node.innerText ?? node.textContent).filter(holds));
  return found.length > 0 ? found : otherwise;
}

function hasAll(text, words) {
  const bare = withoutSpace(text);
  return words.every((word) => bare.includes(word));
}

function topOf(root) {
  return root.nodeType === Node.DOCUMENT_NODE ? root.documentElement : root;
}

/**
 * The smallest elements in a root that contain the text, ignoring whitespace, because whitespace between blocks is not
 * in the tree. Descends only where the text is: one native call per step is much faster than visiting every text node.
 */
function smallestWith(bare, root, textOf) {
  const found = [];
  const top = topOf(root);
  const holds = (node) => !TEXTLESS.has(node.localName) && withoutSpace(textOf(node)).includes(bare);
  const open = top !== null && holds(top) ? [top] : [];
  while (open.length > 0) {
    const node = innermostWrapped(open.pop());
    const below = Array.from(node.children).filter(holds);
    for (const child of below.reverse()) open.push(child);
    if (below.length === 0 && node.nodeType === Node.ELEMENT_NODE) found.push(node);
  }
  return found;
}

/** Descends through elements that contain only one other element. */
function innermostWrapped(node) {
  let at = node;
  while (at.childElementCount === 1 && Array.from(at.childNodes).every((child) => child.nodeType !== Node.TEXT_NODE || child.data.trim() === "")) {
    if (TEXTLESS.has(at.firstElementChild.localName)) break;
    at = at.firstElementChild;
  }
  return at;
}

/** The element's text as rendered, and also as in the source where CSS only changes its case. */
function textsOf(element) {
  if (element.localName === "input") return element.matches(BUTTON_INPUTS) ? [element.value] : [];
  const written = element.textContent;
  const shown = element.innerText ?? written;
  // Not rendered: match the source text, so that hidden elements can be found.
  if (shown === "") return isRendered(element) ? [] : [written];
  return foldText(shown).toLowerCase() === foldText(written).toLowerCase() ? [shown, written] : [shown];
}

/** A shortened text of the element for lists. */
function summaryText(element) {
  return shorten(foldText(textsOf(element)[0] ?? ""), 80);
}

function shorten(text, limit = 120) {
  return text.length <= limit ? text : `${Array.from(text).slice(0, limit - 1).join("")}…`;
}
