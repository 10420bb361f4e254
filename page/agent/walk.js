// The walk behind a snapshot: visits what is nearest to the viewport first, until the budget is spent, and says what it
// left out. Knows nothing of how lines are written; changes nothing on the page.
//
// Every element waits in a queue for its distance from the viewport. Elements that fit on one screen hand their own
// distance down, so that few boxes are measured; long containers show a stretch around the viewport.

/** Characters of output a walk aims at unless told otherwise. */
const DEFAULT_BUDGET = 16000;
/** Characters of output that are never exceeded. */
const HARD_BUDGET = 1048576;
/** Elements visited at most, in brief and in full. */
const VISITED_BRIEF = 15000;
const VISITED_FULL = 400000;
/** What a node's line costs beside its name. */
const NODE_COST = 14;
/** Distances told apart; each but the first is half a screen. */
const REMOTENESS_LEVELS = 48;

const UNSEEN_TAGS = new Set(
  "base head link meta noscript param script source style template title track wbr".split(" "),
);

/** Texts of these name something else, which tells them. */
const CAPTION_TAGS = new Set(["caption", "legend"]);

class Walk {
  constructor(options) {
    const full = options.full === true;
    const place = { origin: location.origin, base: location.href, place: location.href.split("#")[0] };
    const limits = { ...(full ? STRING_LIMITS.full : STRING_LIMITS.brief), ...place };
    this.settings = { interactive: options.interactive === true, limits };
    this.budget = full ? HARD_BUDGET : Math.min(options.budget ?? DEFAULT_BUDGET, HARD_BUDGET);
    this.visits = full ? VISITED_FULL : VISITED_BRIEF;
    this.full = full;
    this.depth = options.depth ?? Infinity;
    this.from = options.from > 0 ? options.from - 1 : null;
    this.queues = [];
    this.nearest = 0;
    this.spent = 0;
    this.behind = false;
    this.dialogs = new Map();
    this.start = null;
    this.takers = new Map();
    this.wanted = null;
  }

  /** Walks everything below a root element. */
  run(root) {
    const view = viewOf(root.ownerDocument, 0);
    this.start = root;
    const start = this.piece(root, null, view, 0);
    start.isRoot = true;
    this.wait(start);
    for (let piece = this.next(); piece !== null; piece = this.next()) this.visit(piece);
    if (this.isSpent()) this.rescue(root.ownerDocument, view);
    return start;
  }

  isSpent() {
    return this.spent >= this.budget || this.visits <= 0;
  }

  /** Visits what is in view although it is written far from there, such as a box at the end of the page. */
  rescue(document, view) {
    const seen = elementsInView(document, view);
    this.budget *= 1.25;
    this.visits += VISITED_BRIEF / 4;
    const near = [];
    for (let level = 1; level < this.queues.length; level++) {
      this.queues[level] = this.queues[level]?.filter((piece) => {
        if (!seen.has(piece.element)) return true;
        piece.remoteness = 0;
        near.push(piece);
        return false;
      });
    }
    this.queues[0] = (this.queues[0] ?? []).concat(near);
    for (let piece = this.queues[0].pop(); piece !== undefined && !this.isSpent(); piece = this.queues[0].pop()) {
      this.visit(piece);
    }
  }

  piece(element, parent, view, remoteness) {
    return {
      element, parent, view, remoteness, waiting: true, node: null, parts: [], block: true, total: 0, above: 0, below: 0,
      unit: "", level: parent === null ? 0 : parent.level + (parent.node === null ? 0 : 1),
      quiet: parent?.quiet === true, unspoken: parent?.unspoken === true, pointer: parent?.pointer === true,
      concealed: parent?.concealed ?? "",
      role: "", box: null, ground: null, isSmall: false, isCovered: false, isRoot: false,
    };
  }

  wait(piece) {
    const queue = this.queues[piece.remoteness];
    if (queue === undefined) this.queues[piece.remoteness] = [piece];
    else queue.push(piece);
    if (piece.remoteness < this.nearest) this.nearest = piece.remoteness;
  }

  /** The nearest element that waits; null when the budget is spent or nothing waits. */
  next() {
    if (this.isSpent()) return null;
    while (this.nearest < this.queues.length) {
      const piece = this.queues[this.nearest]?.pop();
      if (piece !== undefined) return piece;
      this.nearest += 1;
    }
    return null;
  }

  visit(piece) {
    piece.waiting = false;
    this.visits -= 1;
    const { element } = piece;
    const style = styleOf(element);
    const { display } = style;
    if (this.tellPlain(piece, style, display)) return;
    let exposure = exposureOf(element, style, display);
    if (exposure === 0) {
      if (!isSeenThoughUnspoken(element, this.isBehindDialog(element))) return;
      exposure = SHOWS_SELF | SHOWS_CHILDREN;
      piece.unspoken = true;
    }
    const concealment = concealmentIn(piece, style, display);
    if (concealment === "clipped") return;
    piece.block = isBlock(display);
    if (isFrameElement(element)) {
      this.visitFrame(piece, exposure);
      return;
    }
    piece.concealed = concealment;
    if ((exposure & SHOWS_SELF) !== 0) this.describe(piece, style, display);
    // Only those inside ask for it.
    if (element.firstElementChild !== null || !isPlainHolder(element) || this.takes(element)) piece.pointer = style.cursor === "pointer";
    if (piece.node === null && isHollow(element) && !element.hasAttribute("aria-owns")) coverTexts(piece, style);
    else if ((exposure & SHOWS_CHILDREN) !== 0) this.descend(piece, style, display, exposure);
  }

  /** Tells a plain thing, in which there is nothing to go down to; false when the element is none. */
  tellPlain(piece, style, display) {
    const node = plainNodeOf(piece, style, display, this.settings.limits);
    if (node === null) return false;
    piece.role = node.role;
    this.take(piece, node);
    return true;
  }

  describe(piece, style, display) {
    const { element } = piece;
    const role = isEditingHost(element) && !ACTED_ROLES.has(roleOf(element)) ? "textbox" : roleOf(element);
    const known = ACTED_ROLES.has(role) || element.localName === "label";
    const reason = known ? "" : clickReasonOf(piece, style);
    piece.role = role;
    if (piece.quiet && reason === "" && !ACTED_ROLES.has(role)) return;
    const isClosed = CLOSED_ROLES.has(role);
    const concealed = isConcealing(piece.concealed) ? piece.concealed : isClosed ? unreadabilityIn(piece, style, display) : "";
    // A heading or picture is nothing but its text; what can be acted on is told, with the reason why it is not seen.
    if (concealed !== "" && !ACTED_ROLES.has(role) && reason === "") return;
    const node = describe(element, role, reason, concealed, this.settings);
    if (node !== null) this.take(piece, node);
  }

  take(piece, node) {
    piece.node = node;
    if (node.acted) rememberBox(piece.element, boxOf(piece));
    this.spent += NODE_COST + node.role.length + node.name.length + (node.extra?.value?.length ?? 0);
  }

  /** A frame of the same origin is walked into; another is a place for Rust to put its own answer. */
  visitFrame(piece, exposure) {
    const { element } = piece;
    const inside = accessibleDocument(element);
    const frame = frameNameOf(element);
    if (inside === null && frame === undefined && element.localName !== "iframe" && element.localName !== "frame") return;
    if ((exposure & SHOWS_SELF) === 0) return;
    const name = lineOf(shownNameOf(element, "iframe"), this.settings.limits.name);
    piece.node = nodeOf("iframe", name, keyOf(element), false, null);
    this.spent += NODE_COST + name.length;
    if (inside === null) {
      piece.node.extra = { frame: frame ?? "" };
      return;
    }
    const top = rootOf(inside, this);
    if (top === null || this.isTooDeep(piece)) return;
    const view = viewOf(inside, piece.remoteness);
    const child = this.piece(top, piece, view, piece.remoteness);
    piece.parts.push(child);
    this.wait(child);
  }

  /** Whether a dialog that says it is modal covers the element. Asked once for each document. */
  isBehindDialog(element) {
    const { ownerDocument } = element;
    let dialog = this.dialogs.get(ownerDocument);
    if (dialog === undefined) {
      dialog = ownerDocument.querySelector('[aria-modal="true"]');
      this.dialogs.set(ownerDocument, dialog);
    }
    return dialog !== null && dialog.checkVisibility() && !dialog.contains(element);
  }

  isTooDeep(piece) {
    return piece.level + (piece.node === null ? 0 : 1) > this.depth;
  }

  descend(piece, style, display, exposure) {
    const { element, node } = piece;
    if (element.localName === "svg" && !hasThingsInside(element)) return;
    if (node !== null && !piece.isRoot && isSealed(element, node)) return;
    if (isHollow(element) && !this.takes(element)) return;
    if (this.isTooDeep(piece)) {
      piece.below = element.childElementCount;
      piece.total = piece.below;
      return;
    }
    if (node !== null && CLOSED_ROLES.has(piece.role)) {
      if (element.firstElementChild === null && shadowRootOf(element) === null && element.localName !== "slot") return;
      piece.quiet = true;
    } else if ((element.localName === "label" && element.control) || (CAPTION_TAGS.has(element.localName) && isHtml(element))) {
      piece.quiet = true;
    }
    const silent = this.settings.interactive || piece.quiet || (exposure & SHOWS_SELF) === 0 || isConcealing(piece.concealed);
    this.hasInk = false;
    this.enqueue(piece, silent);
    if (this.hasInk && unreadabilityIn(piece, style, display) !== "") {
      piece.parts = piece.parts.map((part) => (typeof part === "string" ? " " : part));
    }
  }

  /** Puts the children in the queue; the texts among them are taken at once. */
  enqueue(piece, silent) {
    const { element } = piece;
    piece.isSmall = piece.parent?.isSmall === true || isSmall(boxOf(piece), piece.view);
    // Where everything is visited, it does not matter what comes first.
    const measured = !piece.isSmall && !this.full;
    const count = shadowRootOf(element)?.childElementCount ?? element.childElementCount;
    if ((count <= WHOLE_CHILDREN && !(piece.isRoot && this.from !== null)) || this.full) {
      const wanted = count > WHOLE_CHILDREN ? this.wanted : null;
      for (const child of composedChildren(element)) {
        if (wanted !== null && child.nodeType === Node.ELEMENT_NODE && !wanted.admits(child)) continue;
        this.add(child, piece, silent, measured);
      }
    } else {
      this.addStretch(piece, silent, measured);
    }
    if (this.takes(element)) this.addOwned(piece, silent);
    // The queue is a stack: the first child has to be the last one in.
    for (let at = piece.parts.length - 1; at >= 0; at--) {
      const part = piece.parts[at];
      if (typeof part !== "string") this.wait(part);
    }
  }

  /** Whether an element is shown with what it claims by aria-owns. What ends in its name shows nothing more. */
  takes(element) {
    if (!element.hasAttribute("aria-owns")) return false;
    let takes = this.takers.get(element);
    if (takes === undefined) {
      takes = isWithin(element, this.start) && (exposureOf(element) & SHOWS_CHILDREN) !== 0 && !CLOSED_ROLES.has(roleOf(element)) &&
        !SEALED_TAGS.has(element.localName) && !isEditingHost(element);
      this.takers.set(element, takes);
    }
    return takes;
  }

  addOwned(piece, silent) {
    for (const owned of ownedBy(piece.element)) {
      if (ownerOf(owned) === piece.element && composedParent(owned) !== piece.element) this.add(owned, piece, silent, !this.full);
    }
  }

  /** Whether an element is shown elsewhere, by one that claims it. */
  isTaken(element, parent) {
    if (element.id === "") return false;
    const owner = ownerOf(element);
    return owner !== null && owner !== parent && this.takes(owner);
  }

  addStretch(piece, silent, measured) {
    const from = piece.isRoot ? this.from : null;
    const { elements, start, end, total } = stretchOf(elementsBelow(piece.element), piece.view, from, piece.isRoot);
    piece.total = total;
    piece.above = start;
    piece.below = total - end;
    piece.unit = unitOf(elements[start]);
    if (start > 0 && isHeaderRow(elements[0])) {
      this.add(elements[0], piece, silent, false);
      piece.above -= 1;
    }
    if (end <= start) return;
    if (Array.isArray(elements)) {
      for (let at = start; at < end; at++) this.add(elements[at], piece, silent, measured);
      return;
    }
    const last = elements[end - 1];
    for (let node = elements[start]; node !== null; node = node.nextSibling) {
      this.add(node, piece, silent, measured);
      if (node === last) break;
    }
  }

  add(child, piece, silent, measured) {
    if (child.nodeType === Node.TEXT_NODE) {
      const text = child.data;
      if (silent || (piece.unspoken && !isWords(text))) return;
      if (text.length > 16 && !/\S/.test(text)) piece.parts.push(" ");
      else piece.parts.push(text.length > this.settings.limits.text * 4 ? text.slice(0, this.settings.limits.text * 4) : text);
      if (isInk(text)) {
        this.hasInk = true;
        this.spent += Math.min(text.length, this.settings.limits.text);
      }
      return;
    }
    if (child.nodeType !== Node.ELEMENT_NODE || UNSEEN_TAGS.has(child.localName) || this.isTaken(child, piece.element)) return;
    if (child.localName === "br") {
      piece.parts.push(" ");
      return;
    }
    let { remoteness } = piece;
    let box = null;
    if (measured) {
      box = plainBox(child);
      remoteness = this.remotenessOf(child, box, piece);
    }
    const part = this.piece(child, piece, piece.view, remoteness);
    part.box = box;
    piece.parts.push(part);
  }

  /** How far from the viewport an element is: 0 in it, then one level for each half screen. */
  remotenessOf(element, box, piece) {
    if (element.localName === "thead") return piece.view.remoteness;
    if (box.width === 0 && box.height === 0) return piece.remoteness;
    const distance = distanceTo(box, piece.view);
    if (distance === 0) return piece.view.remoteness;
    const above = box.bottom < 0 ? 1 : 0;
    const levels = 1 + Math.floor((2 * distance) / Math.max(1, piece.view.height)) + above;
    return Math.min(REMOTENESS_LEVELS - 1, piece.view.remoteness + levels);
  }
}

/** Whether everything inside the box is about as far from the viewport as the box. */
function isSmall(box, view) {
  return box.height <= view.height && box.width <= 2 * view.width && box.width > 0 && box.height > 0;
}

function isBlock(display) {
  return display !== "inline" && display !== "contents" && !display.startsWith("inline-");
}

function viewOf(document, remoteness) {
  const window = document.defaultView;
  return {
    width: window?.innerWidth ?? 0, height: window?.innerHeight ?? 0,
    scrollX: window?.scrollX ?? 0, scrollY: window?.scrollY ?? 0, remoteness,
  };
}

/** Elements at a few points of the viewport and all they are in: what is seen there is near, wherever it is written. */
function elementsInView(document, view) {
  const found = new Set();
  for (const x of [0.15, 0.5, 0.85]) {
    for (const y of [0.08, 0.5, 0.92]) {
      let node = document.elementFromPoint(view.width * x, view.height * y);
      for (; node !== null && !found.has(node); node = composedParent(node)) found.add(node);
    }
  }
  for (let node = document.activeElement; node !== null && !found.has(node); node = composedParent(node)) found.add(node);
  return found;
}

/** What there is to see of a document: its modal dialog if it has one open, else all of it. */
function rootOf(document, walk) {
  const dialog = modalDialogOf(document);
  if (dialog === null) return document.documentElement;
  walk.behind = true;
  return dialog;
}

/** Whether nothing at all is inside an element. */
function isHollow(element) {
  return element.firstChild === null && isPlainHolder(element);
}

/** Whether an element shows its own children and no others. */
function isPlainHolder(element) {
  return shadowRootOf(element) === null && element.localName !== "slot";
}

const SVG_CONTENT = "a, text, [role], [tabindex], [onclick], foreignObject";

function hasThingsInside(svg) {
  return svg.querySelector(SVG_CONTENT) !== null || listeningDrawings.has(svg);
}

const SEALED_TAGS = new Set(["audio", "canvas", "select", "video"]);

/** Whether what is inside an element is its value, not content. */
function isSealed(element, node) {
  return node.role === "textbox" || node.role === "searchbox" || SEALED_TAGS.has(element.localName);
}

function unitOf(element) {
  if (element === undefined) return "";
  const role = roleOf(element);
  return STRUCTURE_ROLES.has(role) || ACTED_ROLES.has(role) ? role : "";
}

function scrollOf(document) {
  const root = document.scrollingElement ?? document.documentElement;
  return {
    x: Math.round(scrollX), y: Math.round(scrollY), width: root?.scrollWidth ?? 0, height: root?.scrollHeight ?? 0,
    viewportWidth: innerWidth, viewportHeight: innerHeight,
  };
}

/** The element a walk starts from. */
function startOf(options, walk) {
  if (options.within === undefined || options.within === null) return rootOf(document, walk);
  const element = elementOf(options.within);
  if (element === null) fail("REF_EXPIRED", "The element to look into is no longer on the page.", "Take a new snapshot.");
  return element;
}

/**
 * What is on the page, as JSON text: `{document, url, title, scroll, nodes, left}`.
 *
 * Text, because the browser hands over one string much faster than a tree of values.
 */
agent.snapshot = (options = {}) => {
  const walk = new Walk(options);
  return inPass(() => {
    const root = startOf(options, walk);
    const nodes = root === null ? [] : listOf(walk.run(root), walk.settings);
    const left = { spent: walk.queues.some((waiting) => waiting?.length > 0), behind: walk.behind };
    return JSON.stringify({
      document: agent.document, url: location.href, title: lineOf(document.title, 200), scroll: scrollOf(document),
      nodes: entriesOf(nodes), left,
    });
  });
};
