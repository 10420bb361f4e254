// The page's visible text in lines, as a person would copy it. Knows nothing of Markdown or HTML.

const PARAGRAPH_TAGS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "figure"]);

/** Gathers text; blanks and line breaks are drawn together as on the screen. */
class TextWriter {
  constructor() {
    this.pieces = [];
    this.length = 0;
    this.breaks = 0;
    this.gap = "";
    this.isEmpty = true;
  }

  /** Asks for at least so many line breaks before what follows. */
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

  /** Sets the next cell of a row off. */
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
    if (this.length < READ_CHARACTERS) this.pieces.push(text);
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

/** Whether the element stands on lines of its own. */
function standsAlone(element) {
  const display = displayOf(element);
  return !(display.startsWith("inline") || display === "contents" || display.startsWith("ruby") || display === "table-cell" || display === "none");
}

function writeText(element, seen, gaze, writer) {
  if (writer.length > READ_CHARACTERS * 2) return;
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
  const alone = standsAlone(element);
  const breaks = PARAGRAPH_TAGS.has(element.localName) ? 2 : 1;
  if (alone) writer.breakLine(breaks);
  else if (displayOf(element) === "table-cell") writer.tab();
  else if (displayOf(element) === "inline-block") writer.blank();
  if (isForeignFrame(element)) {
    writer.breakLine(1);
    writer.put(frameMark(element));
    writer.breakLine(1);
    return;
  }
  let keeps = null;
  eachSeen(element, seen, gaze, (node, of, below) => {
    if (node.nodeType === Node.TEXT_NODE) writer.add(plainText(node.data), (keeps ??= keepsSpace(styleOf(element))));
    else writeText(node, of, below, writer);
  });
  if (alone) writer.breakLine(breaks);
  else if (displayOf(element) === "inline-block") writer.blank();
}

/** The visible text of an element on its own, in one line. */
function seenLine(element, seen, gaze) {
  const writer = new TextWriter();
  writeText(element, seen, gaze, writer);
  return writer.text().replace(/\s+/g, " ").trim();
}

/** The visible text of the document, or of the element that is meant. */
agent.readText = (request) => readFrom(request, (root, seen, gaze) => {
  const writer = new TextWriter();
  if (seen !== READ_NOTHING) writeText(root, seen, gaze, writer);
  return { url: location.href, title: document.title, text: writer.text().slice(0, READ_CHARACTERS), length: writer.length };
});
