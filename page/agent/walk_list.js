// Turns what a walk has gathered into the list that leaves the page: depth first, wrappers gone, texts joined, what was
// left out told. Knows nothing of the DOM.
//
// A piece is one visited element: `{node, parts, block, ...}`; `parts` holds texts and pieces in their order. An entry
// of the list is `[depth, role, name, key, remoteness, details]`, cut where the rest is nothing.

/** Text that only separates what stands around it. */
const SEPARATOR = /^[\s.,;:|·•/\\()[\]{}<>–—-]*$/;

/** Nodes that are nothing without a name or something inside. */
const HOLLOW_ROLES = new Set(
  ("alert application article banner clickable complementary contentinfo feed figure form group list listitem log main " +
    "marquee menu menubar navigation radiogroup region row search status table tablist tabpanel timer toolbar tooltip " +
    "tree treegrid grid").split(" "),
);

/** Lists all nodes below a piece. Works without recursion, since pages may be nested deeper than the stack. */
function listOf(root, settings) {
  const nodes = [];
  const text = new TextRun(nodes, settings.limits.text);
  const open = [{ piece: root, at: -1, depth: 0, inner: 0, isCovered: false }];
  while (open.length > 0) {
    const frame = open[open.length - 1];
    const { piece } = frame;
    if (frame.at === -1) enter(frame, text, nodes);
    if (frame.at >= piece.parts.length) {
      leave(frame, text, nodes);
      open.pop();
      continue;
    }
    const part = piece.parts[frame.at++];
    if (typeof part === "string") text.add(frame.isCovered ? " " : part, frame.inner, piece.concealed);
    else if (part.waiting) text.leaveOut(part, frame.inner);
    else if (part.parts.length === 0 && part.node !== null && part.total === 0) {
      text.end();
      nodes.push(placed(part.node, frame.inner, part.remoteness));
    } else open.push({ piece: part, at: -1, depth: frame.inner, inner: 0, isCovered: frame.isCovered || part.isCovered });
  }
  text.end();
  return prune(nodes);
}

function enter(frame, text, nodes) {
  const { piece } = frame;
  frame.at = 0;
  frame.inner = frame.depth;
  if (piece.block || piece.node !== null) text.end();
  if (piece.node !== null) {
    nodes.push(placed(piece.node, frame.depth, piece.remoteness));
    frame.inner += 1;
  }
  if (piece.above > 0) nodes.push(moreNode(frame.inner, piece, "above"));
}

function leave(frame, text, nodes) {
  const { piece } = frame;
  if (piece.block || piece.node !== null || piece.below > 0) text.end();
  if (piece.below > 0) nodes.push(moreNode(frame.inner, piece, "below"));
}

function placed(node, depth, remoteness) {
  node.depth = depth;
  node.remoteness = remoteness;
  return node;
}

/** A line that is told whatever stands around it. */
function keptNode(role, name, extra) {
  const node = nodeOf(role, name, 0, false, extra);
  node.kept = true;
  return node;
}

/** A line that says how many children lie before or after those shown, and where to go on. */
function moreNode(depth, piece, side) {
  const more = { [side]: piece[side], key: keyOf(piece.element), total: piece.total };
  if (piece.unit !== "") more.unit = piece.unit;
  more.from = 1 + (side === "above" ? Math.max(0, piece.above - SHOWN_ALIKE) : piece.total - piece.below);
  return placed(keptNode("", "", { more }), depth, piece.remoteness);
}

/** Joins texts of one block, and counts what was not visited. */
class TextRun {
  constructor(nodes, limit) {
    this.nodes = nodes;
    this.limit = limit;
    this.text = "";
    this.depth = 0;
    this.left = 0;
    this.leftIn = null;
    /** Text for screen readers is told apart from text that people see. */
    this.concealed = "";
  }

  add(text, depth, concealed) {
    if (this.left > 0 || concealed !== this.concealed) this.end();
    this.concealed = concealed;
    this.text += text;
    this.depth = depth;
  }

  leaveOut(piece, depth) {
    if (this.text !== "") this.end();
    this.left += 1;
    this.leftIn ??= piece.parent;
    this.depth = depth;
  }

  end() {
    if (this.text !== "") {
      const text = SEPARATOR.test(this.text) ? "" : lineOf(this.text, this.limit);
      this.text = "";
      const extra = this.concealed === "" ? null : { concealed: this.concealed };
      if (text !== "") this.nodes.push(placed(keptNode("text", text, extra), this.depth, 0));
    }
    if (this.left > 0) {
      const more = { inside: this.left, key: keyOf(this.leftIn.element) };
      this.nodes.push(placed(keptNode("", "", { more }), this.depth, 0));
      this.left = 0;
      this.leftIn = null;
    }
  }
}

const NO_CHILDREN = Object.freeze([]);

/** Drops hollow nodes and folds texts into the nodes that they name. Goes backwards, so that children come first. */
function prune(nodes) {
  const parents = parentsOf(nodes);
  const children = new Array(nodes.length).fill(NO_CHILDREN);
  const kept = new Uint8Array(nodes.length);
  const acted = new Uint32Array(nodes.length);
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at];
    const parent = parents[at];
    const below = children[at];
    if (below.length > 1) below.reverse();
    const isDropped = node.listens !== "" && acted[at] > LISTENED_INSIDE && !outgrow(node);
    if (!isDropped && settle(node, below, nodes, kept)) kept[at] = 1;
    if (parent < 0) continue;
    acted[parent] += acted[at] + (kept[at] === 1 && node.acted ? 1 : 0);
    if (children[parent] === NO_CHILDREN) children[parent] = [];
    if (kept[at] === 1) children[parent].push(at);
    else if (isDropped) children[parent].push(...below.reverse());
  }
  return nodes.filter((_, at) => kept[at] === 1);
}

/** A listener on something that holds more than this to act on listens for what is inside, not for itself. */
const LISTENED_INSIDE = 3;

/** Takes back that something can be acted on; whether it is still worth telling. */
function outgrow(node) {
  const isTold = node.listens === "too";
  node.acted = false;
  node.soft = false;
  if (node.extra !== null) delete node.extra.clickable;
  return isTold;
}

/** Decides whether a node stays, and gives it its children's text as a name where that is what it shows. */
function settle(node, below, nodes, kept) {
  if (node.kept) return true;
  if (node.name === "" && FOLDED_ROLES.has(node.role) && below.length === 1) {
    const only = nodes[below[0]];
    if (only.role === "text") {
      node.name = only.name;
      kept[below.pop()] = 0;
    }
  }
  if (node.soft && below.length === 1 && nodes[below[0]].acted) return lift(node, below[0], nodes);
  return below.length > 0 || node.name !== "" || node.acted || !HOLLOW_ROLES.has(node.role);
}

/** Lets the one thing inside take the place of a wrapper that only has a pointer cursor. */
function lift(node, at, nodes) {
  const depth = nodes[at].depth;
  for (let next = at; next < nodes.length && (next === at || nodes[next].depth > depth); next++) nodes[next].depth -= 1;
  return false;
}

/** For every node of a list the index of the one it is in; -1 for none. */
function parentsOf(nodes) {
  const path = [];
  return nodes.map((node, at) => {
    while (path.length > 0 && nodes[path[path.length - 1]].depth >= node.depth) path.pop();
    const parent = path.length > 0 ? path[path.length - 1] : -1;
    path.push(at);
    return parent;
  });
}

/** The list as it leaves the page. */
function entriesOf(nodes) {
  const path = [];
  return nodes.map((node) => {
    while (path.length > 0 && path[path.length - 1] >= node.depth) path.pop();
    const entry = [path.length, node.role, node.name, node.key];
    path.push(node.depth);
    if (node.extra !== null) entry.push(node.remoteness, detailsOf(node.extra));
    else if (node.remoteness > 0) entry.push(node.remoteness);
    return entry;
  });
}

/** What else is known of a node; a target or level alone stands for itself, since it mostly is alone. */
function detailsOf(extra) {
  let count = 0;
  for (const _ in extra) count += 1;
  return count === 1 ? (extra.target ?? extra.level ?? extra) : extra;
}
