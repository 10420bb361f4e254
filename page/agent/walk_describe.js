// What one element is in a snapshot: its role, name, key, states, target. Knows nothing of its neighbours, of budgets
// or of how the description is written.

/** Roles of things that can be acted on. */
const ACTED_ROLES = new Set(
  ("button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox " +
    "slider spinbutton switch tab textbox treeitem").split(" "),
);

const LANDMARK_ROLES = new Set("banner complementary contentinfo form main navigation region search".split(" "));

/** Roles that say where one is when only what can be acted on is wanted. */
const CONTEXT_ROLES = new Set([...LANDMARK_ROLES, "heading", "dialog", "alertdialog", "alert", "iframe"]);

/** Roles of things that give a page its structure. */
const STRUCTURE_ROLES = new Set([
  ...CONTEXT_ROLES,
  ...("application article audio canvas cell columnheader feed grid gridcell img list listitem log marquee math menu " +
    "menubar meter progressbar radiogroup row rowheader status table tablist tabpanel timer toolbar tooltip tree " +
    "treegrid video").split(" "),
]);

/** Roles that are only worth a line when somebody named the thing. */
const NAMED_ONLY_ROLES = new Set("canvas figure group img math".split(" "));

/** Roles whose name is what stands inside; it is put together from the walk's own texts. */
const FOLDED_ROLES = new Set(
  "alert cell clickable columnheader gridcell listitem log row rowheader status tooltip".split(" "),
);

/** Roles that end in their name: of what is inside, only what can be acted on is told again. */
const CLOSED_ROLES = new Set(
  ("button checkbox combobox heading img link math menuitem menuitemcheckbox menuitemradio meter option progressbar " +
    "radio searchbox slider spinbutton switch tab textbox treeitem").split(" "),
);

/** Whether an input that cannot be seen has a label that can, which stands for it. */
function hasSeenLabel(element) {
  if (element.localName !== "input") return false;
  return Array.from(element.labels ?? []).some((label) => label.checkVisibility({ opacityProperty: true }));
}

/** The roles below which a table's or list's parts are counted. */
const TABLE_ROLES = new Set(["table", "grid", "treegrid"]);

/** Longest text, name, value and target that leave the page, in characters, by whether all is wanted. */
const STRING_LIMITS = {
  brief: { text: 280, name: 140, value: 140, target: 240 },
  full: { text: 8192, name: 1024, value: 4096, target: 2048 },
};
/** Names of things that cannot be seen are cut shorter. */
const CONCEALED_NAME = 40;

/** Printed ASCII with single blanks between words. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** One line of well-formed text of at most `limit` characters. */
function lineOf(text, limit) {
  if (text.length <= limit && PLAIN_LINE.test(text)) return text;
  if (text.length > 4 * limit) text = text.slice(0, 4 * limit);
  text = text.replace(/\s+/g, " ").trim();
  if (text.length > limit) text = `${text.slice(0, limit - 1).trimEnd()}…`;
  return text.toWellFormed();
}

/** Why something without a role can be acted on; "" if nothing says so. */
function clickReasonOf(piece, style) {
  const { element } = piece;
  if (element.hasAttribute("onclick") || element.hasAttribute("onmousedown") || element.hasAttribute("onpointerdown")) {
    return "handler";
  }
  if (element.tabIndex >= 0 && element.hasAttribute("tabindex")) return "focusable";
  if (element.getAttribute("draggable") === "true") return "draggable";
  if (listens(piece)) return "listener";
  if (!piece.pointer && !piece.quiet && style.cursor === "pointer" && element.localName !== "html" && element.localName !== "body") {
    return "pointer";
  }
  return "";
}

/** The element's name without what a person cannot see of it. */
function shownNameOf(element, role) {
  let name;
  try {
    name = nameOf(element);
  } catch (error) {
    // Elements nested deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
    name = (element.textContent ?? "").slice(0, 4096);
  }
  if (name === "" || element.firstElementChild === null || !NAMED_BY_CONTENT.has(role)) return name;
  return hasAuthorName(element) || !concealsText(element) ? name : perceivableText(element);
}

/** At most this many elements inside a name are checked for text that cannot be seen. */
const CHECKED_IN_NAME = 64;

function concealsText(element) {
  const inside = element.getElementsByTagName("*");
  const end = Math.min(inside.length, CHECKED_IN_NAME);
  for (let at = 0; at < end; at++) {
    if (isConcealing(concealmentOf(inside[at]))) return true;
  }
  return false;
}

/** Text for screen readers only is part of a name; what nobody is meant to see is not. */
function isConcealing(reason) {
  return reason !== "" && reason !== "screen-reader-only";
}

function perceivableText(element) {
  const parts = [];
  const nodes = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    const shown = exposureOf(node) === (SHOWS_SELF | SHOWS_CHILDREN) && !isConcealing(concealmentOf(node));
    return shown ? NodeFilter.FILTER_SKIP : NodeFilter.FILTER_REJECT;
  });
  while (nodes.nextNode() !== null && parts.length < CHECKED_IN_NAME) parts.push(nodes.currentNode.data);
  return parts.join(" ");
}

/** Whether the element is of the common kind that has no states beyond what a look at it tells. */
function isStateless(element) {
  if (!PLAIN_THINGS.has(element.localName) || element.namespaceURI !== HTML_NAMESPACE || !hasQuietAttributes(element)) return false;
  return element.closest("[aria-disabled]") === null && !element.matches(":disabled") && !isFocused(element);
}

const NO_STATES = Object.freeze({});

/** The states worth telling; what is false goes without saying, except a thing that could be opened. */
function toldStatesOf(element, role) {
  if (isStateless(element)) return [NO_STATES, role === "heading" ? { level: Number(element.localName[1]) } : NO_STATES];
  const states = {};
  const all = statesOf(element, role);
  for (const state in all) {
    const value = all[state];
    if (state === "value" || state === "valueText" || state === "level" || value === undefined) continue;
    if (value === false && (state !== "expanded" || element.localName === "select")) continue;
    states[state] = value;
  }
  return [states, all];
}

/** Where a link goes, without the origin when it is the page's own. */
function targetOf(element, limits) {
  const written = element.getAttribute("href") ?? "";
  // Spares the work of putting the address together where the result is the same.
  const isPath = /^\/[\w-][\w/?&=.-]*$/.test(written) && element.baseURI === limits.base;
  const target = isPath ? written : fullTargetOf(element, limits);
  if (target.length <= limits.target) return target.toWellFormed();
  const tail = Math.floor(limits.target / 3);
  return `${target.slice(0, limits.target - tail)}…${target.slice(-tail)}`.toWellFormed();
}

function fullTargetOf(element, limits) {
  let { href } = element;
  if (typeof href !== "string") href = href?.baseVal ?? "";
  if (href.startsWith(limits.place) && href[limits.place.length] === "#") return href.slice(limits.place.length);
  return href.slice(ownOriginLength(href, limits.origin));
}

/** How much of an address is the page's own origin; 0 when it goes elsewhere. */
function ownOriginLength(href, origin) {
  const { length } = origin;
  return href.startsWith(origin) && href[length] === "/" && href[length + 1] !== "/" ? length : 0;
}

/** More options than this are counted, not listed. */
const LISTED_OPTIONS = 8;

function optionsOf(select) {
  const count = select.options.length;
  if (count === 0 || count > LISTED_OPTIONS) return count;
  const shown = Array.from(select.options).filter((option) => styleOf(option).display !== "none");
  return shown.map((option) => lineOf(option.label, 40));
}

/** Rows of a table without its header's, as far as they can be told cheaply. */
function rowCountOf(table) {
  const told = Number.parseInt(table.getAttribute("aria-rowcount") ?? "", 10);
  if (told > 0) return told;
  if (table.localName !== "table") return 0;
  let count = table.tHead === null ? table.rows.length : table.rows.length - table.tHead.rows.length;
  if (table.tHead === null && isHeaderRow(table.rows[0])) count -= 1;
  return count;
}

function isHeaderRow(row) {
  if (!row || row.localName !== "tr") return false;
  return row.cells.length > 0 && Array.prototype.every.call(row.cells, (cell) => cell.localName === "th");
}

/** A line of the list to be; where it stands in it is told later. */
function nodeOf(role, name, key, acted, extra) {
  return { role, name, key, acted, extra, soft: false, listens: "", depth: 0, remoteness: 0, kept: false };
}

/**
 * Describes an element, or returns null when it is no line of its own.
 *
 * `reason` says why something without a role can be acted on, `concealed` why nobody can see it.
 */
function describe(element, role, reason, concealed, settings) {
  const acted = ACTED_ROLES.has(role) || reason !== "";
  const wanted = settings.interactive ? CONTEXT_ROLES : STRUCTURE_ROLES;
  const named = NAMED_ONLY_ROLES.has(role);
  if (!acted && !wanted.has(role) && !(named && !settings.interactive)) return null;
  const shown = role === "generic" || (acted && !STRUCTURE_ROLES.has(role) && !ACTED_ROLES.has(role)) ? "clickable" : role;
  const limits = settings.limits;
  const folded = FOLDED_ROLES.has(shown) && !hasAuthorName(element);
  const name = folded ? "" : lineOf(shownNameOf(element, role), concealed ? CONCEALED_NAME : limits.name);
  if (named && name === "" && reason === "") return null;
  const node = nodeOf(shown, name, keyOf(element), acted, null);
  if (reason === "pointer" || reason === "listener") node.soft = true;
  if (reason === "listener") node.listens = shown === "clickable" || !wanted.has(role) ? "alone" : "too";
  addDetails(node, element, role, reason, concealed, limits);
  return node;
}

function addDetails(node, element, role, reason, concealed, limits) {
  const extra = {};
  if (node.acted || role === "heading" || role === "dialog" || role === "alertdialog" || SELECTABLE.has(role) || RANGES.has(role)) {
    const [states, all] = toldStatesOf(element, role);
    for (const state in states) {
      extra.states = states;
      break;
    }
    if (all.level !== undefined) extra.level = all.level;
    const value = all.valueText ?? all.value;
    if (value !== undefined && value !== "") extra.value = lineOf(String(value), limits.value);
  }
  if (role === "link") {
    const target = targetOf(element, limits);
    if (target !== "") extra.target = target;
  } else if (element.localName === "select") {
    extra.options = optionsOf(element);
  } else if (TABLE_ROLES.has(role)) {
    const rows = rowCountOf(element);
    if (rows > 0) extra.rows = rows;
  }
  if (reason !== "" && node.role !== "clickable") extra.clickable = true;
  if (concealed !== "" && !hasSeenLabel(element)) extra.concealed = concealed;
  for (const detail in extra) {
    node.extra = extra;
    break;
  }
}
