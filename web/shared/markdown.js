// Markdown of agents as DOM elements. Nothing is parsed as HTML: tags stay text, images become their text, and links
// lead only to http and https.
// @ts-check

import { make } from "./element.js";

/** Longer texts are shown as plain text. */
const MOST_LETTERS = 200_000;
/** Longer lines stay text: patterns take time that grows with the square of a line. */
const MOST_LINE = 5_000;
/** Deeper emphasis and quotes stay text. */
const MOST_LEVELS = 6;

/**
 * Renders a text.
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const root = make("div", { look: "markdown" });
  if (text.length > MOST_LETTERS) root.append(make("pre", {}, text));
  else root.append(...blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
  return root;
}

/**
 * @param {string[]} lines
 * @param {number} level
 * @returns {HTMLElement[]}
 */
function blocks(lines, level) {
  const made = [];
  let at = 0;
  while (at < lines.length) {
    const [element, next] = block(lines, at, level);
    if (element) made.push(element);
    at = next;
  }
  return made;
}

/**
 * The block at a line, and the line after it.
 * @param {string[]} lines
 * @param {number} at
 * @param {number} level
 * @returns {[HTMLElement | null, number]}
 */
function block(lines, at, level) {
  const line = lines[at];
  if (line.length > MOST_LINE) return [make("p", {}, line), at + 1];
  if (line.trim() === "") return [null, at + 1];
  const fence = /^\s{0,3}(\x60{3,}|~{3,})/.exec(line);
  if (fence) return code(lines, at, fence[1]);
  const heading = /^\s{0,3}(#{1,6})\s+(.*)$/.exec(line);
  // The headings of an agent's text must not appear among those of the page.
  if (heading) return [make("p", {}, make("strong", {}, ...inline(heading[2].trim(), 0))), at + 1];
  if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) return [make("hr"), at + 1];
  if (/^\s{0,3}>/.test(line) && level < MOST_LEVELS) return quote(lines, at, level);
  if (itemOf(line) && level < MOST_LEVELS) return list(lines, at, level);
  if (line.includes("|") && isTableRule(lines[at + 1] ?? "")) return table(lines, at);
  return paragraph(lines, at);
}

/** @param {string} line */
const isTableRule = (line) => line.length < MOST_LINE && line.includes("|") && /^[\s|:-]+$/.test(line) && line.includes("-");

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {string} fence
 * @returns {[HTMLElement, number]}
 */
function code(lines, at, fence) {
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(fence)) end += 1;
  return [make("pre", { tabindex: "0" }, make("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} level
 * @returns {[HTMLElement, number]}
 */
function quote(lines, at, level) {
  let end = at;
  while (end < lines.length && /^\s{0,3}>/.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(/^\s{0,3}> ?/, ""));
  return [make("blockquote", {}, ...blocks(inner, level + 1)), end];
}

/** @param {string} line */
function itemOf(line) {
  const found = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/.exec(line);
  return found && { indent: found[1].length, isOrdered: found[3] !== undefined, start: found[3], text: found[4] };
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} level
 * @returns {[HTMLElement, number]}
 */
function list(lines, at, level) {
  const first = /** @type {NonNullable<ReturnType<typeof itemOf>>} */ (itemOf(lines[at]));
  const made = first.isOrdered ? make("ol", first.start === "1" ? {} : { start: String(Number(first.start)) }) : make("ul");
  while (at < lines.length) {
    const item = itemOf(lines[at]);
    if (!item || item.indent > first.indent + 1 || item.indent < first.indent || item.isOrdered !== first.isOrdered) break;
    let end = at + 1;
    // Deeper lines belong to the item.
    while (end < lines.length && lines[end].trim() !== "" && indentOf(lines[end]) > first.indent) end += 1;
    const inner = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indentOf(line), first.indent + 2)));
    made.append(make("li", {}, ...inline(item.text, 0), ...blocks(inner, level + 1)));
    at = end;
  }
  return [made, at];
}

/** @param {string} line */
const indentOf = (line) => line.length - line.trimStart().length;

/**
 * @param {string[]} lines
 * @param {number} at
 * @returns {[HTMLElement, number]}
 */
function table(lines, at) {
  const cells = (/** @type {string} */ line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const row = (/** @type {string} */ line, /** @type {"th" | "td"} */ kind) => make("tr", {}, ...cells(line).map((cell) => make(kind, {}, ...inline(cell, 0))));
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  return [make("table", {}, make("thead", {}, row(lines[at], "th")), make("tbody", {}, ...body)), end];
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @returns {[HTMLElement, number]}
 */
function paragraph(lines, at) {
  let end = at + 1;
  const isPlain = (/** @type {string} */ line) => line.length <= MOST_LINE && line.trim() !== "" && !/^\s{0,3}(#{1,6}\s|>|\x60{3,}|~{3,})/.test(line) && !itemOf(line);
  while (end < lines.length && isPlain(lines[end])) end += 1;
  const made = make("p");
  lines.slice(at, end).forEach((line, place) => {
    if (place > 0) made.append(make("br"));
    made.append(...inline(line.trim(), 0));
  });
  return [made, end];
}

/** What can begin inside a line: code, emphasis, links, bare URLs, escapes. */
const SPANS = /(?<code>(?<ticks>`{1,3})(?<source>[^`].{0,2000}?)\k<ticks>(?!`))|(?<strong>\*\*(?=\S)(?<bold>.+?)\*\*|__(?=\S)(?<bold2>.+?)__)|(?<em>\*(?=\S)(?<italic>[^*]+?)\*|\b_(?=\S)(?<italic2>[^_]+?)_\b)|(?<gone>~~(?<struck>.+?)~~)|(?<link>!?\[(?<label>[^[\]]{0,1000})\]\((?<target>[^\s()]{0,2000})\))|(?<bare>https?:\/\/[^\s<>()[\]"'`]+[^\s<>()[\]"'`.,;:!?])|\\(?<escaped>[\\`*_{}[\]()#+.!|~>-])/u;

/**
 * @param {string} text
 * @param {number} level
 * @returns {(Node | string)[]}
 */
function inline(text, level) {
  /** @type {(Node | string)[]} */
  const made = [];
  let rest = text;
  while (rest !== "") {
    const found = level < MOST_LEVELS ? SPANS.exec(rest) : null;
    if (!found?.groups) {
      made.push(rest);
      break;
    }
    if (found.index > 0) made.push(rest.slice(0, found.index));
    made.push(span(found.groups, level));
    rest = rest.slice(found.index + found[0].length);
  }
  return made;
}

/**
 * @param {Record<string, string | undefined>} groups
 * @param {number} level
 * @returns {Node | string}
 */
function span(groups, level) {
  const within = (/** @type {string | undefined} */ text) => inline(text ?? "", level + 1);
  if (groups.code !== undefined) return make("code", {}, groups.source ?? "");
  if (groups.strong !== undefined) return make("strong", {}, ...within(groups.bold ?? groups.bold2));
  if (groups.em !== undefined) return make("em", {}, ...within(groups.italic ?? groups.italic2));
  if (groups.gone !== undefined) return make("s", {}, ...within(groups.struck));
  if (groups.bare !== undefined) return link(groups.bare, [groups.bare]);
  if (groups.link !== undefined) return link(groups.target ?? "", within(groups.label || groups.target));
  return groups.escaped ?? "";
}

/**
 * A link that says where it leads; text if it leads elsewhere than to a web page.
 * @param {string} target
 * @param {(Node | string)[]} label
 */
function link(target, label) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return make("span", {}, ...label);
  }
  if (!["http:", "https:"].includes(url.protocol)) return make("span", {}, ...label);
  return make("a", { href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer" }, ...label);
}
