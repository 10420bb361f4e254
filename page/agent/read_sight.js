// What a reader would see of the page, element by element from the top. Knows nothing of how it is written down.
//
// Unlike the accessibility tree this goes by the eye: text that is hidden from screen readers is read, text that only
// they would find is not.

/** Nothing of the element is seen. */
const READ_NOTHING = 0;
/** The element's own text is not seen; what is below is asked again. */
const READ_BELOW = 1;
/** The element is seen. */
const READ_ALL = 2;

/** Elements nested deeper than this are left out: nobody writes such pages for readers. */
const READ_DEPTH = 400;
/** Characters of one answer; what goes beyond is counted, not sent. */
const READ_CHARACTERS = 4_000_000;

const UNREAD_TAGS = new Set(
  "base canvas datalist defs desc head link meta metadata noscript param rp script source style template title track".split(" "),
);

/** Where a walk of a reader stands. */
class Gaze {
  constructor(depth = 0) {
    this.depth = depth;
  }

  /** The gaze inside an element of the walk. */
  into() {
    return new Gaze(this.depth + 1);
  }
}

/** How far everything around an element is scrolled, so that what is merely scrolled away counts as seen. */
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

/** What is seen of an element whose parent is seen. */
function readingOf(element, gaze) {
  if (gaze.depth > READ_DEPTH || UNREAD_TAGS.has(element.localName) || isLeftOut(element)) return READ_NOTHING;
  const display = displayOf(element);
  if (display === "none") return READ_NOTHING;
  const style = styleOf(element);
  if (style.contentVisibility === "hidden") return READ_NOTHING;
  const isWritten = hasOwnText(element);
  const concealed = concealmentOf(element, isWritten);
  if (concealed === "opacity" || concealed === "clipped" || concealed === "screen-reader-only") return READ_NOTHING;
  if (concealed !== "" || style.visibility !== "visible") return READ_BELOW;
  const bears = isWritten || element.localName === "input";
  if (bears && display !== "contents" && isOutOfReach(element)) return READ_BELOW;
  return READ_ALL;
}

/** Whether no scrolling brings the element into view: left of or above everything. */
function isOutOfReach(element) {
  const { right, bottom, width, height } = element.getBoundingClientRect();
  if ((right > 0 && bottom > 0) || (width === 0 && height === 0)) return false;
  const { x, y } = scrolledAround(element);
  return right + x <= 0 || bottom + y <= 0;
}

/** The nodes below an element that a reader sees, one after the other: `visit(node, seen, gaze)`. */
function eachSeen(element, seen, gaze, visit) {
  const below = gaze.into();
  for (const child of composedChildren(element)) {
    if (child.nodeType === Node.TEXT_NODE) {
      if (seen === READ_ALL && !isClosedDetails(element)) visit(child, READ_ALL, below);
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      const of = readingOf(child, below);
      if (of !== READ_NOTHING) visit(child, of, below);
    }
  }
}

function isClosedDetails(element) {
  return element.localName === "details" && !element.open;
}

/** Text from the page without what cannot be seen, and without the mark that stands for a frame. */
function plainText(text) {
  return text.replace(UNSEEN, "");
}

/** Stands in an answer where the text of a frame belongs that has to be asked by itself. */
function frameMark(element) {
  return `\u0000${frameNames.get(element) ?? ""}\u0000`;
}

/** Whether the frame in this element has to be asked by itself. */
function isForeignFrame(element) {
  return isFrameElement(element) && accessibleDocument(element) === null && (element.localName === "iframe" || element.localName === "frame" || frameNames.has(element));
}

/** The element that is to be read: the one that is meant, else the whole document. */
function readingRoot(request) {
  return request.key === undefined ? (document.body ?? document.documentElement) : byRef(request);
}

/** Runs a reading of the element that is meant; what was hidden above it hides nothing of it. */
function readFrom(request, read) {
  const root = readingRoot(request);
  if (root === null) return { url: location.href, title: document.title, text: "", length: 0 };
  return inPass(() => read(root, readingOf(root, new Gaze()), new Gaze()));
}
