// Elements by the text a person reads in them. Knows nothing of roles and names.

const TEXTLESS = new Set(["script", "style", "noscript", "template", "head", "title", "textarea", "iframe", "object"]);
const BUTTON_INPUTS = new Set(["button", "submit", "reset"]);

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
  const search = { exact, wanted, lower: wanted.toLowerCase(), bare: withoutSpace(wanted), found: [] };
  for (const root of roots) {
    const top = root.nodeType === Node.DOCUMENT_NODE ? root.documentElement : root;
    if (top !== null) searchText(top, search);
  }
  return search.found;
}

/** Whether something at or below the node holds the text; adds the smallest such elements. */
function searchText(node, search) {
  // Without spaces first: spaces between blocks are not in the tree, and one native call rules most nodes out.
  const holds = withoutSpace(node.textContent).includes(search.bare);
  let below = false;
  if (holds || mayHoldButtons(node)) {
    for (let child = node.firstElementChild; child !== null; child = child.nextElementSibling) {
      if (searchText(child, search)) below = true;
    }
  }
  if (below || node.nodeType !== Node.ELEMENT_NODE || TEXTLESS.has(node.localName)) return below;
  if (!holds && node.localName !== "input") return false;
  if (!hasWantedText(node, search)) return false;
  search.found.push(node);
  return true;
}

function mayHoldButtons(node) {
  return node.childElementCount > 0 && node.querySelector("input") !== null;
}

function hasWantedText(element, search) {
  return textsOf(element).some((text) => {
    const folded = foldText(text);
    return search.exact ? folded === search.wanted : folded.toLowerCase().includes(search.lower);
  });
}

/** The element's text as it is shown, and as it is written where that differs only by case. */
function textsOf(element) {
  if (element.localName === "input") return BUTTON_INPUTS.has(element.type) ? [element.value] : [];
  const shown = element.innerText ?? element.textContent;
  // Not shown at all: its written text counts, for those who look for hidden elements.
  if (shown === "") return isRendered(element) ? [] : [element.textContent];
  const written = element.textContent;
  return withoutSpace(shown) === withoutSpace(written) ? [shown, written] : [shown];
}

/** A short form of the element's text for lists. */
function summaryText(element) {
  return shorten(foldText(textsOf(element)[0] ?? ""), 80);
}

function shorten(text, limit = 120) {
  return text.length <= limit ? text : `${Array.from(text).slice(0, limit - 1).join("")}…`;
}
