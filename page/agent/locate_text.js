// Elements by the text a person reads in them. Knows nothing of roles and names.

const TEXTLESS = new Set(["script", "style", "noscript", "template", "head", "title", "textarea", "iframe", "object"]);
const BUTTON_INPUTS = "input[type=button], input[type=submit], input[type=reset]";

/** Text as it is compared: spaces folded. */
function foldText(text) {
  return text.replace(/[\s\u200b\u00ad]+/g, " ").trim();
}

function withoutSpace(text) {
  return text.replace(/[\s\u200b\u00ad]+/g, "").toLowerCase();
}

/** The smallest elements whose text contains the wanted text, or is it when `exact`. */
function findByText(text, exact, roots) {
  const wanted = foldText(text);
  if (wanted === "") fail("BAD_ARGS", "The text to look for is empty.", "Give some of the text, as in `text=Sign in`.");
  const lower = wanted.toLowerCase();
  const fits = exact ? (folded) => folded === wanted : (folded) => folded.toLowerCase().includes(lower);
  const holds = (element) => textsOf(element).some((one) => fits(foldText(one)));
  const bare = withoutSpace(wanted);
  const written = roots.flatMap((root) => smallestWith(bare, root, (node) => node.textContent).filter(holds));
  const found = written.some(isShown) ? written : readAcrossHidden(wanted, bare, roots, holds, written);
  const buttons = roots.flatMap((root) => [...root.querySelectorAll(BUTTON_INPUTS)]).filter(holds);
  return [...found, ...buttons];
}

/** Hidden words may stand between words that are read as one. Looked for only when all the words are there: it is dear. */
function readAcrossHidden(wanted, bare, roots, holds, otherwise) {
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
 * The smallest elements in a root that hold the text, spaces aside: those between blocks are not in the tree. Goes down
 * only where the text is; a native call for each step is much faster than a walk over all the text.
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

/** Goes down through elements that hold nothing but one other element, so that depth costs nothing. */
function innermostWrapped(node) {
  let at = node;
  while (at.childElementCount === 1 && Array.from(at.childNodes).every((child) => child.nodeType !== Node.TEXT_NODE || child.data.trim() === "")) {
    if (TEXTLESS.has(at.firstElementChild.localName)) break;
    at = at.firstElementChild;
  }
  return at;
}

/** The element's text as it is shown, and as it is written where style only changes its case. */
function textsOf(element) {
  if (element.localName === "input") return element.matches(BUTTON_INPUTS) ? [element.value] : [];
  const written = element.textContent;
  const shown = element.innerText ?? written;
  // Not shown at all: its written text counts, for those who look for hidden elements.
  if (shown === "") return isRendered(element) ? [] : [written];
  return foldText(shown).toLowerCase() === foldText(written).toLowerCase() ? [shown, written] : [shown];
}

/** A short form of the element's text for lists. */
function summaryText(element) {
  return shorten(foldText(textsOf(element)[0] ?? ""), 80);
}

function shorten(text, limit = 120) {
  return text.length <= limit ? text : `${Array.from(text).slice(0, limit - 1).join("")}…`;
}
