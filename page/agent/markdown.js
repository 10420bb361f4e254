// The page as Markdown: headings, lists, tables, code, quotes. Knows nothing of which part is worth reading.
//
// Nothing in it is live: text is escaped, pictures are told by their description without an address, and a link is
// `[text] (`address`)`, which no reader of Markdown turns into something that can be fetched or clicked.

const CONTROL_TAGS = new Set(["input", "select", "textarea", "datalist", "progress", "meter"]);
const BOILERPLATE_CELLS = 40;

/** What the writing of one answer shares. */
class Markdown {
  constructor(skips) {
    this.skips = skips ?? null;
    this.length = 0;
  }

  isFull() {
    return this.length > READ_CHARACTERS;
  }

  leavesOut(element) {
    return this.skips !== null && this.skips(element);
  }

  /** The blocks of what is below an element, each a text of one or more lines. */
  blocksOf(element, seen, gaze) {
    const blocks = new BlockList();
    eachSeen(element, seen, gaze, (node, of, below) => {
      if (this.isFull()) return;
      if (node.nodeType === Node.TEXT_NODE) blocks.addInline(this.textOf(node));
      else this.addElement(blocks, node, of, below);
    });
    return blocks.finish();
  }

  addElement(blocks, element, seen, gaze) {
    if (this.leavesOut(element)) return;
    if (isForeignFrame(element)) return blocks.add(frameMark(element));
    const block = this.blockOf(element, seen, gaze);
    if (block !== null) return blocks.add(block);
    const holdsBlocks = isFrameElement(element) || standsAlone(element) || element.localName === "slot" || hasBlocksInside(element);
    if (!holdsBlocks || pictureOf(element, seen) !== null) return blocks.addInline(this.inlineElement(element, seen, gaze));
    for (const inner of this.blocksOf(element, seen, gaze)) blocks.add(inner);
  }

  /** An element that is a block of a kind of its own; null when it is none. */
  blockOf(element, seen, gaze) {
    const level = headingLevelOf(element);
    if (level > 0) return this.headingOf(element, level, seen, gaze);
    switch (element.localName) {
      case "ul":
      case "ol":
      case "menu":
        return this.listOf(element, seen, gaze);
      case "table":
        return this.tableOf(element, seen, gaze);
      case "pre":
        return codeBlockOf(element, seen, gaze);
      case "blockquote":
        return prefixed(this.blocksOf(element, seen, gaze).join("\n\n"), "> ", "> ");
      case "hr":
        return "---";
      case "dt":
      case "summary":
        return emphasised("**", this.inlineOf(element, seen, gaze).trim());
      case "dd":
        return prefixed(this.blocksOf(element, seen, gaze).join("\n\n"), ": ", "  ");
      case "figcaption":
      case "caption":
        return emphasised("*", this.inlineOf(element, seen, gaze).trim());
      case "p":
        return this.paragraphOf(element, seen, gaze);
      default:
        return null;
    }
  }

  /** A paragraph; null when blocks stand in it after all. */
  paragraphOf(element, seen, gaze) {
    return hasBlocksInside(element) ? null : tidyParagraph(this.inlineOf(element, seen, gaze));
  }

  headingOf(element, level, seen, gaze) {
    const text = this.inlineOf(element, seen, gaze).replace(/\s+/g, " ").trim();
    return text === "" ? "" : `${"#".repeat(level)} ${text}`;
  }

  listOf(list, seen, gaze) {
    const items = [];
    let number = list.localName === "ol" ? (list.hasAttribute("start") ? list.start : 1) : 0;
    eachSeen(list, seen, gaze, (node, of, below) => {
      if (node.nodeType !== Node.ELEMENT_NODE || this.leavesOut(node) || this.isFull()) return;
      const isNested = LIST_TAGS.has(node.localName);
      if (list.localName === "ol" && node.localName === "li" && node.hasAttribute("value")) number = node.value;
      const blocks = isNested ? [this.listOf(node, of, below)] : this.blocksOf(node, of, below);
      const text = joinItem(blocks.filter((block) => block !== ""));
      if (text === "") return;
      const mark = isNested ? "  " : list.localName === "ol" ? `${number++}. ` : "- ";
      items.push(prefixed(`${tickBefore(node)}${text}`, mark, " ".repeat(mark.length)));
    });
    const text = items.join("\n");
    this.length += text.length;
    return text;
  }

  tableOf(table, seen, gaze) {
    const rows = tableKindOf(table) === "data" && table.querySelector("table") === null ? rowsOf(table) : [];
    const width = Math.max(0, ...rows.slice(0, 50).map((row) => row.cells.length));
    if (width < 2) return this.blocksOf(table, seen, gaze).join("\n\n");
    const lines = [];
    for (const row of rows) {
      if (this.isFull()) break;
      const line = this.rowOf(row, gaze);
      if (line === null) continue;
      lines.push(line);
      this.length += line.length;
      if (lines.length === 1) lines.push(`|${" --- |".repeat(Math.max(width, 1))}`);
    }
    const caption = table.caption && readingOf(table.caption, gaze) !== READ_NOTHING ? this.blockOf(table.caption, READ_ALL, gaze) : "";
    return caption === "" ? lines.join("\n") : `${caption}\n\n${lines.join("\n")}`;
  }

  /** One row as a line; null when nobody sees it. */
  rowOf(row, gaze) {
    const of = readingOf(row, gaze);
    if (of === READ_NOTHING) return null;
    const cells = [];
    for (const cell of row.cells) {
      const seen = readingOf(cell, gaze);
      const text = seen === READ_NOTHING ? "" : this.inlineOf(cell, seen, gaze);
      cells.push(text.replace(/\s+/g, " ").trim().replace(/\|/g, "\\|"));
      for (let spanned = 1; spanned < Math.min(cell.colSpan, BOILERPLATE_CELLS); spanned++) cells.push("");
    }
    return `| ${cells.join(" | ")} |`;
  }

  /** What is in an element as running text; blocks in it are set off by blanks. */
  inlineOf(element, seen, gaze) {
    let text = "";
    eachSeen(element, seen, gaze, (node, of, below) => {
      if (node.nodeType === Node.TEXT_NODE) text += this.textOf(node);
      else if (!this.leavesOut(node)) text += this.inlineElement(node, of, below);
    });
    return text;
  }

  inlineElement(element, seen, gaze) {
    if (isForeignFrame(element)) return ` ${frameMark(element)} `;
    if (CONTROL_TAGS.has(element.localName)) return controlText(element, seen);
    const picture = pictureOf(element, seen);
    if (picture !== null) return picture;
    switch (element.localName) {
      case "br":
        return "\n";
      case "b":
      case "strong":
        return emphasised("**", this.inlineOf(element, seen, gaze));
      case "i":
      case "em":
        return emphasised("*", this.inlineOf(element, seen, gaze));
      case "del":
      case "s":
        return emphasised("~~", this.inlineOf(element, seen, gaze));
      case "code":
      case "kbd":
      case "samp":
        return codeSpan(seenLine(element, seen, gaze));
      case "a":
        return linkOf(element, this.inlineOf(element, seen, gaze));
      case "math":
        return mathOf(element) ?? this.inlineOf(element, seen, gaze);
      default:
        return standsAlone(element) || displayOf(element) === "inline-block" ? ` ${this.inlineOf(element, seen, gaze)} ` : this.inlineOf(element, seen, gaze);
    }
  }

  textOf(node) {
    const text = escapeMarkdown(plainText(node.data).replace(/[\s\u00a0]+/g, " "));
    this.length += text.length;
    return text;
  }
}

/** Blocks one after the other, with the running text between them made into paragraphs. */
class BlockList {
  constructor() {
    this.blocks = [];
    this.run = "";
  }

  addInline(text) {
    this.run += text;
  }

  add(block) {
    this.flush();
    if (block !== "") this.blocks.push(block);
  }

  flush() {
    const text = tidyParagraph(this.run);
    if (text !== "") this.blocks.push(text);
    this.run = "";
  }

  finish() {
    this.flush();
    return this.blocks;
  }
}

/** The document, or the element that is meant, as Markdown. */
agent.readMarkdown = (request) => readFrom(request, (root, seen, gaze) => {
  const chosen = request.main === true && request.key === undefined ? mainContent(root) : null;
  const start = chosen === null ? { root, seen, gaze } : { root: chosen.root, seen: readingOf(chosen.root, new Gaze()), gaze: new Gaze() };
  const markdown = new Markdown(chosen?.skips);
  const blocks = new BlockList();
  if (chosen?.heading) markdown.addElement(blocks, chosen.heading, READ_ALL, new Gaze());
  if (start.seen !== READ_NOTHING) {
    if (start.root === document.body) for (const block of markdown.blocksOf(start.root, start.seen, start.gaze)) blocks.add(block);
    else markdown.addElement(blocks, start.root, start.seen, start.gaze);
  }
  const text = blocks.finish().join("\n\n");
  return { url: location.href, title: document.title, text: text.slice(0, READ_CHARACTERS), length: text.length, part: request.key !== undefined ? "element" : chosen === null ? "page" : "main" };
});
