// Whether a person could see what a walk comes by, asked top-down. The rules are those of `concealmentOf`; here it is
// only found out, with as few questions as possible, when they need not be asked.

/** Why nobody can see the element of a piece; "" when nothing speaks against it. `style` is the element's own. */
function concealmentIn(piece, style) {
  if (piece.concealed !== "") return piece.concealed;
  const { element } = piece;
  if (isPlainlyShown(element, style) && (!bearsText(element) || isReadable(piece, style))) return "";
  return concealmentOf(element);
}

/** Whether the element hides nothing of itself and of what is inside. */
function isPlainlyShown(element, style) {
  if (style.opacity !== "1" || style.clipPath !== "none" || style.clip !== "auto") return false;
  if (style.overflowX === "visible" && style.overflowY === "visible") return true;
  return element.offsetWidth > 1 && element.offsetHeight > 1;
}

/** Whether there is text right in the element, or it is a control. */
function bearsText(element) {
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === Node.TEXT_NODE && isInk(node.data)) return true;
  }
  return element.localName === "input";
}

/** Whether anything but blanks is in a text. */
function isInk(text) {
  const first = text.charCodeAt(0);
  if (first > 32 && first < 127) return true;
  return /\S/.test(text);
}

/** Whether the element's text can be read where it stands: large enough, on the page, not in the ground's colour. */
function isReadable(piece, style) {
  if (parseFloat(style.fontSize) < 1) return false;
  const indent = style.textIndent;
  if (indent !== "0px" && parseFloat(indent) < -500) return false;
  const box = boxOf(piece);
  if (box.width <= 1 || box.height <= 1 || box.right + piece.view.scrollX <= 0 || box.bottom + piece.view.scrollY <= 0) return false;
  const colour = style.webkitTextFillColor;
  return !colour.startsWith("rgba") && colour !== groundOf(piece);
}

/** The element's box, measured once in a walk. */
function boxOf(piece) {
  piece.box ??= piece.element.getBoundingClientRect();
  return piece.box;
}

/** The colour behind a piece. */
function groundOf(piece) {
  if (piece.ground !== null) return piece.ground;
  const colour = styleOf(piece.element).backgroundColor;
  // A picture behind is not asked for: it only ever makes text readable that this calls doubtful.
  if (colour !== "rgba(0, 0, 0, 0)") piece.ground = colour;
  else piece.ground = piece.parent === null ? groundAbove(piece.element) : groundOf(piece.parent);
  return piece.ground;
}

/** The colour behind an element that a walk starts from. */
function groundAbove(element) {
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const colour = styleOf(node).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
  return "rgb(255, 255, 255)";
}
