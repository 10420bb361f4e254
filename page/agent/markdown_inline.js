// The small pieces of Markdown: escapes, links, pictures, code. Knows nothing of how they are put together.

/** Text in which nothing is Markdown any more. */
function escapeMarkdown(text) {
  return text.replace(/[\\`*[\]]|<(?=[a-zA-Z/!?])|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|~(?=~)/gu, "\\$&");
}

/** A paragraph's lines: blanks drawn together, nothing at a line's start that would make it something else. */
function tidyParagraph(text) {
  const lines = text.split("\n").map((line) => line.replace(/[ \t]+/g, " ").trim()).filter((line) => line !== "");
  return lines.map((line) => line.replace(/^(#{1,6}(?= |$)|[-+](?= |$)|>|={2,}$|-{2,}$|\|)/, "\\$1").replace(/^(\d{1,9})([.)])(?= |$)/, "$1\\$2")).join("\n");
}

/** Marks around a text, inside its blanks. */
function emphasised(mark, text) {
  const inner = text.trim();
  if (inner === "" || inner.includes("\n")) return text;
  const start = text.slice(0, text.length - text.trimStart().length);
  const end = text.slice(text.trimEnd().length);
  return `${start}${mark}${inner}${mark}${end}`;
}

/** The first line with one beginning, the others with another. */
function prefixed(text, first, rest) {
  if (text === "") return "";
  return text.split("\n").map((line, at) => (at === 0 ? first + line : line === "" && rest.trim() === "" ? "" : (rest + line).trimEnd())).join("\n");
}

/** An item's blocks: a list right below its text, everything else a line apart. */
function joinItem(blocks) {
  return blocks.reduce((text, block) => (text === "" ? block : `${text}${/^(- |\d+\. )/.test(block) ? "\n" : "\n\n"}${block}`), "");
}

/** Ticked or not, for an item that begins with a box. */
function tickBefore(item) {
  const box = item.querySelector(":scope > input[type=checkbox], :scope > label > input[type=checkbox], :scope > p > input[type=checkbox]");
  return box === null ? "" : box.checked ? "[x] " : "[ ] ";
}

/** Code in running text; longer ticks around it than any in it. */
function codeSpan(text) {
  if (text === "") return "";
  const ticks = "`".repeat(1 + longestTicks(text));
  const gap = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${ticks}${gap}${text}${gap}${ticks}`;
}

function longestTicks(text) {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** A link that leads nowhere by itself: its text, and its address as code. */
function linkOf(anchor, inner) {
  const text = inner.trim();
  const href = typeof anchor.href === "string" ? anchor.href : (anchor.href?.baseVal ?? "");
  if (text === "" || href === "" || href.startsWith("javascript:")) return inner;
  const length = ownOriginLength(href, location.origin);
  const address = addressText(length > 0 ? href.slice(length) : href);
  return inner.replace(text, () => `[${text.replace(/\s+/g, " ")}] (\`${address}\`)`);
}

/** An address in which nothing ends the code around it. */
function addressText(href) {
  const short = href.startsWith("data:") ? `${href.slice(0, 30)}…` : shorten(href, 500);
  return plainText(short).replace(/[`\s|<>\\]/g, (letter) => encodeURIComponent(letter).replace("`", "%60"));
}

/** A picture told by its description; "" for one without, null for what is no picture. */
function pictureOf(element, seen) {
  const name = element.localName;
  if (name !== "img" && name !== "svg" && name !== "video" && name !== "audio" && element.getAttribute("role") !== "img") return null;
  if (seen !== READ_ALL || (name === "svg" && element.querySelector("text, foreignObject") !== null)) return name === "svg" ? null : "";
  const told = foldText(plainText(name === "img" ? (element.alt || nameOf(element)) : nameOf(element)));
  if (told === "") return "";
  const kind = name === "video" || name === "audio" ? name : "image";
  return ` (${kind}: ${escapeMarkdown(shorten(told, 300))}) `;
}

function controlText(element, seen) {
  return seen === READ_ALL && element.localName === "input" && element.matches(BUTTON_INPUTS) ? ` ${escapeMarkdown(foldText(plainText(element.value)))} ` : "";
}

function mathOf(math) {
  const tex = math.querySelector("annotation[encoding='application/x-tex']");
  return tex === null ? null : codeSpan(foldText(plainText(tex.textContent)));
}

/** Lines of code between ticks, with the language when its class tells it. */
function codeBlockOf(pre, seen, gaze) {
  const lines = [];
  addCode(pre, seen, gaze, lines);
  const text = lines.join("").replace(/^\n/, "").replace(/\s+$/, "");
  if (text === "") return "";
  const ticks = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${ticks}${languageOf(pre)}\n${text}\n${ticks}`;
}

/** The text of code as it is shown, line breaks kept. */
function addCode(element, seen, gaze, lines) {
  eachSeen(element, seen, gaze, (node, of, below) => {
    if (node.nodeType === Node.TEXT_NODE) lines.push(plainText(node.data));
    else if (node.localName === "br") lines.push("\n");
    else if (node.localName !== "button") {
      const isLine = standsAlone(node) && lines.length > 0 && !lines.at(-1).endsWith("\n");
      if (isLine) lines.push("\n");
      addCode(node, of, below, lines);
    }
  });
}

function languageOf(pre) {
  const places = [pre.querySelector("code"), pre, pre.parentElement, pre.parentElement?.parentElement];
  for (const place of places) {
    const told = place?.getAttribute("data-lang") ?? place?.getAttribute("data-language");
    const named = told ?? /(?:^|\s)(?:language|lang|highlight-source|brush:?)[-\s]([\w+#.-]+)/.exec(place?.getAttribute("class") ?? "")?.[1];
    if (named && /^[\w+#.-]{1,20}$/.test(named)) return named.toLowerCase();
  }
  return "";
}

/** How deep a heading is; 0 for what is none. */
function headingLevelOf(element) {
  const match = /^h([1-6])$/.exec(element.localName);
  if (match !== null) return Number(match[1]);
  if (element.getAttribute("role") !== "heading") return 0;
  return Math.min(6, Math.max(1, Number(element.getAttribute("aria-level")) || 2));
}

const BLOCKS = "p, div, ul, ol, table, pre, blockquote, h1, h2, h3, h4, h5, h6, section, article, figure, hr, dl, iframe";

/** Whether blocks stand in an element that is not one itself. */
function hasBlocksInside(element) {
  const found = element.querySelector(BLOCKS);
  return found !== null && (found.localName === "iframe" || standsAlone(found));
}

/** The rows of a table in the order they are shown. */
function rowsOf(table) {
  const { tHead, tFoot } = table;
  const rows = Array.from(table.rows);
  return [...(tHead?.rows ?? []), ...rows.filter((row) => row.parentNode !== tHead && row.parentNode !== tFoot), ...(tFoot?.rows ?? [])];
}
