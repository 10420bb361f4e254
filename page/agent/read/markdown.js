// The page as Markdown: headings, lists, tables, code, quotes.
//
// The output is inert: text is escaped, an image is its description without a URL, and a link is `[text] (`url`)`,
// which Markdown renderers neither fetch nor make clickable.

const CONTROL_TAGS = new Set(["input", "select", "textarea", "datalist", "progress", "meter"]);
const BOILERPLATE_CELLS = 40;

/** State shared while one document is converted. */
class Markdown {
  constructor(skips) {
    this.skips = skips ?? null;
    this.length = 0;
  }

  isFull() {
    return this.length > MAX_READ_CHARACTERS;
  }

  leavesOut(element) {
    return this.skips !== null && this.skips(element);
  }

  /** The blocks of an element's content, each one or more lines. */
  blocksOf(element, seen, depth) {
    const blocks = new BlockList();
    eachVisible(element, seen, depth, (node, of, below) => {
      if (this.isFull()) return;
      if (node.nodeType === Node.TEXT_NODE) blocks.addInline(this.textOf(node));
      else this.addElement(blocks, node, of, below);
    });
    return blocks.finish();
  }

  addElement(blocks, element, seen, depth) {
    if (this.leavesOut(element)) return;
    if (isCrossOriginFrame(element)) return blocks.add(framePlaceholder(element));
    const block = this.blockOf(element, seen, depth);
    if (block !== null) return blocks.add(block);
    const holdsBlocks = isFrameElement(element) || isBlockLevel(element) || element.localName === "slot" || hasBlocksInside(element);
    if (!holdsBlocks || imageText(element, seen) !== null) return blocks.addInline(this.inlineElement(element, seen, depth));
    for (const inner of this.blocksOf(element, seen, depth)) blocks.add(inner);
  }

  /** The block for an element with its own Markdown syntax; null for others. */
  blockOf(element, seen, depth) {
    const level = headingLevelOf(element);
    if (level > 0) return this.headingOf(element, level, seen, depth);
    switch (element.localName) {
      case "ul":
      case "ol":
      case "menu":
        return this.listOf(element, seen, depth);
      case "table":
        return this.tableOf(element, seen, depth);
      case "pre":
        return codeBlockOf(element, seen, depth);
      case "blockquote":
        return prefixed(this.blocksOf(element, seen, depth).join("\n\n"), "> ", "> ");
      case "hr":
        return "---";
      case "dt":
      case "summary":
        return emphasised("**", this.inlineOf(element, seen, depth).trim());
      case "dd":
        return prefixed(this.blocksOf(element, seen, depth).join("\n\n"), ": ", "  ");
      case "figcaption":
      case "caption":
        return emphasised("*", this.inlineOf(element, seen, depth).trim());
      case "p":
        return this.paragraphOf(element, seen, depth);
      default:
        return null;
    }
  }

  /** A paragraph; null when it contains blocks. */
  paragraphOf(element, seen, depth) {
    return hasBlocksInside(element) ? null : tidyParagraph(this.inlineOf(element, seen, depth));
  }

  headingOf(element, level, seen, depth) {
    const text = this.inlineOf(element, seen, depth).replace(/\s+/g, " ").trim();
    return text === "" ? "" : `${"#".repeat(level)} ${text}`;
  }

  listOf(list, seen, depth) {
    const items = [];
    let number = list.localName === "ol" ? (list.hasAttribute("start") ? list.start : 1) : 0;
    eachVisible(list, seen, depth, (node, of, below) => {
      if (node.nodeType !== Node.ELEMENT_NODE || this.leavesOut(node) || this.isFull()) return;
      const isNested = LIST_TAGS.has(node.localName);
      if (list.localName === "ol" && node.localName === "li" && node.hasAttribute("value")) number = node.value;
      const blocks = isNested ? [this.listOf(node, of, below)] : this.blocksOf(node, of, below);
      const text = joinItem(blocks.filter((block) => block !== ""));
      if (text === "") return;
      const mark = isNested ? "  " : list.localName === "ol" ? `${number++}. ` : "- ";
      items.push(prefixed(`${checkboxMark(node)}${text}`, mark, " ".repeat(mark.length)));
    });
    const text = items.join("\n");
    this.length += text.length;
    return text;
  }

  tableOf(table, seen, depth) {
    const rows = tableKindOf(table) === "data" && table.querySelector("table") === null ? rowsOf(table) : [];
    const width = Math.max(0, ...rows.slice(0, 50).map((row) => row.cells.length));
    if (width < 2) return this.blocksOf(table, seen, depth).join("\n\n");
    const lines = [];
    for (const row of rows) {
      if (this.isFull()) break;
      const line = this.rowOf(row, depth);
      if (line === null) continue;
      lines.push(line);
      this.length += line.length;
      if (lines.length === 1) lines.push(`|${" --- |".repeat(Math.max(width, 1))}`);
    }
    const caption = table.caption && readLevelOf(table.caption, depth) !== READ_NOTHING ? this.blockOf(table.caption, READ_ALL, depth) : "";
    return caption === "" ? lines.join("\n") : `${caption}\n\n${lines.join("\n")}`;
  }

  /** A table row as a line; null when it is invisible. */
  rowOf(row, depth) {
    const of = readLevelOf(row, depth);
    if (of === READ_NOTHING) return null;
    const cells = [];
    for (const cell of row.cells) {
      const seen = readLevelOf(cell, depth);
      const text = seen === READ_NOTHING ? "" : this.inlineOf(cell, seen, depth);
      cells.push(text.replace(/\s+/g, " ").trim().replace(/\|/g, "\\|"));
      for (let spanned = 1; spanned < Math.min(cell.colSpan, BOILERPLATE_CELLS); spanned++) cells.push("");
    }
    return `| ${cells.join(" | ")} |`;
  }

  /** An element's content as inline text; blocks in it are separated by spaces. */
  inlineOf(element, seen, depth) {
    let text = "";
    eachVisible(element, seen, depth, (node, of, below) => {
      if (node.nodeType === Node.TEXT_NODE) text += this.textOf(node);
      else if (!this.leavesOut(node)) text += this.inlineElement(node, of, below);
    });
    return text;
  }

  inlineElement(element, seen, depth) {
    if (isCrossOriginFrame(element)) return ` ${framePlaceholder(element)} `;
    if (CONTROL_TAGS.has(element.localName)) return controlText(element, seen);
    const image = imageText(element, seen);
    if (image !== null) return image;
    switch (element.localName) {
      case "br":
        return "\n";
      case "b":
      case "strong":
        return emphasised("**", this.inlineOf(element, seen, depth));
      case "i":
      case "em":
        return emphasised("*", this.inlineOf(element, seen, depth));
      case "del":
      case "s":
        return emphasised("~~", this.inlineOf(element, seen, depth));
      case "code":
      case "kbd":
      case "samp":
        return codeSpan(visibleLine(element, seen, depth));
      case "a":
        return linkOf(element, this.inlineOf(element, seen, depth));
      case "math":
        return mathOf(element) ?? this.inlineOf(element, seen, depth);
      default:
        return isBlockLevel(element) || displayOf(element) === "inline-block" ? ` ${this.inlineOf(element, seen, depth)} ` : this.inlineOf(element, seen, depth);
    }
  }

  textOf(node) {
    const text = escapeMarkdown(plainText(node.data).replace(/[\s\u00a0]+/g, " "));
    this.length += text.length;
    return text;
  }
}

/** Collects blocks and turns inline text between them into paragraphs. */
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

/** The document or one element as Markdown. */
agent.readMarkdown = (request) => readFrom(request, (root, seen, depth) => {
  const chosen = request.main === true && request.key === undefined ? mainContent(root) : null;
  const start = chosen === null ? { root, seen, depth } : { root: chosen.root, seen: readLevelOf(chosen.root, 0), depth: 0 };
  const markdown = new Markdown(chosen?.skips);
  const blocks = new BlockList();
  if (chosen?.heading) markdown.addElement(blocks, chosen.heading, READ_ALL, 0);
  if (start.seen !== READ_NOTHING) {
    if (start.root === document.body) for (const block of markdown.blocksOf(start.root, start.seen, start.depth)) blocks.add(block);
    else markdown.addElement(blocks, start.root, start.seen, start.depth);
  }
  const text = blocks.finish().join("\n\n");
  return { url: location.href, title: document.title, text: text.slice(0, MAX_READ_CHARACTERS), length: text.length, part: request.key !== undefined ? "element" : chosen === null ? "page" : "main" };
});
