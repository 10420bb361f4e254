// Roles of tables and their parts.
//
// Chrome decides by content and appearance whether a table holds data or only lays out the page. This follows its
// rules: a layout table must not appear as a table.

let tablesInPass = null;

function cacheTables() {
  tablesInPass = new Map();
}

function forgetTables() {
  tablesInPass = null;
}

function tableRoleOf(element, name) {
  switch (name) {
    case "table":
      return isDataTable(element) ? "table" : "generic";
    case "tr":
      return rowKindOf(element) === "data" ? "row" : "generic";
    case "td":
    case "th":
      return cellRoleOf(element, name);
    case "tbody":
      return "generic";
    default:
      return tableKindOf(tableAncestorOf(element)) === "data" ? "rowgroup" : "generic";
  }
}

const TABLE_LIKE = new Set(["table", "grid", "treegrid"]);
const NEUTRAL_IN_TABLES = new Set(["generic", "group", "rowgroup"]);

/** The nearest ancestor that matters for a table part. */
function tableAncestorOf(element) {
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    if (node.localName === "table" && !node.hasAttribute("role")) return node;
    if (node.localName === "tr" || !NEUTRAL_IN_TABLES.has(semanticsOf(node))) return node;
  }
  return null;
}

/** "data", "layout", or "" when the element is not a table. */
function tableKindOf(element) {
  if (element === null) return "";
  const role = semanticsOf(element);
  if (TABLE_LIKE.has(role)) return "data";
  return role === "generic" && element.localName === "table" ? "layout" : "";
}

/** The kind of table that a row belongs to: "data", "layout" or "". */
function rowKindOf(row) {
  const known = tablesInPass?.get(row);
  if (known !== undefined) return known;
  const kind = tableKindOf(tableAncestorOf(row));
  tablesInPass?.set(row, kind);
  return kind;
}

function cellRoleOf(cell, name) {
  const row = tableAncestorOf(cell);
  if (row === null) return "generic";
  const isGiven = row.hasAttribute("role") && semanticsOf(row) === "row";
  if (!isGiven && (row.localName !== "tr" || row.getAttribute("role"))) return "generic";
  const kind = rowKindOf(row);
  if (kind !== "data" && !(isGiven && kind === "layout")) return "generic";
  if (name === "td") return isInGrid(row) ? "gridcell" : "cell";
  switch (cell.getAttribute("scope")?.toLowerCase()) {
    case "col":
    case "colgroup":
      return "columnheader";
    case "row":
    case "rowgroup":
      return "rowheader";
    default:
      return headerRoleOf(cell);
  }
}

/** A header between headers is a column header; one beside a filled cell is a row header. */
function headerRoleOf(cell) {
  const { previousSibling: before, nextSibling: after } = cell;
  if (before === null && after === null) return "columnheader";
  if (before?.localName === "th" && after?.localName === "th") return "columnheader";
  const row = cell.parentNode;
  const { firstElementChild: first, lastElementChild: last } = row;
  const beside = [before, after, first, last, first?.nextElementSibling, last?.previousElementSibling];
  return beside.some(isFilledCell) ? "rowheader" : "columnheader";
}

function isFilledCell(node) {
  return node != null && node.localName === "td" && node.firstChild !== null;
}

/** Tables with this many rows hold data. */
const MANY_ROWS = 20;

/** Whether a table holds data, by its markup, else by its appearance. */
function isDataTable(table) {
  const known = tablesInPass?.get(table);
  if (known !== undefined) return known;
  const result = isMarkedAsData(table) ?? hasDataAppearance(table);
  tablesInPass?.set(table, result);
  return result;
}

/** True or false by the markup; null when it is undecided. */
function isMarkedAsData(table) {
  if (table.hasAttribute("role") || table.isContentEditable) return true;
  if (table.summary !== "" || table.rules !== "" || table.tHead !== null || table.tFoot !== null || table.caption !== null) {
    return true;
  }
  for (let child = table.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === "colgroup" || child.localName === "col") return true;
  }
  const rows = table.rows;
  if (rows.length >= MANY_ROWS) return true;
  if (rows.length === 0 || (rows.length === 1 && rows[0].cells.length <= 1)) return false;
  for (const row of rows) {
    for (const cell of row.cells) {
      if (cell.localName === "th" || ["headers", "abbr", "axis", "scope"].some((name) => cell.getAttribute(name))) return true;
    }
  }
  return null;
}

/** Counts of cell styles. */
class CellStyles {
  constructor(table) {
    const style = styleOf(table);
    this.background = style.backgroundColor;
    this.isSpaced = style.borderCollapse === "separate" && !/(^| )0px/.test(style.borderSpacing);
    Object.assign(this, { cells: 0, framed: 0, top: 0, right: 0, bottom: 0, left: 0, coloured: 0, rowColours: [] });
  }

  add(cell) {
    const box = cell.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) return;
    this.cells += 1;
    const style = styleOf(cell);
    const sides = ["Top", "Right", "Bottom", "Left"];
    const [top, right, bottom, left] = sides.map((side) => parseFloat(style[`border${side}Width`]) > 0);
    if ((top && bottom) || (left && right)) this.framed += 1;
    this.top += top;
    this.right += right;
    this.bottom += bottom;
    this.left += left;
    const colour = style.backgroundColor;
    if (this.isSpaced && colour !== this.background && !isTransparent(colour)) this.coloured += 1;
  }

  /** At least half of the cells have a border on one side or their own colour, or row colours alternate. */
  looksLikeData() {
    if (this.cells <= 1) return false;
    const most = Math.max(this.framed, this.top, this.right, this.bottom, this.left, this.coloured);
    if (most >= Math.floor(this.cells / 2)) return true;
    const [first, ...others] = this.rowColours;
    return others.length > 1 && others.every((colour, at) => (colour === first) === (at % 2 === 1));
  }
}

function hasDataAppearance(table) {
  const look = new CellStyles(table);
  for (const row of table.rows) {
    for (const cell of row.cells) {
      if (styleOf(cell).emptyCells === "hide") return true;
      look.add(cell);
    }
    if (look.rowColours.length < 5 && row.cells.length > 0) look.rowColours.push(styleOf(row).backgroundColor);
  }
  return look.looksLikeData();
}
