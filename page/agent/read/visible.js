// What a sighted user sees of the page, element by element from the top.
//
// Unlike the accessibility tree, this includes text that is hidden from screen readers only, and leaves out text for
// screen readers only.

/** The element is invisible. */
const READ_NOTHING = 0;
/** The element's own text is invisible; its descendants are checked again. */
const READ_BELOW = 1;
/** The element is visible. */
const READ_ALL = 2;

/** Elements nested deeper are skipped. No page for readers nests this deep. */
const MAX_READ_DEPTH = 400;
/** Most characters in one response; more are counted but not sent. */
const MAX_READ_CHARACTERS = 4_000_000;

const UNREADABLE_TAGS = new Set(
  "base canvas datalist defs desc head link meta metadata noscript param rp script source style template title track".split(" "),
);

/** Total scroll offset around an element: content that is only scrolled away counts as visible. */
function scrolledAround(element) {
  const { defaultView: view, scrollingElement: page } = element.ownerDocument;
  let [x, y] = [view?.scrollX ?? 0, view?.scrollY ?? 0];
  for (let node = composedParent(element); node !== null && node.ownerDocument === element.ownerDocument; node = composedParent(node)) {
    if (node === page) continue;
    x += node.scrollLeft;
    y += node.scrollTop;
  }
  return { x, y };
}

/** How much of an element is visible, given that its parent is. */
function readLevelOf(element, depth) {
  if (depth > MAX_READ_DEPTH || UNREADABLE_TAGS.has(element.localName) || isLeftOut(element)) return READ_NOTHING;
  const display = displayOf(element);
  if (display === "none") return READ_NOTHING;
  const style = styleOf(element);
  if (style.contentVisibility === "hidden") return READ_NOTHING;
  const isWritten = hasOwnText(element);
  const concealed = invisibleReasonOf(element, isWritten);
  if (concealed === "opacity" || concealed === "clipped" || concealed === "screen-reader-only") return READ_NOTHING;
  if (concealed !== "" || style.visibility !== "visible") return READ_BELOW;
  const showsText = isWritten || element.localName === "input";
  if (showsText && display !== "contents" && isLeftOrAbovePage(element)) return READ_BELOW;
  return READ_ALL;
}

/** Whether no scrolling brings the element into view, because it lies left of or above the page. */
function isLeftOrAbovePage(element) {
  const { right, bottom, width, height } = element.getBoundingClientRect();
  if ((right > 0 && bottom > 0) || (width === 0 && height === 0)) return false;
  const { x, y } = scrolledAround(element);
  return right + x <= 0 || bottom + y <= 0;
}

/** Calls `visit(node, seen, depth)` for each visible child node. */
function eachVisible(element, seen, depth, visit) {
  const below = depth + 1;
  for (const child of composedChildren(element)) {
    if (child.nodeType === Node.TEXT_NODE) {
      if (seen === READ_ALL && !isClosedDetails(element)) visit(child, READ_ALL, below);
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      const of = readLevelOf(child, below);
      if (of !== READ_NOTHING) visit(child, of, below);
    }
  }
}

function isClosedDetails(element) {
  return element.localName === "details" && !element.open;
}

/** Page text without invisible characters, and so without the frame placeholder. */
function plainText(text) {
  return text.replace(INVISIBLE_CHARACTERS, "");
}

/** Placeholder for the text of a cross-origin frame. Rust replaces it. */
function framePlaceholder(element) {
  return `\u0000${frameNames.get(element) ?? ""}\u0000`;
}

/** Whether the element holds a cross-origin frame. */
function isCrossOriginFrame(element) {
  return isFrameElement(element) && accessibleDocument(element) === null && (element.localName === "iframe" || element.localName === "frame" || frameNames.has(element));
}

/** The requested element, else the body. */
function readRoot(request) {
  return request.key === undefined ? (document.body ?? document.documentElement) : byRef(request);
}

/** Reads the requested element. Hidden ancestors do not hide it. */
function readFrom(request, read) {
  const root = readRoot(request);
  if (root === null) return { url: location.href, title: document.title, text: "", length: 0 };
  return inPass(() => read(root, readLevelOf(root, 0), 0));
}
