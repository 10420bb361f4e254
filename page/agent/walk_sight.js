// Whether a person could see what a walk comes by, asked top-down. The rules are those of `concealmentOf`, and a few
// stricter ones; most of the work is to find out, with few questions, that none of them applies.

/** Text smaller than this is not read by anybody. */
const SMALLEST_FONT = 3;
/** Colours that differ by no more than this in each of red, green and blue cannot be told apart. */
const FAINT = 10;

/** Why nobody can see the element of a piece or what is inside; "" when nothing speaks against it. */
function concealmentIn(piece, style, display) {
  if (piece.concealed !== "" || isPlainlyShown(piece.element, style, display)) return piece.concealed;
  const reason = concealmentOf(piece.element);
  if (reason === "screen-reader-only") return isScreenReaderBox(piece, style) ? reason : "clipped";
  if (reason === "opacity" || reason === "clipped") return reason;
  return /opacity\(0(\.0\d*)?%?\)/.test(style.filter) && display !== "contents" ? "opacity" : "";
}

/** Why nobody can read the text right in the element of a piece; "" when it can be read, or there is none. */
function unreadabilityIn(piece, style, display) {
  if (isReadable(piece, style, display) || !bearsText(piece.element) || display === "contents") return "";
  const reason = concealmentOf(piece.element);
  if (reason !== "" && reason !== "screen-reader-only") return reason;
  if (parseFloat(style.fontSize) < SMALLEST_FONT) return "font-size";
  if (isShrunk(piece)) return "clipped";
  return isFaint(piece, style) ? "colour" : "";
}

/** Whether the element hides nothing of itself and of what is inside. */
function isPlainlyShown(element, style, display) {
  if (style.opacity !== "1" || style.clipPath !== "none" || style.filter !== "none") return false;
  if (isStretch(element, display)) return true;
  if (style.clip !== "auto") return false;
  if (style.overflow === "visible") return true;
  return element.offsetWidth > 1 && element.offsetHeight > 1;
}

/**
 * Whether the element is a stretch of a line: it has no box that could cut off, and where the line is moved, its box is
 * moved too. Of others that call themselves inline some are boxes all the same, a fieldset for one.
 */
function isStretch(element, display) {
  return display === "inline" && INLINE_TAGS.has(element.localName) && element.namespaceURI === HTML_NAMESPACE;
}

/** Whether there is text right in the element, or it is a control. */
function bearsText(element) {
  return hasOwnText(element) || element.localName === "input";
}

/** Whether anything but blanks is in a text. */
function isInk(text) {
  const first = text.charCodeAt(0);
  if (first > 32 && first < 127) return true;
  if (first === 10 && text.length === 1) return false;
  return /\S/.test(text);
}

/** Whether the element's text can be read where it stands: large enough, on the page, not in the ground's colour. */
function isReadable(piece, style, display) {
  if (parseFloat(style.fontSize) < SMALLEST_FONT) return false;
  const indent = isStretch(piece.element, display) ? "0px" : style.textIndent;
  if (indent !== "0px" && parseFloat(indent) < -500) return false;
  const box = boxOf(piece);
  if (box.width <= 1 || box.height <= 1 || box.right + piece.view.scrollX <= 0 || box.bottom + piece.view.scrollY <= 0) return false;
  const colour = style.webkitTextFillColor;
  return colour.startsWith("rgb(") && !areAlikeColours(colour, groundOf(piece));
}

/** Whether the text itself has no size, such as in something scaled down to nothing. */
function isShrunk(piece) {
  const box = boxOf(piece);
  if (box.width > 0 && box.height > 0) return false;
  const range = piece.element.ownerDocument.createRange();
  range.selectNodeContents(piece.element);
  const text = range.getBoundingClientRect();
  return text.width === 0 || text.height === 0;
}

/** Whether text that is clipped away is so in the way that is meant for screen readers, and not merely hidden. */
function isScreenReaderBox(piece, style) {
  const box = boxOf(piece);
  return (box.width <= 2 && box.height <= 2) || (style.clip !== "auto" && style.position === "absolute");
}

/** Whether text has nearly the colour of a plain ground. */
function isFaint(piece, style) {
  if (style.textShadow !== "none" || style.webkitBackgroundClip === "text") return false;
  for (let at = piece; at !== null; at = at.parent) {
    const behind = styleOf(at.element);
    if (behind.backgroundImage !== "none") return false;
    if (behind.backgroundColor !== "rgba(0, 0, 0, 0)") break;
  }
  return areAlikeColours(style.webkitTextFillColor, groundOf(piece));
}

/** Colours that were compared and found to differ, by the first: most text of a page has one of a few pairs. */
const toldApart = new Map();
let pairsToldApart = 0;
const PAIRS_KEPT = 256;
/** The pair that was told apart last: neighbours are mostly alike. */
let lastInk = "";
let lastGround = "";

/** Whether two opaque colours cannot be told apart. */
function areAlikeColours(first, second) {
  if (first === lastInk && second === lastGround) return false;
  if (toldApart.get(first)?.has(second) === true) {
    lastInk = first;
    lastGround = second;
    return false;
  }
  if (first === second || areNearColours(first, second)) return true;
  if (++pairsToldApart > PAIRS_KEPT) {
    toldApart.clear();
    pairsToldApart = 1;
  }
  const others = toldApart.get(first);
  if (others === undefined) toldApart.set(first, new Set([second]));
  else others.add(second);
  return false;
}

function areNearColours(first, second) {
  if (!first.startsWith("rgb(") || !second.startsWith("rgb(")) return false;
  const parts = second.slice(4).split(",");
  return first.slice(4).split(",").every((part, at) => Math.abs(parseFloat(part) - parseFloat(parts[at])) <= FAINT);
}

/** The element's box, measured once in a walk. */
function boxOf(piece) {
  piece.box ??= plainBox(piece.element);
  return piece.box;
}

/** An element's box as plain numbers: each is asked for several times, and the browser's own object answers slowly. */
function plainBox(element) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height };
}

/** The colour behind a piece. Pictures are not asked for: they only ever make readable what this calls doubtful. */
function groundOf(piece) {
  if (piece.ground !== null) return piece.ground;
  const colour = styleOf(piece.element).backgroundColor;
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
  return isDark(document) ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
}

/** Whether a page that says nothing about its ground has a dark one. */
function isDark(document) {
  const schemes = styleOf(document.documentElement).colorScheme;
  if (!schemes.includes("dark")) return false;
  return !schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Whether something that its author hid from screen readers only is worth telling: people see it.
 *
 * Not so where it stands beside the words meant for screen readers, which say the same, and not behind a dialog.
 */
function isSeenThoughUnspoken(element, isBehindDialog) {
  if (element.getAttribute("aria-hidden") !== "true" || element.inert || isBehindDialog) return false;
  for (const beside of [element.previousElementSibling, element.nextElementSibling]) {
    if (beside !== null && concealmentOf(beside) === "screen-reader-only") return false;
  }
  const style = styleOf(element);
  return style.display !== "none" && style.visibility === "visible" && style.contentVisibility !== "hidden";
}

/** Whether a text says something in words or numbers, rather than being a sign. */
function isWords(text) {
  return /\p{L}{2}|\p{N}/u.test(text);
}

/** Takes away the texts that an empty, opaque element is laid over: those of its parent and of what stands before it. */
function coverTexts(piece, style) {
  const { parent } = piece;
  if (parent === null || (style.position !== "absolute" && style.position !== "fixed")) return;
  if (!style.backgroundColor.startsWith("rgb(") || style.opacity !== "1" || Number.parseInt(style.zIndex, 10) < 0) return;
  const cover = boxOf(piece);
  if (contains(cover, boxOf(parent))) parent.parts = parent.parts.map((part) => (typeof part === "string" ? " " : part));
  for (const part of parent.parts) {
    if (part === piece) break;
    if (typeof part !== "string" && contains(cover, boxOf(part))) part.isCovered = true;
  }
}

function contains(outer, inner) {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
}
