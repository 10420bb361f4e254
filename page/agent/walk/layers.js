// Scroll areas, and layers that cover the page.

/** Less is not worth scrolling, in pixels. */
const MIN_SCROLLED = 8;

/** Marks a piece that scrolls; adds a line for an element without one. Returns whether it scrolls. */
function markScrollable(piece, style, display) {
  const { element, node } = piece;
  if (piece.interactiveOnly || !isBlock(display) && node === null || element.localName === "html" || element.localName === "body") return false;
  const range = scrollRangeOf(element, style);
  if (range === "") return false;
  if (node === null) piece.node = nodeOf("region", "", keyOf(element), false, null);
  addState(piece.node, "scrollable", range);
  return true;
}

/** The visible part of an area that scrolls up and down, in pixels: `0-300/1200`; "" when it does not scroll. */
function scrollRangeOf(element, style) {
  const { scrollHeight, clientHeight } = element;
  if (clientHeight === 0 || scrollHeight < clientHeight + MIN_SCROLLED) return "";
  const { overflowY } = style;
  if (overflowY !== "auto" && overflowY !== "scroll") return "";
  const top = Math.round(element.scrollTop);
  return `${top}-${top + clientHeight}/${scrollHeight}`;
}

function addState(node, state, value) {
  node.extra = { ...node.extra, states: { ...node.extra?.states, [state]: value } };
}

/** Where a layer over the page is looked for, as parts of the viewport. */
const LAYER_POINTS = [[0.5, 0.5], [0.5, 0.9]];
/** Most controls that are checked for being covered. */
const CHECKED_CONTROLS = 40;

/** The element that lies over controls of the page, such as a cookie banner; null for none. */
function overlayOf(document, view) {
  for (const [x, y] of LAYER_POINTS) {
    const hit = document.elementFromPoint(view.width * x, view.height * y);
    const layer = hit === null ? null : layerOf(hit);
    if (layer !== null && coversControls(layer, document, view)) return layer;
  }
  return null;
}

/** The outermost element around `hit` that is taken out of the page and lies above it. */
function layerOf(hit) {
  let layer = null;
  for (let node = hit; node !== null && node.localName !== "body"; node = node.parentElement) {
    const style = styleOf(node);
    const { position } = style;
    if (position === "fixed" || (position === "absolute" && Number.parseInt(style.zIndex, 10) > 0)) layer = node;
  }
  return layer;
}

function coversControls(layer, document, view) {
  let checked = 0;
  for (const control of document.querySelectorAll(CONTROLS)) {
    if (layer.contains(control) || control.contains(layer)) continue;
    if (++checked > CHECKED_CONTROLS) return false;
    const box = plainBox(control);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (box.width === 0 || x < 0 || y < 0 || x > view.width || y > view.height) continue;
    const hit = document.elementFromPoint(x, y);
    if (hit !== null && layer.contains(hit)) return true;
  }
  return false;
}

/** Roles that say themselves that they lie over the page. */
const LAYER_ROLES = new Set(["alertdialog", "dialog", "listbox", "menu", "tooltip"]);

function markOverlay(piece) {
  if (piece.node === null) piece.node = nodeOf("overlay", "", keyOf(piece.element), false, null);
  else if (!LAYER_ROLES.has(piece.node.role)) addState(piece.node, "overlay", true);
}
