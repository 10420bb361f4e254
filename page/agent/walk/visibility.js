// Which elements are exposed to assistive technology, and which are visible.
//
// A walk goes top-down: `exposureOf(element)` checks one element and assumes that its parent shows its children.
// `isExposed(element)` checks every ancestor. Between `beginPass()` and `endPass()` displays, labels and tables are
// cached; nothing may change the page then.

/** The element itself is exposed. */
const SHOWS_SELF = 1;
/** The descendants of the element may be exposed. */
const SHOWS_CHILDREN = 2;

/** Computed styles are live, so the cache outlasts a pass; this bounds it. */
const STYLES_KEPT = 8192;
let keptStyles = new WeakMap();
let stylesKept = 0;

let passDepth = 0;
let passDisplays = null;
let passDialogs = null;
let passBackgrounds = null;
/** Elements known to show their content. */
let passContentShown = null;

/** Starts caching. Passes nest; the outermost one counts. */
function beginPass() {
  if (passDepth++ > 0) return;
  passDisplays = new Map();
  passDialogs = new Map();
  passBackgrounds = new Map();
  passContentShown = new Set();
  cacheRoles();
  cacheNames();
}

/** Ends caching. */
function endPass() {
  if (--passDepth > 0) return;
  if (stylesKept > STYLES_KEPT) {
    keptStyles = new WeakMap();
    stylesKept = 0;
  }
  passDisplays = null;
  passDialogs = null;
  passBackgrounds = null;
  passContentShown = null;
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

/** The element's computed style, cached: getting it takes longer than reading it. */
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

/** The element's display, cached during a pass. */
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

/** The first summary of a details element, which stays visible when it is closed. */
function summaryOf(details) {
  for (let child = details.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === "summary") return child;
  }
  return null;
}

/** Whether the parent, though shown, does not render this child: closed details, or a host without a slot for it. */
function isLeftOut(element) {
  const parent = element.parentNode;
  if (parent === null || parent.nodeType !== Node.ELEMENT_NODE) return false;
  if (shadowRootOf(parent) !== null && element.assignedSlot === null) return true;
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

/** Options of a drop-down are exposed while it is closed, whatever their style. */
function isMenuOption(element) {
  const name = element.localName;
  if (name !== "option" && name !== "optgroup") return false;
  const select = element.closest("select");
  return select !== null && opensMenu(select);
}

/** Whether a select is a drop-down. */
function opensMenu(select) {
  return select.hasAttribute("size") ? select.size <= 1 : !select.multiple;
}

/** The image of an area; null for none. */
function imageOfArea(area) {
  const map = area.closest("map");
  if (map === null || map.name === "") return null;
  return map.getRootNode().querySelector(`img[usemap="#${CSS.escape(map.name)}"]`);
}

/** What the element exposes, `SHOWS_SELF | SHOWS_CHILDREN`, given that its parent shows its children. */
function exposureOf(element, style = styleOf(element), display = style.display) {
  if (isMenuOption(element)) return SHOWS_SELF | SHOWS_CHILDREN;
  if (isHiddenByAria(element) || element.inert === true || isLeftOut(element)) return 0;
  if (display === "none") {
    return element.localName === "area" && imageOfArea(element) !== null ? SHOWS_SELF : 0;
  }
  if (style.interactivity === "inert") return 0;
  const below = skipsContent(element, style, display) ? 0 : SHOWS_CHILDREN;
  if (below !== 0) passContentShown?.add(element);
  const shown = style.visibility === "visible" ? SHOWS_SELF | below : below;
  return shown & exposureBesideDialog(element);
}

/** Whether CSS skips the content; applies only to boxes that support size containment. */
function skipsContent(element, style = styleOf(element), display = style.display) {
  // A fieldset is a box whatever its display.
  if ((display === "inline" && element.localName !== "fieldset") || style.contentVisibility !== "hidden") return false;
  return !/^(contents|ruby.*|table-(?!cell|caption).*)$/.test(display);
}

/** aria-hidden, except while the focus is inside. */
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

/** What an open modal dialog leaves exposed of the element. */
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

/** The modal dialog that makes the rest of its document inert; null for none. */
function modalDialogOf(document) {
  const dialogs = document.querySelectorAll("dialog:modal");
  if (dialogs.length < 2) return dialogs[0] ?? null;
  const focused = document.activeElement;
  for (let at = dialogs.length - 1; at >= 0; at--) if (dialogs[at].contains(focused)) return dialogs[at];
  return dialogs[dialogs.length - 1];
}

/** Whether the element is in the accessibility tree. Visits all ancestors; walks use `exposureOf`. */
function isExposed(element) {
  // Never shown where scripts run. Only Firefox's styles say so.
  if (element.localName === "noscript") return false;
  return inPass(() => {
    if ((exposureOf(element) & SHOWS_SELF) === 0) return false;
    for (let node = exposedParentOf(element); node !== null; node = exposedParentOf(node)) {
      if ((exposureOf(node) & SHOWS_CHILDREN) === 0) return false;
    }
    return true;
  });
}

/** The parent in the accessibility tree: the aria-owns owner, the image of an area, else the parent. */
function exposedParentOf(element) {
  if (element.localName === "area" && isHtml(element)) return imageOfArea(element);
  const owner = ownerOf(element);
  return owner !== null && element.checkVisibility() ? owner : composedParent(element);
}

/** Whether the element is visible. Visits all ancestors; walks use `invisibleReasonOf`. */
function isPerceivable(element) {
  if (!isExposed(element) || invisibleReasonOf(element) !== "") return false;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const reason = invisibleReasonOf(node);
    if (reason !== "" && reason !== "font-size" && reason !== "colour" && reason !== "off-screen") return false;
  }
  return true;
}

/** Whether the element follows a screen-reader-only pattern. */
function isScreenReaderOnly(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    if (invisibleReasonOf(node) === "screen-reader-only") return true;
  }
  return false;
}

/**
 * Why the exposed element is invisible, or "".
 *
 * Checks the element alone. "opacity", "clipped" and "screen-reader-only" include its descendants; "font-size",
 * "colour" and "off-screen" are checked again for each descendant. Reading a style is slow, so text styles are read
 * only where there is text.
 */
function invisibleReasonOf(element, isWritten = null) {
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
    if (node.nodeType === Node.TEXT_NODE && hasNonSpace(node.data)) return true;
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
  // When one axis clips, the other clips or scrolls. Firefox reports no overflow for frames, which always clip.
  const isCut = style.overflowY !== "visible" || isFrameElement(element);
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

/** The background colour of the element's text; "" when it is an image and so unknown. */
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

/** The element's own background for `backgroundOf`; null when it is transparent. */
function ownBackgroundOf(element) {
  const style = styleOf(element);
  if (style.backgroundImage !== "none") return "";
  const colour = style.backgroundColor;
  return isTransparent(colour) ? null : colour;
}

/** Whether the element lies left of or above the page, where no scrolling reaches. */
function isBeforeStart(element, position) {
  const box = element.getBoundingClientRect();
  const view = element.ownerDocument.defaultView;
  if (view === null || (box.width === 0 && box.height === 0)) return false;
  if (position === "fixed") return box.right <= 0 || box.bottom <= 0;
  return box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0;
}
