// The page's visible text in lines, as copied by a user.

const PARAGRAPH_TAGS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "figure"]);

/** Collects text and folds spaces and line breaks as rendering does. */
class TextWriter {
  constructor() {
    this.pieces = [];
    this.length = 0;
    this.breaks = 0;
    this.gap = "";
    this.isEmpty = true;
  }

  /** Requests at least `count` line breaks before the next text. */
  breakLine(count) {
    this.breaks = Math.max(this.breaks, count);
    this.gap = "";
  }

  add(text, keepsSpace) {
    if (keepsSpace) return this.addLines(text);
    const words = text.replace(/[\s\u00a0]+/g, " ");
    if (words === "") return;
    const trimmed = words.trim();
    if (words[0] === " ") this.blank();
    if (trimmed === "") return;
    this.put(trimmed);
    if (words.endsWith(" ")) this.blank();
  }

  addLines(text) {
    if (text !== "") this.put(text);
  }

  blank() {
    if (this.breaks === 0 && !this.isEmpty && this.gap === "") this.gap = " ";
  }

  /** Separates table cells. */
  tab() {
    if (!this.isEmpty && this.breaks === 0) this.gap = "\t";
  }

  put(text) {
    if (this.isEmpty) this.isEmpty = false;
    else this.push(this.breaks > 0 ? "\n".repeat(this.breaks) : this.gap);
    this.breaks = 0;
    this.gap = "";
    this.push(text);
  }

  push(text) {
    if (this.length < MAX_READ_CHARACTERS) this.pieces.push(text);
    this.length += text.length;
  }

  text() {
    return this.pieces.join("");
  }
}

function keepsSpace(style) {
  const collapse = style.whiteSpaceCollapse;
  return collapse === "preserve" || collapse === "break-spaces" || collapse === "preserve-breaks";
}

/** Whether the element is laid out as a block. */
function isBlockLevel(element) {
  const display = displayOf(element);
  return !(display.startsWith("inline") || display === "contents" || display.startsWith("ruby") || display === "table-cell" || display === "none");
}

function writeText(element, seen, depth, writer) {
  if (writer.length > MAX_READ_CHARACTERS * 2) return;
  switch (element.localName) {
    case "br":
      writer.breakLine(Math.min(writer.breaks + 1, 2));
      return;
    case "textarea":
      return;
    case "input":
      if (seen === READ_ALL && element.matches(BUTTON_INPUTS)) writer.add(` ${plainText(element.value)} `, false);
      return;
    case "select":
      if (seen === READ_ALL) writer.add(` ${plainText(chosenTextOf(element) ?? "")} `, false);
      return;
    default:
  }
  const alone = isBlockLevel(element);
  const breaks = PARAGRAPH_TAGS.has(element.localName) ? 2 : 1;
  if (alone) writer.breakLine(breaks);
  else if (displayOf(element) === "table-cell") writer.tab();
  else if (displayOf(element) === "inline-block") writer.blank();
  if (isCrossOriginFrame(element)) {
    writer.breakLine(1);
    writer.put(framePlaceholder(element));
    writer.breakLine(1);
    return;
  }
  let keeps = null;
  eachVisible(element, seen, depth, (node, of, below) => {
    if (node.nodeType === Node.TEXT_NODE) writer.add(plainText(node.data), (keeps ??= keepsSpace(styleOf(element))));
    else writeText(node, of, below, writer);
  });
  if (alone) writer.breakLine(breaks);
  else if (displayOf(element) === "inline-block") writer.blank();
}

/** The visible text of an element in one line. */
function visibleLine(element, seen, depth) {
  const writer = new TextWriter();
  writeText(element, seen, depth, writer);
  return writer.text().replace(/\s+/g, " ").trim();
}

/** The visible text of the document or of one element. */
agent.readText = (request) => readFrom(request, (root, seen, depth) => {
  const writer = new TextWriter();
  if (seen !== READ_NOTHING) writeText(root, seen, depth, writer);
  return { url: location.href, title: document.title, text: writer.text().slice(0, MAX_READ_CHARACTERS), length: writer.length };
});

const INVISIBLE_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Visible text without invisible characters, spaces folded. */
function readableText(text) {
  return text
    .replace(INVISIBLE_CHARACTERS, "")
    .replace(/[ \t\u00a0]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

agent.outline = ({ limit }) => {
  const text = readableText(document.body ? document.body.innerText : "");
  const letters = text.length > limit ? Array.from(text.slice(0, limit * 2)) : null;
  return {
    url: location.href,
    title: document.title,
    text: letters === null ? text : letters.slice(0, limit).join(""),
    truncated: letters !== null && letters.length > limit,
  };
};
