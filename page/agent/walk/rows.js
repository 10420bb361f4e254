// Rows that have no role: wrappers of one kind, each with a few elements, such as the weeks of a calendar or the lines of
// a form. Their elements are listed together, so that equal names in different rows stay apart.

/** Most nodes and characters of a row; more do not fit on one line. */
const ROW_NODES = 16;
const ROW_CHARACTERS = 140;

/** Records a finished piece as a row of the piece around it. Marks the rows of a finished piece. */
function noteRow(frame, outer, nodes, rows) {
  if (frame.rows !== null && markRows(frame.rows, rows)) frame.hasRows = true;
  if (outer === undefined) return;
  outer.hasRows ||= frame.hasRows;
  if (!isRowLike(frame, nodes)) return;
  outer.rows ??= [];
  outer.rows.push({ first: frame.first, end: nodes.length, element: frame.piece.element, depth: frame.depth });
}

/** Whether a piece without a line has a few elements of one level, at least one of them interactive. */
function isRowLike(frame, nodes) {
  const { piece, first, depth } = frame;
  const count = nodes.length - first;
  if (piece.node !== null || !piece.block || frame.hasRows || count < 2 || count > ROW_NODES) return false;
  let listed = 0;
  let acted = 0;
  let length = 0;
  for (let at = first; at < nodes.length; at++) {
    const node = nodes[at];
    if (node.role === "heading" || node.role === "" || node.depth > depth + 1) return false;
    if (node.depth === depth && !node.isSeparator) listed += 1;
    if (node.acted) acted += 1;
    length += node.name.length + 12;
  }
  return listed > 1 && acted > 0 && length <= ROW_CHARACTERS + 12 * count;
}

/** Of the rows of one piece, keeps those next to one of the same kind; returns whether there are any. */
function markRows(found, rows) {
  const isPair = found.map((row, at) => at > 0 && isNextRow(found[at - 1], row));
  const kept = found.filter((_, at) => isPair[at] || isPair[at + 1]);
  rows.push(...kept);
  return kept.length > 0;
}

function isNextRow(before, row) {
  const { element } = row;
  return before.end === row.first && before.element.localName === element.localName && before.element.className === element.className;
}

/** The nodes with a line for each row. */
function withRows(nodes, rows) {
  if (rows.length === 0) return nodes;
  rows.sort((one, other) => one.first - other.first);
  const result = [];
  let next = 0;
  let end = 0;
  nodes.forEach((node, at) => {
    if (next < rows.length && rows[next].first === at) {
      const border = placed(nodeOf("row", "", 0, false, null), rows[next].depth, node.remoteness);
      border.isRowBorder = true;
      result.push(border);
      end = rows[next++].end;
    }
    if (at < end) node.depth += 1;
    result.push(node);
  });
  return result;
}
