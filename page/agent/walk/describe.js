// Describes one element for a snapshot: role, name, key, states, link target.

/** Roles of interactive elements. */
const INTERACTIVE_ROLES = new Set(
  ("button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox " +
    "slider spinbutton switch tab textbox treeitem").split(" "),
);

const LANDMARK_ROLES = new Set("banner complementary contentinfo form main navigation region search".split(" "));

/** Roles that give context in an interactive-only snapshot. */
const CONTEXT_ROLES = new Set([...LANDMARK_ROLES, "heading", "dialog", "alertdialog", "alert", "iframe"]);

/** Roles of page structure. */
const STRUCTURE_ROLES = new Set([
  ...CONTEXT_ROLES,
  ...("application article audio canvas cell columnheader feed grid gridcell img list listitem log marquee math menu " +
    "menubar meter progressbar radiogroup row rowheader status table tablist tabpanel timer toolbar tooltip tree " +
    "treegrid video").split(" "),
]);

/** Roles that get a line only with a name. */
const NAMED_ONLY_ROLES = new Set("canvas figure group img math".split(" "));

/** Roles whose name is their text content; the walk's own texts provide it. */
const NAMED_BY_TEXT_ROLES = new Set(
  "alert cell clickable columnheader gridcell listitem log row rowheader status tooltip".split(" "),
);

/** Roles that their name represents: of their content, only interactive elements are listed. */
const CLOSED_ROLES = new Set(
  ("button checkbox combobox heading img link math menuitem menuitemcheckbox menuitemradio meter option progressbar " +
    "radio searchbox slider spinbutton switch tab textbox treeitem").split(" "),
);

/** Whether an invisible input has a visible label. */
function hasVisibleLabel(element) {
  if (element.localName !== "input") return false;
  return Array.from(element.labels ?? []).some((label) => label.checkVisibility({ opacityProperty: true }));
}

/** Roles whose rows are counted. */
const TABLE_ROLES = new Set(["table", "grid", "treegrid"]);

/** Longest text, name, value and link target, in characters. */
const STRING_LIMITS = {
  brief: { text: 280, name: 140, value: 140, target: 240 },
  full: { text: 8192, name: 1024, value: 4096, target: 2048 },
};
/** Names of invisible elements are cut shorter. */
const CONCEALED_NAME = 40;

/** Printable ASCII with single spaces. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** Text as one well-formed line of at most `limit` characters. */
function lineOf(text, limit) {
  if (text.length <= limit && PLAIN_LINE.test(text)) return text;
  if (text.length > 4 * limit) text = text.slice(0, 4 * limit);
  text = text.replace(/\s+/g, " ").trim();
  if (text.length > limit) text = `${text.slice(0, limit - 1).trimEnd()}…`;
  return text.toWellFormed();
}

/** The value of a text field exactly, else as one line. Rust escapes line breaks. */
function valueLineOf(element, value, limit) {
  if (element.localName !== "input" && element.localName !== "textarea") return lineOf(value, limit);
  return (value.length > limit ? `${value.slice(0, limit - 1)}…` : value).toWellFormed();
}

/** Input types that determine what can be entered and that the role does not tell. */
const REPORTED_TYPES = new Set(["color", "date", "datetime-local", "file", "month", "number", "password", "time", "week"]);

/** Why an element without an interactive role is clickable, or "". */
function clickReasonOf(piece, style) {
  const { element } = piece;
  if (element.hasAttribute("onclick") || element.hasAttribute("onmousedown") || element.hasAttribute("onpointerdown")) {
    return "handler";
  }
  if (element.tabIndex >= 0 && element.hasAttribute("tabindex")) return "focusable";
  if (element.getAttribute("draggable") === "true") return "draggable";
  if (listens(piece)) return "listener";
  if (!piece.pointer && !piece.interactiveOnly && style.cursor === "pointer" && element.localName !== "html" && element.localName !== "body") {
    return "pointer";
  }
  return "";
}

/** The element's name without invisible text. */
function shownNameOf(element, role) {
  let name;
  try {
    name = nameOf(element);
  } catch (error) {
    // The page nests deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
    name = (element.textContent ?? "").slice(0, 4096);
  }
  if (name === "" || element.firstElementChild === null || !NAMED_BY_CONTENT.has(role)) return name;
  return hasAuthorName(element) || !concealsText(element) ? name : perceivableText(element);
}

/** Most elements inside a name that are checked for invisible text. */
const CHECKED_IN_NAME = 64;

function concealsText(element) {
  const inside = element.getElementsByTagName("*");
  const end = Math.min(inside.length, CHECKED_IN_NAME);
  for (let at = 0; at < end; at++) {
    if (isConcealing(invisibleReasonOf(inside[at]))) return true;
  }
  return false;
}

/** Text for screen readers is part of a name; text hidden from every user is not. */
function isConcealing(reason) {
  return reason !== "" && reason !== "screen-reader-only";
}

function perceivableText(element) {
  const parts = [];
  const nodes = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    const shown = exposureOf(node) === (SHOWS_SELF | SHOWS_CHILDREN) && !isConcealing(invisibleReasonOf(node));
    return shown ? NodeFilter.FILTER_SKIP : NodeFilter.FILTER_REJECT;
  });
  while (nodes.nextNode() !== null && parts.length < CHECKED_IN_NAME) parts.push(nodes.currentNode.data);
  return parts.join(" ");
}

/** Whether the element is of a common kind without further states. */
function isStateless(element) {
  if (!SIMPLE_ROLES.has(element.localName) || element.namespaceURI !== HTML_NAMESPACE || !hasNeutralAttributes(element)) return false;
  return element.closest("[aria-disabled]") === null && !element.matches(":disabled") && !isFocused(element);
}

const NO_STATES = Object.freeze({});

/** The states to report. False states are left out, except `expanded: false`. */
function reportedStatesOf(element, role) {
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

/** The link's URL, relative for the page's own origin. */
function targetOf(element, limits) {
  const written = element.getAttribute("href") ?? "";
  // Shortcut: avoids resolving the URL where the result is the same.
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

/** Length of the page's own origin at the start of a URL; 0 for other origins. */
function ownOriginLength(href, origin) {
  const { length } = origin;
  return href.startsWith(origin) && href[length] === "/" && href[length + 1] !== "/" ? length : 0;
}

/** More options are counted instead of listed; so are more than a few when their labels are long. */
const LISTED_OPTIONS = 15;
const LISTED_LONG_OPTIONS = 8;
const SHORT_OPTIONS = 200;

function optionsOf(select) {
  const count = select.options.length;
  if (count === 0 || count > LISTED_OPTIONS) return count;
  const shown = Array.from(select.options).filter((option) => styleOf(option).display !== "none");
  const labels = shown.map((option) => lineOf(option.label, 40));
  const length = labels.reduce((sum, label) => sum + label.length, 0);
  return count > LISTED_LONG_OPTIONS && length > SHORT_OPTIONS ? count : labels;
}

/** Rows of a table without header rows, as far as this is cheap to count. */
function rowCountOf(table) {
  const given = Number.parseInt(table.getAttribute("aria-rowcount") ?? "", 10);
  if (given > 0) return given;
  if (table.localName !== "table") return 0;
  let count = table.tHead === null ? table.rows.length : table.rows.length - table.tHead.rows.length;
  if (table.tHead === null && isHeaderRow(table.rows[0])) count -= 1;
  return count;
}

function isHeaderRow(row) {
  if (!row || row.localName !== "tr") return false;
  return row.cells.length > 0 && Array.prototype.every.call(row.cells, (cell) => cell.localName === "th");
}

/** A node of the list; its position is set later. */
function nodeOf(role, name, key, acted, extra) {
  return {
    role, name, key, acted, extra, soft: false, listens: "", depth: 0, remoteness: 0, kept: false, isSeparator: false,
    isRowBorder: false,
  };
}

/**
 * Describes an element, or returns null when it gets no line.
 *
 * `reason` says why an element without an interactive role is clickable, `concealed` why it is invisible.
 */
function describe(element, role, reason, concealed, settings) {
  const acted = INTERACTIVE_ROLES.has(role) || reason !== "";
  const wanted = settings.interactive ? CONTEXT_ROLES : STRUCTURE_ROLES;
  const named = NAMED_ONLY_ROLES.has(role);
  if (!acted && !wanted.has(role) && !(named && !settings.interactive)) return null;
  const shown = role === "generic" || (acted && !STRUCTURE_ROLES.has(role) && !INTERACTIVE_ROLES.has(role)) ? "clickable" : role;
  const limits = settings.limits;
  const folded = NAMED_BY_TEXT_ROLES.has(shown) && !hasAuthorName(element);
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
    const [states, all] = reportedStatesOf(element, role);
    for (const state in states) {
      extra.states = states;
      break;
    }
    if (all.level !== undefined) extra.level = all.level;
    const value = all.valueText ?? all.value;
    if (value !== undefined && value !== "") extra.value = valueLineOf(element, String(value), limits.value);
  }
  if (element.localName === "input" && REPORTED_TYPES.has(element.type)) extra.states = { type: element.type, ...extra.states };
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
  if (concealed !== "" && !hasVisibleLabel(element)) extra.concealed = concealed;
  for (const detail in extra) {
    node.extra = extra;
    break;
  }
}
