// What of the page is exposed to assistive technology, and what a person could see of it. Knows nothing of roles,
// names, or what is interactive.
//
// A walker goes top-down: `exposureOf(element)` looks at one element only and takes for granted that its parent shows
// its children, so no ancestor is visited twice. `isExposed(element)` asks the same of every ancestor, for one element
// on its own. Between `beginPass()` and `endPass()` displays, labels and tables are remembered; nothing may change the
// page then.

/** The element itself is exposed. */
const SHOWS_SELF = 1;
/** What is below the element may be exposed. */
const SHOWS_CHILDREN = 2;

/** Computed styles are live, so they outlast a pass; so many are kept at most when one is over. */
const STYLES_KEPT = 8192;
let keptStyles = new WeakMap();
let stylesKept = 0;

let passDepth = 0;
let passDisplays = null;
let passDialogs = null;
let passBackgrounds = null;
/** Elements that are known to show what is inside. */
let passHolders = null;

/** Starts remembering. Passes may nest; the outermost one decides. */
function beginPass() {
  if (passDepth++ > 0) return;
  passDisplays = new Map();
  passDialogs = new Map();
  passBackgrounds = new Map();
  passHolders = new Set();
  rememberRoles();
  rememberNames();
}

/** Forgets what the pass remembered. */
function endPass() {
  if (--passDepth > 0) return;
  if (stylesKept > STYLES_KEPT) {
    keptStyles = new WeakMap();
    stylesKept = 0;
  }
  passDisplays = null;
  passDialogs = null;
  passBackgrounds = null;
  passHolders = null;
  forgetRoles();
  forgetNames();
}

/** Runs `work` inside a pass. */
function inPass(work) {
  beginPass();
  try {
    return work();
  } finally {
    endPass();
  }
}

/** The element's computed style. Asking for it takes longer than reading it, so it is kept. */
function styleOf(element) {
  let style = keptStyles.get(element);
  if (style === undefined) {
    style = getComputedStyle(element);
    if (passDepth > 0) {
      keptStyles.set(element, style);
      stylesKept += 1;
    }
  }
  return style;
}

/** How the element is laid out; remembered during a pass, for it is asked for most. */
function displayOf(element) {
  if (passDisplays === null) return styleOf(element).display;
  let display = passDisplays.get(element);
  if (display === undefined) {
    display = styleOf(element).display;
    passDisplays.set(element, display);
  }
  return display;
}

const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function isHtml(element) {
  return element.namespaceURI === HTML_NAMESPACE;
}

/** The first summary of a details element: the part of it that stays when it is closed. */
function summaryOf(details) {
  for (let child = details.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === "summary") return child;
  }
  return null;
}

/** Whether the parent, though shown, leaves this child out: closed details, a host that has no slot for it. */
function isLeftOut(element) {
  const parent = element.parentNode;
  if (parent === null || parent.nodeType !== Node.ELEMENT_NODE) return false;
  if (parent.shadowRoot !== null && element.assignedSlot === null) return true;
  switch (parent.localName) {
    case "details":
      return !parent.open && isHtml(parent) && summaryOf(parent) !== element;
    case "select":
      return element.localName === "button";
    case "audio":
    case "iframe":
    case "video":
      return isHtml(parent);
    default:
      return false;
  }
}

/** Options of a select that opens a list: exposed while it is closed, whatever their style. */
function isMenuOption(element) {
  const name = element.localName;
  if (name !== "option" && name !== "optgroup") return false;
  const select = element.closest("select");
  return select !== null && opensMenu(select);
}

/** Whether a select shows its choice and opens a list, rather than being that list. */
function opensMenu(select) {
  return select.hasAttribute("size") ? select.size <= 1 : !select.multiple;
}

/** The image that shows an area; null when there is none. */
function imageOfArea(area) {
  const map = area.closest("map");
  if (map === null || map.name === "") return null;
  return map.getRootNode().querySelector(`img[usemap="#${CSS.escape(map.name)}"]`);
}

/**
 * What this element shows, `SHOWS_SELF | SHOWS_CHILDREN`, if its parent shows its children. Who has asked for its style
 * already hands it on.
 */
function exposureOf(element, style = styleOf(element), display = style.display) {
  if (isMenuOption(element)) return SHOWS_SELF | SHOWS_CHILDREN;
  if (isHiddenByAria(element) || element.inert === true || isLeftOut(element)) return 0;
  if (display === "none") {
    return element.localName === "area" && imageOfArea(element) !== null ? SHOWS_SELF : 0;
  }
  if (style.interactivity === "inert") return 0;
  const below = skipsContent(element, style, display) ? 0 : SHOWS_CHILDREN;
  if (below !== 0) passHolders?.add(element);
  const shown = style.visibility === "visible" ? SHOWS_SELF | below : below;
  return shown & exposureBesideDialog(element);
}

/** Whether CSS keeps back what is inside; only boxes that can be contained in size do. */
function skipsContent(element, style = styleOf(element), display = style.display) {
  // A fieldset is a box whatever it calls itself.
  if ((display === "inline" && element.localName !== "fieldset") || style.contentVisibility !== "hidden") return false;
  return !/^(contents|ruby.*|table-(?!cell|caption).*)$/.test(display);
}

/** Hidden from assistive technology by the author; not while the focus is inside, for then it must be found. */
function isHiddenByAria(element) {
  const value = element.getAttribute("aria-hidden");
  return value !== null && value.toLowerCase() === "true" && !containsFocus(element);
}

function containsFocus(element) {
  for (let node = element.ownerDocument.activeElement; node !== null; node = composedParent(node)) {
    if (node === element) return element !== element.ownerDocument.body;
  }
  return false;
}

/** What an open modal dialog leaves of the rest of its document. */
function exposureBesideDialog(element) {
  const document = element.ownerDocument;
  let dialog = passDialogs?.get(document);
  if (dialog === undefined) {
    dialog = modalDialogOf(document);
    passDialogs?.set(document, dialog);
  }
  if (dialog === null) return SHOWS_SELF | SHOWS_CHILDREN;
  if (isAround(dialog, element)) return SHOWS_SELF | SHOWS_CHILDREN;
  return isAround(element, dialog) ? SHOWS_CHILDREN : 0;
}

/** Whether `outer` is or contains `inner`, shadow roots included. */
function isAround(outer, inner) {
  for (let node = inner; node; node = node.getRootNode().host) if (outer.contains(node)) return true;
  return false;
}

/** The modal dialog that makes the rest of its document inert; null if there is none. */
function modalDialogOf(document) {
  const dialogs = document.querySelectorAll("dialog:modal");
  if (dialogs.length < 2) return dialogs[0] ?? null;
  const focused = document.activeElement;
  for (let at = dialogs.length - 1; at >= 0; at--) if (dialogs[at].contains(focused)) return dialogs[at];
  return dialogs[dialogs.length - 1];
}

/** Whether the element is in the accessibility tree. Visits all ancestors; walkers use `exposureOf`. */
function isExposed(element) {
  return inPass(() => {
    if ((exposureOf(element) & SHOWS_SELF) === 0) return false;
    for (let node = exposedParentOf(element); node !== null; node = exposedParentOf(node)) {
      if ((exposureOf(node) & SHOWS_CHILDREN) === 0) return false;
    }
    return true;
  });
}

/** The element in whose place this one is exposed: who claims it, the image of an area, else its parent. */
function exposedParentOf(element) {
  if (element.localName === "area" && isHtml(element)) return imageOfArea(element);
  const owner = ownerOf(element);
  return owner !== null && element.checkVisibility() ? owner : composedParent(element);
}

/** Whether a person could see the element. Visits all ancestors; walkers use `concealmentOf`. */
function isPerceivable(element) {
  if (!isExposed(element) || concealmentOf(element) !== "") return false;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const reason = concealmentOf(node);
    if (reason !== "" && reason !== "font-size" && reason !== "colour" && reason !== "off-screen") return false;
  }
  return true;
}

/** Whether the element is hidden from the eye in one of the ways meant for screen readers. */
function isScreenReaderOnly(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    if (concealmentOf(node) === "screen-reader-only") return true;
  }
  return false;
}

/**
 * Why a person could not see this element though it is exposed; "" when nothing speaks against it.
 *
 * Looks at the element alone. "opacity", "clipped" and "screen-reader-only" hold for all that is below it too;
 * "font-size", "colour" and "off-screen" are asked again of each element below. Reading a style takes time, so what is
 * only of interest where text stands is only asked there. Who knows already whether text stands there hands it on.
 */
function concealmentOf(element, isWritten = null) {
  if (displayOf(element) === "contents") return "";
  const style = styleOf(element);
  const { opacity } = style;
  if (opacity !== "1" && opacity < 0.02) return "opacity";
  const position = style.position;
  const isChanged = style.transform !== "none";
  const clipped = clippingOf(element, style, position, isChanged);
  if (clipped !== "") return clipped;
  const isMoved = isChanged || position !== "static";
  if (!(isWritten ?? hasOwnText(element))) return isMoved && isBeforeStart(element, position) ? "off-screen" : "";
  if (parseFloat(style.fontSize) < 1) return "font-size";
  if (isTextUnreadable(element, style)) return "colour";
  const { textIndent } = style;
  if (textIndent !== "0px" && parseFloat(textIndent) < -500) return "off-screen";
  return isMoved && isBeforeStart(element, position) ? "off-screen" : "";
}

function hasOwnText(element) {
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === Node.TEXT_NODE && isInk(node.data)) return true;
  }
  return false;
}

function clippingOf(element, style, position, isChanged) {
  const isFree = position === "absolute" || position === "fixed";
  if (isFree && style.clip !== "auto" && isEmptyClip(style.clip)) return "screen-reader-only";
  const path = style.clipPath;
  if (path !== "none" && /^(inset\((50|[6-9]\d|100)%|circle\(0|polygon\(0(px)? 0(px)?(, 0(px)? 0(px)?)*\))/.test(path)) {
    return "screen-reader-only";
  }
  // When one axis is cut off the other is too, or scrolls.
  const isCut = style.overflowY !== "visible";
  if (!isCut && !isChanged) return "";
  const box = element.getBoundingClientRect();
  if (box.width > 1 && box.height > 1) return "";
  if (isChanged && (box.width === 0 || box.height === 0)) return "clipped";
  if (!isCut) return "";
  return box.width === 1 && box.height === 1 ? "screen-reader-only" : "clipped";
}

function isEmptyClip(clip) {
  const edges = clip.match(/-?[\d.]+(?=px)/g);
  if (edges === null || edges.length < 4) return false;
  const [top, right, bottom, left] = edges.map(Number);
  return right - left <= 1 || bottom - top <= 1;
}

function isTransparent(colour) {
  return colour.endsWith(" 0)") && (colour.startsWith("rgba(") || colour.endsWith("/ 0)"));
}

function isTextUnreadable(element, style) {
  const colour = style.webkitTextFillColor || style.color;
  const isClear = isTransparent(colour);
  if (!isClear && colour !== backgroundOf(element)) return false;
  return style.textShadow === "none" && style.webkitBackgroundClip !== "text";
}

/** The colour behind the element's text; "" when it is a picture and so not known. */
function backgroundOf(element) {
  const passed = [];
  let colour = "rgb(255, 255, 255)";
  for (let node = element; node !== null; node = composedParent(node)) {
    const known = passBackgrounds?.get(node) ?? ownBackgroundOf(node);
    if (known !== null) {
      colour = known;
      break;
    }
    passed.push(node);
  }
  if (passBackgrounds !== null) for (const node of passed) passBackgrounds.set(node, colour);
  return colour;
}

/** The element's own background as `backgroundOf` tells it; null when one sees through it. */
function ownBackgroundOf(element) {
  const style = styleOf(element);
  if (style.backgroundImage !== "none") return "";
  const colour = style.backgroundColor;
  return isTransparent(colour) ? null : colour;
}

/** Whether the element lies where nobody can scroll to: left of the page or above it. */
function isBeforeStart(element, position) {
  const box = element.getBoundingClientRect();
  const view = element.ownerDocument.defaultView;
  if (view === null || (box.width === 0 && box.height === 0)) return false;
  if (position === "fixed") return box.right <= 0 || box.bottom <= 0;
  return box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0;
}
