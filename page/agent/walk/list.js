// Converts the result of a walk into a flat list: depth first, without wrappers, with adjacent texts joined and
// omissions marked.
//
// A piece is one visited element: `{node, parts, block, ...}`; `parts` holds texts and pieces in order. An entry is
// `[depth, role, name, key, remoteness, details]`, without trailing empty fields.

/** Text that is only a separator. */
const SEPARATOR = /^[\s.,;:|·•/\\()[\]{}<>–—-]*$/;

/** Roles that are dropped without a name or content. */
const DROPPED_WHEN_EMPTY = new Set(
  ("alert application article banner clickable complementary contentinfo feed figure form group list listitem log main " +
    "marquee menu menubar navigation radiogroup region row search status table tablist tabpanel timer toolbar tooltip " +
    "tree treegrid grid").split(" "),
);

/** Lists all nodes below a piece. Iterates, because pages may nest deeper than the stack. */
function listOf(root, settings) {
  const nodes = [];
  const text = new TextRun(nodes, settings.limits.text);
  const open = [frameOf(root, 0, false)];
  const rows = [];
  while (open.length > 0) {
    const frame = open[open.length - 1];
    const { piece } = frame;
    if (frame.at === -1) enter(frame, text, nodes);
    if (frame.at >= piece.parts.length) {
      leave(frame, text, nodes);
      open.pop();
      noteRow(frame, open[open.length - 1], nodes, rows);
      continue;
    }
    const part = piece.parts[frame.at++];
    if (typeof part === "string") text.add(frame.isCovered ? " " : part, frame.inner, piece.concealed);
    else if (part.queued) text.skip(part, frame.inner);
    else if (part.parts.length === 0 && part.node !== null && part.total === 0) {
      text.end();
      nodes.push(placed(part.node, frame.inner, part.remoteness));
    } else open.push(frameOf(part, frame.inner, frame.isCovered || part.isCovered));
  }
  text.end();
  return prune(withRows(nodes, rows), settings);
}

/** A piece whose parts are being listed. `first` is the index of its first node, `rows` holds the rows among its parts. */
function frameOf(piece, depth, isCovered) {
  return { piece, at: -1, depth, inner: 0, isCovered, first: 0, rows: null, hasRows: false };
}

function enter(frame, text, nodes) {
  const { piece } = frame;
  frame.at = 0;
  frame.inner = frame.depth;
  if (piece.block || piece.node !== null) text.end();
  frame.first = nodes.length;
  if (piece.node !== null) {
    nodes.push(placed(piece.node, frame.depth, piece.remoteness));
    frame.inner += 1;
  }
  if (piece.above > 0) nodes.push(omissionNode(frame.inner, piece, "above"));
}

function leave(frame, text, nodes) {
  const { piece } = frame;
  if (piece.block || piece.node !== null || piece.below > 0) text.end();
  if (piece.below > 0) nodes.push(omissionNode(frame.inner, piece, "below"));
}

function placed(node, depth, remoteness) {
  node.depth = depth;
  node.remoteness = remoteness;
  return node;
}

/** A node that is never dropped. */
function permanentNode(role, name, extra) {
  const node = nodeOf(role, name, 0, false, extra);
  node.kept = true;
  return node;
}

/** A line that counts the children before or after the shown ones, and says where to continue. */
function omissionNode(depth, piece, side) {
  const more = { [side]: piece[side], key: keyOf(piece.element), total: piece.total };
  if (piece.unit !== "") more.unit = piece.unit;
  more.from = 1 + (side === "above" ? Math.max(0, piece.above - SHOWN_UNIFORM) : piece.total - piece.below);
  return placed(permanentNode("", "", { more }), depth, piece.remoteness);
}

/** Joins texts of one block and counts unvisited pieces. */
class TextRun {
  constructor(nodes, limit) {
    this.nodes = nodes;
    this.limit = limit;
    this.text = "";
    this.depth = 0;
    this.left = 0;
    this.leftIn = null;
    /** Text for screen readers is kept apart from visible text. */
    this.concealed = "";
  }

  add(text, depth, concealed) {
    if (this.left > 0 || concealed !== this.concealed) this.end();
    this.concealed = concealed;
    this.text += text;
    this.depth = depth;
  }

  skip(piece, depth) {
    if (this.text !== "") this.end();
    this.left += 1;
    this.leftIn ??= piece.parent;
    this.depth = depth;
  }

  end() {
    if (this.text !== "") {
      const text = lineOf(this.text, this.limit);
      const isSeparator = SEPARATOR.test(this.text);
      this.text = "";
      const extra = this.concealed === "" ? null : { concealed: this.concealed };
      if (text !== "") this.nodes.push(placed(permanentNode("text", text, extra), this.depth, 0));
      if (text !== "" && isSeparator) this.nodes[this.nodes.length - 1].isSeparator = true;
    }
    if (this.left > 0) {
      const more = { inside: this.left, key: keyOf(this.leftIn.element) };
      this.nodes.push(placed(permanentNode("", "", { more }), this.depth, 0));
      this.left = 0;
      this.leftIn = null;
    }
  }
}

const NO_CHILDREN = Object.freeze([]);

/** Drops empty nodes and moves text into the nodes that it names. Iterates backwards, so that children come first. */
function prune(nodes, settings) {
  const parents = parentsOf(nodes);
  const children = new Array(nodes.length).fill(NO_CHILDREN);
  const kept = new Uint8Array(nodes.length);
  const acted = new Uint32Array(nodes.length);
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at];
    const parent = parents[at];
    const below = children[at];
    if (below.length > 1) below.reverse();
    const isReplaced = isReplacedByContent(node, below, nodes, acted[at]);
    if (!isReplaced && keepsNode(node, below, nodes, kept, settings)) kept[at] = 1;
    if (parent < 0) {
      if (node.isSeparator) kept[at] = 0;
      continue;
    }
    acted[parent] += acted[at] + (kept[at] === 1 && node.acted ? 1 : 0);
    if (children[parent] === NO_CHILDREN) children[parent] = [];
    if (kept[at] === 1) children[parent].push(at);
    else if (isReplaced) children[parent].push(...below.reverse());
  }
  return keptNodes(nodes, parents, kept, settings.interactive);
}

/** Whether only the content of a wrapper is listed. */
function isReplacedByContent(node, below, nodes, acted) {
  if (node.isRowBorder) return below.length < 2;
  if (node.listens !== "" && acted > MAX_OWN_INTERACTIVE && !unmarkClickable(node)) return true;
  // A wrapper that only has a pointer cursor or a listener, around one interactive element.
  return node.soft && below.length === 1 && nodes[below[0]].acted && !node.kept;
}

/** The kept nodes, each one level below its nearest kept ancestor. */
function keptNodes(nodes, parents, kept, isInteractive) {
  const depths = new Uint32Array(nodes.length);
  return nodes.filter((node, at) => {
    const parent = parents[at];
    depths[at] = parent < 0 ? 0 : depths[parent] + kept[parent];
    node.depth = depths[at];
    return kept[at] === 1 && !(isInteractive && node.role === "text");
  });
}

/** A listener on an element with more interactive descendants than this is for delegation. */
const MAX_OWN_INTERACTIVE = 3;

/** Marks the node as not clickable; returns whether it still gets a line. */
function unmarkClickable(node) {
  const isListed = node.listens === "too";
  node.acted = false;
  node.soft = false;
  if (node.extra !== null) delete node.extra.clickable;
  return isListed;
}

/** Decides whether a node is kept, and names it by its text or its looks. */
function keepsNode(node, below, nodes, kept, settings) {
  if (node.kept) return true;
  if (below.length > 0) nameByText(node, below, nodes, kept, settings);
  if (below.length === 0 && node.acted && node.name === "") describeLooks(node);
  return below.length > 0 || node.name !== "" || node.acted || !DROPPED_WHEN_EMPTY.has(node.role);
}

/** Names a node by its only text; without other text in the snapshot, by all its texts. Drops separators. */
function nameByText(node, below, nodes, kept, settings) {
  const isNamed = node.name === "" && NAMED_BY_TEXT_ROLES.has(node.role) && !node.isRowBorder;
  const isOnly = isNamed && below.length === 1 && nodes[below[0]].role === "text";
  const isJoined = isNamed && node.acted && settings.interactive;
  const texts = [];
  for (let at = below.length - 1; at >= 0; at--) {
    const child = nodes[below[at]];
    if (child.role !== "text" || !(isOnly || isJoined || child.isSeparator)) continue;
    if (isOnly || (isJoined && !child.isSeparator)) texts.unshift(child.name);
    kept[below[at]] = 0;
    below.splice(at, 1);
  }
  if (texts.length > 0) node.name = isOnly ? texts[0] : lineOf(texts.join(" "), settings.limits.name);
}

/** The index of each node's parent; -1 for none. */
function parentsOf(nodes) {
  const path = [];
  return nodes.map((node, at) => {
    while (path.length > 0 && nodes[path[path.length - 1]].depth >= node.depth) path.pop();
    const parent = path.length > 0 ? path[path.length - 1] : -1;
    path.push(at);
    return parent;
  });
}

/** The list as wire entries. */
function entriesOf(nodes) {
  return nodes.map((node) => {
    const entry = [node.depth, node.role, node.name, node.key];
    if (node.extra !== null) entry.push(node.remoteness, detailsOf(node.extra));
    else if (node.remoteness > 0) entry.push(node.remoteness);
    return entry;
  });
}

/** The details of a node. A lone target or level is sent bare, because that is the common case. */
function detailsOf(extra) {
  let count = 0;
  for (const _ in extra) count += 1;
  return count === 1 ? (extra.target ?? extra.level ?? extra) : extra;
}
