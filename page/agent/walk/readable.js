// Whether text that a walk reaches is visible, checked top-down. Same rules as `invisibleReasonOf`, and a few stricter
// ones. Most code here proves with few style reads that no rule applies.

/** Smaller text is unreadable. */
const MIN_FONT_SIZE = 3;
/** Colours that differ by at most this in red, green and blue look the same. */
const COLOUR_TOLERANCE = 10;

/** Why the element of a piece and its content are invisible, or "". */
function invisibleReasonIn(piece, style, display) {
  if (piece.concealed !== "" || hidesNothing(piece.element, style, display)) return piece.concealed;
  const reason = invisibleReasonOf(piece.element);
  if (reason === "screen-reader-only") return isScreenReaderBox(piece, style) ? reason : "clipped";
  if (reason === "opacity" || reason === "clipped") return reason;
  return /opacity\(0(\.0\d*)?%?\)/.test(style.filter) && display !== "contents" ? "opacity" : "";
}

/** Why the text directly in the element is unreadable, or "". */
function unreadabilityIn(piece, style, display) {
  if (isReadable(piece, style, display) || !containsText(piece.element) || display === "contents") return "";
  const reason = invisibleReasonOf(piece.element);
  if (reason !== "" && reason !== "screen-reader-only") return reason;
  if (parseFloat(style.fontSize) < MIN_FONT_SIZE) return "font-size";
  if (isShrunk(piece)) return "clipped";
  return hasLowContrast(piece, style) ? "colour" : "";
}

/** Whether no style hides the element or its content. */
function hidesNothing(element, style, display) {
  if (style.opacity !== "1" || style.clipPath !== "none" || style.filter !== "none") return false;
  if (isInlineText(element, display)) return true;
  if (style.clip !== "auto") return false;
  // Firefox reports no overflow for frames, which always clip.
  if (style.overflow === "visible" && !isFrameElement(element)) return true;
  return element.offsetWidth > 1 && element.offsetHeight > 1;
}

/**
 * Whether the element is part of a line: it has no box that could clip, and its box moves with the line. Some elements
 * with `display: inline` are boxes nevertheless, such as a fieldset.
 */
function isInlineText(element, display) {
  return display === "inline" && INLINE_TAGS.has(element.localName) && element.namespaceURI === HTML_NAMESPACE;
}

/** Whether the element directly contains text, or is an input. */
function containsText(element) {
  return hasOwnText(element) || element.localName === "input";
}

/** Whether a text contains anything but whitespace. */
function hasNonSpace(text) {
  const first = text.charCodeAt(0);
  if (first > 32 && first < 127) return true;
  if (first === 10 && text.length === 1) return false;
  return /\S/.test(text);
}

/** Whether the text is large enough, on the page, and differs in colour from its background. */
function isReadable(piece, style, display) {
  if (parseFloat(style.fontSize) < MIN_FONT_SIZE) return false;
  const indent = isInlineText(piece.element, display) ? "0px" : style.textIndent;
  if (indent !== "0px" && parseFloat(indent) < -500) return false;
  const box = boxOf(piece);
  if (box.width <= 1 || box.height <= 1 || box.right + piece.view.scrollX <= 0 || box.bottom + piece.view.scrollY <= 0) return false;
  const colour = style.webkitTextFillColor;
  return colour.startsWith("rgb(") && !lookSame(colour, backgroundUnder(piece));
}

/** Whether the text itself has no size, for instance because it is scaled to zero. */
function isShrunk(piece) {
  const box = boxOf(piece);
  if (box.width > 0 && box.height > 0) return false;
  const range = piece.element.ownerDocument.createRange();
  range.selectNodeContents(piece.element);
  const text = range.getBoundingClientRect();
  return text.width === 0 || text.height === 0;
}

/** Whether clipped text follows a screen-reader-only pattern. */
function isScreenReaderBox(piece, style) {
  const box = boxOf(piece);
  return (box.width <= 2 && box.height <= 2) || (style.clip !== "auto" && style.position === "absolute");
}

/** Whether the text has nearly the colour of a plain background. */
function hasLowContrast(piece, style) {
  if (style.textShadow !== "none" || style.webkitBackgroundClip === "text") return false;
  for (let at = piece; at !== null; at = at.parent) {
    const behind = styleOf(at.element);
    if (behind.backgroundImage !== "none") return false;
    if (behind.backgroundColor !== "rgba(0, 0, 0, 0)") break;
  }
  return lookSame(style.webkitTextFillColor, backgroundUnder(piece));
}

/** Pairs of colours known to differ, by the first. Most text of a page uses a few pairs. */
const distinctColours = new Map();
let distinctPairs = 0;
const MAX_DISTINCT_PAIRS = 256;
/** The last pair: neighbours mostly use the same one. */
let lastTextColour = "";
let lastBackground = "";

/** Whether two opaque colours look the same. */
function lookSame(first, second) {
  if (first === lastTextColour && second === lastBackground) return false;
  if (distinctColours.get(first)?.has(second) === true) {
    lastTextColour = first;
    lastBackground = second;
    return false;
  }
  if (first === second || areNearColours(first, second)) return true;
  if (++distinctPairs > MAX_DISTINCT_PAIRS) {
    distinctColours.clear();
    distinctPairs = 1;
  }
  const others = distinctColours.get(first);
  if (others === undefined) distinctColours.set(first, new Set([second]));
  else others.add(second);
  return false;
}

function areNearColours(first, second) {
  if (!first.startsWith("rgb(") || !second.startsWith("rgb(")) return false;
  const parts = second.slice(4).split(",");
  return first.slice(4).split(",").every((part, at) => Math.abs(parseFloat(part) - parseFloat(parts[at])) <= COLOUR_TOLERANCE);
}

/** The element's box, measured once per walk. */
function boxOf(piece) {
  piece.box ??= plainBox(piece.element);
  return piece.box;
}

/** An element's box as plain numbers; reading a DOMRect several times is slow. */
function plainBox(element) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height };
}

/**
 * The background colour of a piece. Ignores images: they could only make text readable that this reports as doubtful.
 */
function backgroundUnder(piece) {
  if (piece.ground !== null) return piece.ground;
  const colour = styleOf(piece.element).backgroundColor;
  if (colour !== "rgba(0, 0, 0, 0)") piece.ground = colour;
  else piece.ground = piece.parent === null ? backgroundAbove(piece.element) : backgroundUnder(piece.parent);
  return piece.ground;
}

/** The background colour above the start element. */
function backgroundAbove(element) {
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const colour = styleOf(node).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)") return colour;
  }
  return isDark(document) ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
}

/** Whether the default background of the page is dark. */
function isDark(document) {
  const schemes = styleOf(document.documentElement).colorScheme;
  if (!schemes.includes("dark")) return false;
  return !schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Whether an element with aria-hidden gets a line because it is visible.
 *
 * Not beside text for screen readers, which says the same, and not behind a dialog.
 */
function isVisibleThoughAriaHidden(element, isBehindDialog) {
  if (element.getAttribute("aria-hidden") !== "true" || element.inert || isBehindDialog) return false;
  for (const beside of [element.previousElementSibling, element.nextElementSibling]) {
    if (beside !== null && invisibleReasonOf(beside) === "screen-reader-only") return false;
  }
  const style = styleOf(element);
  return style.display !== "none" && style.visibility === "visible" && style.contentVisibility !== "hidden";
}

/** Whether a text contains words or numbers, not only symbols. */
function hasWords(text) {
  return /\p{L}{2}|\p{N}/u.test(text);
}

/** Blanks the texts under an empty, opaque element: those of its parent and of its earlier siblings. */
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
