// Fast path for links, buttons and headings that contain only text and have no attributes that affect role, name or
// state. They are most of the interactive elements. The result equals that of the general path; doubtful cases take the
// general path.

const SIMPLE_ROLES = new Map(Object.entries({
  a: "link", button: "button", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
}));

/** Attributes that do not affect role, name or state. */
const NEUTRAL_ATTRIBUTES = new Set(["id", "class", "href", "style", "onclick", "target", "rel", "type", "name", "tabindex"]);

function hasNeutralAttributes(element) {
  const names = element.getAttributeNames();
  for (let at = 0; at < names.length; at++) {
    if (!NEUTRAL_ATTRIBUTES.has(names[at]) && !names[at].startsWith("data-")) return false;
  }
  return true;
}

/** Elements that render only some of their children. */
const PARTIAL_PARENT_TAGS = new Set(["details", "select", "audio", "iframe", "video"]);

/** Facts about a tree that all its simple elements share; computed once per pass. */
class TreeFacts {
  constructor(root) {
    this.generating = generatedTextRulesOf(root);
    this.labels = labelsIn(root);
    this.isAnyDisabled = root.querySelector("[aria-disabled]") !== null;
    this.focused = root.activeElement;
  }
}

let factsByTree = null;
/** Cache: the parent of the last element, and the facts of its tree. */
let factsParent = null;
let currentFacts = null;

function forgetTreeFacts() {
  factsByTree = null;
  factsParent = null;
  currentFacts = null;
}

function treeFactsOf(element) {
  const holder = element.parentNode;
  if (holder === factsParent) return currentFacts;
  factsParent = holder;
  currentFacts = null;
  // Other parents may not render all their children.
  if (holder === null || holder.nodeType !== Node.ELEMENT_NODE || shadowRootOf(holder) !== null) return null;
  if (PARTIAL_PARENT_TAGS.has(holder.localName)) return null;
  const root = element.getRootNode();
  factsByTree ??= new Map();
  currentFacts = factsByTree.get(root);
  if (currentFacts === undefined) {
    currentFacts = new TreeFacts(root);
    factsByTree.set(root, currentFacts);
  }
  return currentFacts;
}

/** The text of a simple element; null when the element is not simple. */
function simpleTextOf(element, role) {
  const only = element.firstChild;
  if (only === null || only.nodeType !== Node.TEXT_NODE || only.nextSibling !== null) return null;
  if (element.namespaceURI !== HTML_NAMESPACE || shadowRootOf(element) !== null || element.assignedSlot !== null) return null;
  if (!hasNeutralAttributes(element) || (role === "link" && !element.hasAttribute("href"))) return null;
  const tree = treeFactsOf(element);
  if (tree === null || tree.isAnyDisabled || tree.focused === element || tree.generating.mayApply(element)) return null;
  if (role === "button" && (tree.labels.has(element) || element.matches(":disabled"))) return null;
  return only.data;
}

/** Whether a simple element is exposed and visible, given that its parent is. */
function isSimplyExposed(element, style, display) {
  if (display === "none" || display === "contents") return false;
  if (style.visibility !== "visible" || style.interactivity === "inert" || skipsContent(element, style, display)) return false;
  return exposureBesideDialog(element) === (SHOWS_SELF | SHOWS_CHILDREN) && hidesNothing(element, style, display);
}

/** The node of a simple element; null when the general path must describe it. */
function simpleNodeOf(piece, style, display, limits) {
  const { element } = piece;
  const role = SIMPLE_ROLES.get(element.localName);
  if (role === undefined || piece.interactiveOnly || piece.concealed !== "") return null;
  const text = simpleTextOf(element, role);
  if (text === null || !isSimplyExposed(element, style, display)) return null;
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
