// Plain things: links, buttons and headings with nothing but text in them and nothing said about them that would have
// to be looked into. Most of what can be acted on is such, so it is told with few questions. What is told is the same
// as the long way would tell; whatever is in doubt goes the long way.

const PLAIN_THINGS = new Map(Object.entries({
  a: "link", button: "button", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
}));

/** Attributes that say nothing of an element's role, name or state. */
const QUIET_ATTRIBUTES = new Set(["id", "class", "href", "style", "onclick", "target", "rel", "type", "name", "tabindex"]);

function hasQuietAttributes(element) {
  const names = element.getAttributeNames();
  for (let at = 0; at < names.length; at++) {
    if (!QUIET_ATTRIBUTES.has(names[at]) && !names[at].startsWith("data-")) return false;
  }
  return true;
}

/** Elements that show only some of their children. */
const CHOOSY_TAGS = new Set(["details", "select", "audio", "iframe", "video"]);

/** What holds for all plain things of one tree, found out once in a pass. */
class PlainTree {
  constructor(root) {
    this.generating = generatingIn(root);
    this.labels = labelsIn(root);
    this.isAnyDisabled = root.querySelector("[aria-disabled]") !== null;
    this.focused = root.activeElement;
  }
}

let plainTrees = null;
/** The thing asked for last was in this one, and this is its tree. */
let plainHolder = null;
let plainTree = null;

function forgetPlainTrees() {
  plainTrees = null;
  plainHolder = null;
  plainTree = null;
}

function plainTreeOf(element) {
  const holder = element.parentNode;
  if (holder === plainHolder) return plainTree;
  plainHolder = holder;
  plainTree = null;
  // Others may leave out what is in them.
  if (holder === null || holder.nodeType !== Node.ELEMENT_NODE || holder.shadowRoot !== null) return null;
  if (CHOOSY_TAGS.has(holder.localName)) return null;
  const root = element.getRootNode();
  plainTrees ??= new Map();
  plainTree = plainTrees.get(root);
  if (plainTree === undefined) {
    plainTree = new PlainTree(root);
    plainTrees.set(root, plainTree);
  }
  return plainTree;
}

/** The text of a plain thing; null when the element is none, or nothing can be read in it. */
function plainTextOf(element, role) {
  const only = element.firstChild;
  if (only === null || only.nodeType !== Node.TEXT_NODE || only.nextSibling !== null) return null;
  if (element.namespaceURI !== HTML_NAMESPACE || element.shadowRoot !== null || element.assignedSlot !== null) return null;
  if (!hasQuietAttributes(element) || (role === "link" && !element.hasAttribute("href"))) return null;
  const tree = plainTreeOf(element);
  if (tree === null || tree.isAnyDisabled || tree.focused === element || tree.generating.mayApply(element)) return null;
  if (role === "button" && (tree.labels.has(element) || element.matches(":disabled"))) return null;
  return only.data;
}

/** Whether a plain thing is exposed and seen, if its parent is: nothing else of it could hide it. */
function isPlainlyThere(element, style, display) {
  if (display === "none" || display === "contents") return false;
  if (style.visibility !== "visible" || style.interactivity === "inert" || skipsContent(element, style, display)) return false;
  return exposureBesideDialog(element) === (SHOWS_SELF | SHOWS_CHILDREN) && isPlainlyShown(element, style, display);
}

/** The plain thing of a piece as a node; null when it is told the long way. */
function plainNodeOf(piece, style, display, limits) {
  const { element } = piece;
  const role = PLAIN_THINGS.get(element.localName);
  if (role === undefined || piece.quiet || piece.concealed !== "") return null;
  const text = plainTextOf(element, role);
  if (text === null || !isPlainlyThere(element, style, display)) return null;
  if (style.textTransform !== "none" || !isReadable(piece, style, display)) return null;
  if (role === "heading" && clickReasonOf(piece, style) !== "") return null;
  const name = text.length <= limits.name && PLAIN_LINE.test(text) ? text : lineOf(foldSpace(text), limits.name);
  if (name === "") return null;
  let extra = null;
  if (role === "heading") extra = { level: Number(element.localName[1]) };
  else if (role === "link") {
    const target = targetOf(element, limits);
    if (target !== "") extra = { target };
  }
  return nodeOf(role, name, keyOf(element), role !== "heading", extra);
}
