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
  constructor(depth = 0, x = 0, y = 0) {
    this.depth = depth;
    /** How far everything around is scrolled, so that what is merely scrolled away counts as seen. */
    this.x = x;
    this.y = y;
  }

  /** The gaze inside an element of the walk. */
  into(element) {
    if (isFrameElement(element)) {
      const view = element.contentWindow;
      return new Gaze(this.depth + 1, view?.scrollX ?? 0, view?.scrollY ?? 0);
    }
    const { scrollLeft, scrollTop } = element;
    const isPage = element === element.ownerDocument.scrollingElement;
    return new Gaze(this.depth + 1, this.x + (isPage ? 0 : scrollLeft), this.y + (isPage ? 0 : scrollTop));
  }

  static at(element) {
    const view = element.ownerDocument.defaultView;
    const gaze = new Gaze(0, view?.scrollX ?? 0, view?.scrollY ?? 0);
    for (let node = composedParent(element); node !== null && node.ownerDocument === element.ownerDocument; node = composedParent(node)) {
      if (node === element.ownerDocument.scrollingElement) continue;
      gaze.x += node.scrollLeft;
      gaze.y += node.scrollTop;
    }
    return gaze;
  }
}

/** What is seen of an element whose parent is seen. */
function readingOf(element, gaze) {
  if (gaze.depth > READ_DEPTH || UNREAD_TAGS.has(element.localName) || isLeftOut(element)) return READ_NOTHING;
  const style = styleOf(element);
  if (style.display === "none" || style.contentVisibility === "hidden") return READ_NOTHING;
  const concealed = concealmentOf(element);
  if (concealed === "opacity" || concealed === "clipped" || concealed === "screen-reader-only") return READ_NOTHING;
  if (concealed !== "" || style.visibility !== "visible") return READ_BELOW;
  if (bearsText(element) && style.display !== "contents" && isOutOfReach(element, gaze)) return READ_BELOW;
  return READ_ALL;
}

/** Whether no scrolling brings the element into view: left of or above everything. */
function isOutOfReach(element, gaze) {
  const box = element.getBoundingClientRect();
  if (box.width === 0 && box.height === 0) return false;
  return box.right + gaze.x <= 0 || box.bottom + gaze.y <= 0;
}

/** The nodes below an element that a reader sees, one after the other: `visit(node, seen, gaze)`. */
function eachSeen(element, seen, gaze, visit) {
  const below = gaze.into(element);
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
  return inPass(() => read(root, readingOf(root, Gaze.at(root)), Gaze.at(root)));
}
