// Accessible names and descriptions: the accname algorithm as Chrome implements it.
//
// A name is joined from pieces. Inline pieces join directly. Pieces of different blocks, and pieces that are not plain
// text (a label, an alt text, a value), get a space between them. Whitespace is folded once, at the end.

/** Roles that get their name from content. A row does too, in a grid. */
const NAMED_BY_CONTENT = new Set(
  ("button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio " +
    "rowheader switch tab term tooltip treeitem graphics-object " +
    "doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle").split(" "),
);

/** Roles without a name of their own whose content is part of an ancestor's name. */
const PART_OF_NAME = new Set(
  ("canvas caption code definition deletion emphasis generic insertion list listitem mark paragraph region strong " +
    "subscript superscript time").split(" "),
);

/** Roles that cannot have a name; a title is their description. */
const NEVER_NAMED = new Set(
  ("caption code definition deletion emphasis generic insertion mark paragraph strong subscript suggestion " +
    "superscript term time").split(" "),
);

/** Elements without a role that a title names. */
const TITLED_TAGS = new Set(["abbr", "dl", "embed", "figcaption", "label", "legend", "object", "ruby", "table"]);

/** Most pieces in one name, as in Chrome. */
const NAME_PIECES = 100;
/** Deepest recursion into elements that only style text, so that no page exhausts the stack. */
const NAME_DEPTH = 256;

/** The source of a name, as far as it affects spacing and descriptions. */
const FROM_NOTHING = 0;
const FROM_CONTENT = 1;
const FROM_ATTRIBUTE = 2;
const FROM_REFERENCE = 3;
const FROM_VALUE = 4;
const FROM_CAPTION = 5;
const FROM_TITLE = 6;

/** One run of the algorithm. */
class NameWalk {
  /** `root` is the element that aria-labelledby or aria-describedby refers to; null outside of such references. */
  constructor(visited, root) {
    this.visited = visited;
    this.root = root;
    /** A hidden element is referenced: all its content counts. */
    this.isHidden = root !== null && !isExposed(root);
    /** It has no boxes either: every piece gets a space. */
    this.isBoxless = this.isHidden && !root.checkVisibility();
    this.pieces = 1;
    this.from = FROM_NOTHING;
    this.depth = 0;
    /** Whether the content gathered last contains a block. */
    this.hadBlock = false;
  }
}

/** The element's accessible name, or "". */
function nameOf(element) {
  const role = semanticsOf(element);
  if (PART_OF_NAME.has(role) && !element.hasAttributes() && isHtml(element) && !element.localName.includes("-")) return "";
  return inPass(() => foldSpace(alternativeOf(element, new NameWalk(new Set(), null), role, false)));
}

function foldSpace(text) {
  if (!/[\t\n\f\r]| {2}|^ | $/.test(text)) return text;
  return text.replace(/[\t\n\f\r ]+/g, " ").replace(/^ | $/g, "");
}

/** The text alternative before whitespace is folded. `inner` is true while another element's name is computed. */
function alternativeOf(element, walk, role, inner) {
  const isNew = !walk.visited.has(element);
  if (inner && isNew) {
    const value = valueInName(element, role, walk);
    if (value !== null) {
      walk.from = FROM_VALUE;
      return value;
    }
  }
  walk.visited.add(element);
  const text = ariaNameOf(element, walk, isNew) || nativeNameOf(element, walk, inner);
  if (text !== "") return inner && element.type === "file" ? `${foldSpace(text)}: ${chosenFilesOf(element)}` : text;
  if (isNamedByContent(element, role, walk, inner)) {
    const content = contentOf(element, walk) || (walk.root === element ? (valueOf(element, role) ?? "") : "");
    walk.from = FROM_CONTENT;
    if (content !== "" && (inner || !isBlank(content))) return content;
  }
  return titleNameOf(element, walk, role);
}

/** The name from aria-labelledby or aria-label. */
function ariaNameOf(element, walk, isNew) {
  if (walk.root === null && isNew && isLabelledBy(element)) {
    const text = referencedText(labellersOf(element), walk.visited);
    walk.from = FROM_REFERENCE;
    if (!isBlank(text)) return text;
  }
  const label = element.getAttribute("aria-label");
  walk.from = FROM_ATTRIBUTE;
  return label === null || isBlank(label) ? "" : label;
}

function isLabelledBy(element) {
  return element.hasAttribute("aria-labelledby") || element.hasAttribute("aria-labeledby");
}

/** The elements that label this one. Both spellings of the attribute are valid. */
function labellersOf(element) {
  if (element.hasAttribute("aria-labelledby")) return element.ariaLabelledByElements ?? [];
  return elementsOfIds(element, "aria-labeledby");
}

/** The title as a name, where the role allows it. An empty alt declares that an image has no name. */
function titleNameOf(element, walk, role) {
  const title = element.getAttribute("title");
  walk.from = FROM_NOTHING;
  if (title === null || title === "") return "";
  if (walk.root === null && NEVER_NAMED.has(role) && !isTitled(element)) return "";
  if ((element.localName === "img" || element.localName === "area") && element.getAttribute("alt") === "") return "";
  walk.from = FROM_TITLE;
  return title;
}

/** Whether a title names the element although it has no role. */
function isTitled(element) {
  return TITLED_TAGS.has(element.localName) || element.localName.includes("-") || isFocusable(element);
}

/** The texts of referenced elements, joined by spaces. */
function referencedText(elements, visited) {
  const parts = [];
  for (const element of elements) {
    const text = alternativeOf(element, new NameWalk(visited, element), semanticsOf(element), true);
    visited.add(element);
    if (text !== "") parts.push(text);
  }
  return parts.join(" ");
}

/** Whether the element's content counts as its name here. */
function isNamedByContent(element, role, walk, inner) {
  if (element.localName === "select" && isHtml(element)) return false;
  if (holdsText(element, role)) return walk.root === element;
  if (walk.root !== null || NAMED_BY_CONTENT.has(role)) return true;
  switch (role) {
    case "math":
      return isHtml(element);
    case "row":
      return isInGrid(element);
    case "img":
      return inner && element.localName === "svg";
    default:
  }
  if (!inner) return PART_OF_NAME.has(role) && isFocusedText(element);
  if (PART_OF_NAME.has(role)) return element.localName !== "object" && !isMath(element);
  return element.localName === "footer" || element.localName === "address" || element.localName === "details";
}

function isMath(element) {
  return element.namespaceURI === "http://www.w3.org/1998/Math/MathML";
}

function isInGrid(row) {
  for (let node = composedParent(row); node !== null; node = composedParent(node)) {
    const role = semanticsOf(node);
    if (role === "grid" || role === "treegrid") return true;
    if (role !== "generic" && role !== "none" && role !== "group" && role !== "rowgroup") return false;
  }
  return false;
}

/** Chrome names focused text by its content, so that a screen reader announces it. */
function isFocusedText(element) {
  return element.hasAttribute("tabindex") && element.getRootNode().activeElement === element && !element.isContentEditable;
}

/** Joins pieces of text. */
class TextJoiner {
  constructor() {
    this.text = "";
    this.isApart = false;
    this.hasBlock = false;
  }

  /** Separates the next piece from the text before it. */
  setApart() {
    this.isApart = true;
  }

  add(piece) {
    if (piece === "") return;
    const isJoined = this.text === "" || /[\t\n\f\r ]$/.test(this.text) || /^[\t\n\f\r ]/.test(piece);
    this.text += this.isApart && !isJoined ? ` ${piece}` : piece;
    this.isApart = false;
  }
}

/** The text of the element's content. */
function contentOf(element, walk) {
  if (EMPTY_TAGS.has(element.localName)) return "";
  if (!walk.isHidden && passContentShown?.has(element) !== true && skipsContent(element)) return "";
  const only = element.firstChild;
  if (only !== null && only === element.lastChild && only.nodeType === Node.TEXT_NODE && isPlain(element)) {
    walk.hadBlock = false;
    return walk.pieces++ > NAME_PIECES ? "" : shownText(only.data, element, walk);
  }
  const text = new TextJoiner();
  addChildren(text, element, walk);
  walk.hadBlock = text.hasBlock;
  return text.text;
}

/** Whether the element renders its own child nodes only. */
function isPlain(element) {
  return shadowRootOf(element) === null && element.localName !== "slot" && !hasGeneratedText(element) && !element.hasAttribute("aria-owns");
}

function addChildren(text, element, walk) {
  if (element.localName === "details" && !element.open && isHtml(element) && !walk.isHidden) {
    const summary = summaryOf(element);
    if (summary !== null) addElement(text, summary, walk);
    return;
  }
  const generated = !walk.isBoxless && hasGeneratedText(element);
  if (generated) addGeneratedText(text, element, "::before", walk);
  for (const child of composedChildren(element)) {
    if (child.nodeType === Node.TEXT_NODE) {
      if (walk.pieces++ > NAME_PIECES) break;
      if (walk.isBoxless) text.setApart();
      text.add(shownText(child.data, element, walk));
    } else if (child.nodeType === Node.ELEMENT_NODE && (child.id === "" || ownerOf(child) === null)) {
      addElement(text, child, walk);
    }
  }
  if (element.hasAttribute("aria-owns")) {
    for (const owned of ownedBy(element)) {
      if (owned.contains(element) || walk.visited.has(owned)) continue;
      text.setApart();
      addElement(text, owned, walk);
    }
  }
  if (generated) addGeneratedText(text, element, "::after", walk);
}

/** Elements that are never part of a name. */
const SILENT_TAGS = new Set(["head", "noscript", "rp", "script", "style", "template"]);
/** Elements without text content. */
const EMPTY_TAGS = new Set(["br", "hr", "img", "input", "meter", "progress", "select"]);

function addElement(text, element, walk) {
  const name = element.localName;
  if (walk.pieces > NAME_PIECES || SILENT_TAGS.has(name) || (name === "rt" && walk.root === null)) return;
  if (name === "br" || name === "wbr") {
    text.add(" ");
    return;
  }
  if (walk.root === null && walk.visited.has(element)) return;
  if (!walk.isHidden) {
    const exposure = exposureOf(element);
    if ((exposure & SHOWS_SELF) === 0) {
      addHidden(text, element, exposure, walk);
      return;
    }
  }
  addShown(text, element, walk);
}

/** Visible descendants of a hidden element count. A hidden block that keeps its space separates. */
function addHidden(text, element, exposure, walk) {
  const display = displayOf(element);
  if (display === "none") return;
  if (display !== "inline") {
    text.setApart();
    text.hasBlock = true;
  }
  if ((exposure & SHOWS_CHILDREN) === 0) return;
  for (const child of composedChildren(element)) if (child.nodeType === Node.ELEMENT_NODE) addElement(text, child, walk);
}

function addShown(text, element, walk) {
  const role = semanticsOf(element);
  const display = walk.isBoxless ? "none" : displayOf(element);
  if (role === "generic" && display === "inline" && isOnlyStyle(element)) {
    walk.visited.add(element);
    walk.depth += 1;
    if (walk.depth < NAME_DEPTH) addChildren(text, element, walk);
    walk.depth -= 1;
    return;
  }
  walk.pieces += 1;
  walk.hadBlock = false;
  let piece;
  let isApart = display !== "inline" || isControl(element, role);
  if (role === "none") {
    walk.visited.add(element);
    piece = contentOf(element, walk);
  } else {
    piece = alternativeOf(element, walk, role, true);
    if (isReplaced(element, role) || (piece !== "" && walk.from !== FROM_CONTENT)) isApart = true;
  }
  const isBlock = display === "inline" ? walk.hadBlock : !display.startsWith("inline");
  if (isApart) text.setApart();
  text.add(isApart ? foldSpace(piece) : piece);
  if (isApart || isBlock) text.setApart();
  if (isBlock) text.hasBlock = true;
}

const REPLACED_TAGS = new Set("audio canvas embed iframe img input meter object progress select svg textarea video".split(" "));

/** Inline elements that are not text. An SVG without a name is ignored. */
function isReplaced(element, role) {
  return REPLACED_TAGS.has(element.localName) && (role !== "generic" || isHtml(element));
}

const INLINE_TAGS = new Set("a b bdi bdo big cite data font i kbd nobr samp small span tt u var".split(" "));
const SEMANTIC_ATTRIBUTE = /^(id|title|tabindex|lang|contenteditable|role|aria-.*)$/;

/** Whether the element only styles inline text. */
function isOnlyStyle(element) {
  if (!INLINE_TAGS.has(element.localName) && !element.localName.includes("-")) return false;
  return !element.hasAttributes() || !element.getAttributeNames().some((name) => SEMANTIC_ATTRIBUTE.test(name));
}

const FORM_TAGS = new Set(["button", "fieldset", "output"]);
const CONTROL_ROLES = new Set(
  ("button checkbox combobox listbox menuitem menuitemcheckbox menuitemradio radio scrollbar searchbox slider " +
    "spinbutton switch tab textbox").split(" "),
);

function isControl(element, role) {
  return FORM_TAGS.has(element.localName) || (CONTROL_ROLES.has(role) && element.hasAttribute("role"));
}

/** The element's accessible description, or "". */
function descriptionOf(element) {
  return inPass(() => foldSpace(rawDescriptionOf(element)));
}

function rawDescriptionOf(element) {
  if (element.hasAttribute("aria-describedby")) {
    const text = referencedText(element.ariaDescribedByElements ?? [], new Set());
    if (!isBlank(text)) return text;
  }
  const description = element.getAttribute("aria-description");
  if (description !== null && description !== "") return description;
  const title = element.getAttribute("title");
  const isNative = DESCRIBED_TAGS.has(element.localName);
  if (!isNative && (title === null || title === "")) return "";
  const walk = new NameWalk(new Set(), null);
  alternativeOf(element, walk, semanticsOf(element), false);
  const native = isNative ? nativeDescriptionOf(element, walk.from) : "";
  if (native !== "" || title === null || walk.from === FROM_TITLE) return native;
  return title.trim() === (element.innerText ?? "").trim() ? "" : title;
}
