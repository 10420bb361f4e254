// Inline Markdown: escapes, links, images, code.

/** Escapes Markdown syntax in text. */
function escapeMarkdown(text) {
  return text.replace(/[\\`*[\]]|<(?=[a-zA-Z/!?])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~(?=~)/gu, "\\$&");
}

/** Folds the spaces of a paragraph and escapes block syntax at line starts. */
function tidyParagraph(text) {
  const lines = text.split("\n").map((line) => line.replace(/[ \t]+/g, " ").trim()).filter((line) => line !== "");
  return lines.map((line) => line.replace(/^(#{1,6}(?= |$)|[-+](?= |$)|>|={2,}$|-{2,}$|\|)/, "\\$1").replace(/^(\d{1,9})([.)])(?= |$)/, "$1\\$2")).join("\n");
}

/** Puts marks around a text, inside its outer spaces. */
function emphasised(mark, text) {
  const inner = text.trim();
  if (inner === "" || inner.includes("\n")) return text;
  const start = text.slice(0, text.length - text.trimStart().length);
  const end = text.slice(text.trimEnd().length);
  return `${start}${mark}${inner}${mark}${end}`;
}

/** Prefixes the first line and the other lines. */
function prefixed(text, first, rest) {
  if (text === "") return "";
  return text.split("\n").map((line, at) => (at === 0 ? first + line : line === "" && rest.trim() === "" ? "" : (rest + line).trimEnd())).join("\n");
}

/** Joins the blocks of an item: a list directly below its text, other blocks after an empty line. */
function joinItem(blocks) {
  return blocks.reduce((text, block) => (text === "" ? block : `${text}${/^(- |\d+\. )/.test(block) ? "\n" : "\n\n"}${block}`), "");
}

/** `[x]` or `[ ]` for an item that starts with a checkbox. */
function checkboxMark(item) {
  const box = item.querySelector(":scope > input[type=checkbox], :scope > label > input[type=checkbox], :scope > p > input[type=checkbox]");
  return box === null ? "" : box.checked ? "[x] " : "[ ] ";
}

/** Inline code, with more backticks around it than inside. */
function codeSpan(text) {
  if (text === "") return "";
  const ticks = "`".repeat(1 + longestTicks(text));
  const gap = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${ticks}${gap}${text}${gap}${ticks}`;
}

function longestTicks(text) {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** An inert link: its text, and its URL as code. */
function linkOf(anchor, inner) {
  const text = inner.trim();
  const href = typeof anchor.href === "string" ? anchor.href : (anchor.href?.baseVal ?? "");
  if (text === "" || href === "" || href.startsWith("javascript:")) return inner;
  const length = ownOriginLength(href, location.origin);
  const address = urlText(length > 0 ? href.slice(length) : href);
  return inner.replace(text, () => `[${text.replace(/\s+/g, " ")}] (\`${address}\`)`);
}

/** A URL without characters that would end the code span. */
function urlText(href) {
  const short = href.startsWith("data:") ? `${href.slice(0, 30)}…` : shorten(href, 500);
  return plainText(short).replace(/[`\s|<>\\]/g, (letter) => encodeURIComponent(letter).replace("`", "%60"));
}

/** An image as its description; "" without one, null when the element is not an image. */
function imageText(element, seen) {
  const name = element.localName;
  if (name !== "img" && name !== "svg" && name !== "video" && name !== "audio" && element.getAttribute("role") !== "img") return null;
  if (seen !== READ_ALL || (name === "svg" && element.querySelector("text, foreignObject") !== null)) return name === "svg" ? null : "";
  const description = foldText(plainText(name === "img" ? (element.alt || nameOf(element)) : nameOf(element)));
  if (description === "") return "";
  const kind = name === "video" || name === "audio" ? name : "image";
  return ` (${kind}: ${escapeMarkdown(shorten(description, 300))}) `;
}

function controlText(element, seen) {
  return seen === READ_ALL && element.localName === "input" && element.matches(BUTTON_INPUTS) ? ` ${escapeMarkdown(foldText(plainText(element.value)))} ` : "";
}

function mathOf(math) {
  const tex = math.querySelector("annotation[encoding='application/x-tex']");
  return tex === null ? null : codeSpan(foldText(plainText(tex.textContent)));
}

/** A fenced code block, with the language from its class. */
function codeBlockOf(pre, seen, depth) {
  const lines = [];
  addCode(pre, seen, depth, lines);
  const text = lines.join("").replace(/^\n/, "").replace(/\s+$/, "");
  if (text === "") return "";
  const ticks = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${ticks}${languageOf(pre)}\n${text}\n${ticks}`;
}

/** The text of code, with line breaks. */
function addCode(element, seen, depth, lines) {
  eachVisible(element, seen, depth, (node, of, below) => {
    if (node.nodeType === Node.TEXT_NODE) lines.push(plainText(node.data));
    else if (node.localName === "br") lines.push("\n");
    else if (node.localName !== "button") {
      const isLine = isBlockLevel(node) && lines.length > 0 && !lines.at(-1).endsWith("\n");
      if (isLine) lines.push("\n");
      addCode(node, of, below, lines);
    }
  });
}

function languageOf(pre) {
  const places = [pre.querySelector("code"), pre, pre.parentElement, pre.parentElement?.parentElement];
  for (const place of places) {
    const given = place?.getAttribute("data-lang") ?? place?.getAttribute("data-language");
    const named = given ?? /(?:^|\s)(?:language|lang|highlight-source|brush:?)[-\s]([\w+#.-]+)/.exec(place?.getAttribute("class") ?? "")?.[1];
    if (named && /^[\w+#.-]{1,20}$/.test(named)) return named.toLowerCase();
  }
  return "";
}

/** The level of a heading; 0 when the element is not a heading. */
function headingLevelOf(element) {
  const match = /^h([1-6])$/.exec(element.localName);
  if (match !== null) return Number(match[1]);
  if (element.getAttribute("role") !== "heading") return 0;
  return Math.min(6, Math.max(1, Number(element.getAttribute("aria-level")) || 2));
}

const BLOCKS = "p, div, ul, ol, table, pre, blockquote, h1, h2, h3, h4, h5, h6, section, article, figure, hr, dl, iframe";

/** Whether an inline element contains blocks. */
function hasBlocksInside(element) {
  const found = element.querySelector(BLOCKS);
  return found !== null && (found.localName === "iframe" || isBlockLevel(found));
}

/** The rows of a table in rendered order. */
function rowsOf(table) {
  const { tHead, tFoot } = table;
  const rows = Array.from(table.rows);
  return [...(tHead?.rows ?? []), ...rows.filter((row) => row.parentNode !== tHead && row.parentNode !== tFoot), ...(tFoot?.rows ?? [])];
}
