// The walk behind a snapshot: visits elements nearest to the viewport first until the budget is used up, and reports
// what it left out.
//
// Every element waits in a queue for its distance from the viewport. Descendants of an element that fits on one screen
// inherit its distance, so few boxes are measured. Of a long container only a range around the viewport is visited.

/** Default output size of a walk, in characters. */
const DEFAULT_BUDGET = 16000;
/** Largest output size, in characters. */
const HARD_BUDGET = 1048576;
/** Most elements visited, brief and full. */
const VISITED_BRIEF = 15000;
const VISITED_FULL = 400000;
/** Most elements of a walk that may have a closed shadow root. */
const POSSIBLE_HOSTS = 16;
/** Cost of a node beside its name. */
const NODE_COST = 14;
/** Number of distance levels; each but the first is half a screen. */
const REMOTENESS_LEVELS = 48;

const SKIPPED_TAGS = new Set(
  "base head link meta noscript param script source style template title track wbr".split(" "),
);

/** Their text names another element. */
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
    this.hosts = [];
    this.start = null;
    this.shownOwners = new Map();
    this.wanted = null;
    this.overlay = null;
  }

  /** Walks everything below a root element. */
  run(root) {
    const view = viewOf(root.ownerDocument, 0);
    this.start = root;
    this.overlay = overlayOf(root.ownerDocument, view);
    const start = this.piece(root, null, view, 0);
    start.isRoot = true;
    this.enqueue(start);
    for (let piece = this.next(); piece !== null; piece = this.next()) this.visit(piece);
    if (this.isSpent()) this.visitInView(root.ownerDocument, view);
    return start;
  }

  isSpent() {
    return this.spent >= this.budget || this.visits <= 0;
  }

  /**
   * Visits elements that are in view although they are far away in the DOM, such as a dialog at the end of the body.
   */
  visitInView(document, view) {
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
      element, parent, view, remoteness, queued: true, node: null, parts: [], block: true, total: 0, above: 0, below: 0,
      unit: "", level: parent === null ? 0 : parent.level + (parent.node === null ? 0 : 1),
      interactiveOnly: parent?.interactiveOnly === true, isAriaHidden: parent?.isAriaHidden === true, pointer: parent?.pointer === true,
      concealed: parent?.concealed ?? "",
      namesAction: parent?.namesAction === true, hiddenControl: null, role: "", box: null, ground: null, isSmall: false, isCovered: false, isRoot: false,
    };
  }

  enqueue(piece) {
    const queue = this.queues[piece.remoteness];
    if (queue === undefined) this.queues[piece.remoteness] = [piece];
    else queue.push(piece);
    if (piece.remoteness < this.nearest) this.nearest = piece.remoteness;
  }

  /** The nearest queued element; null when the budget is used up or the queues are empty. */
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
    piece.queued = false;
    this.visits -= 1;
    const { element } = piece;
    const style = styleOf(element);
    const { display } = style;
    if (this.visitSimple(piece, style, display)) return;
    let exposure = exposureOf(element, style, display);
    if (exposure === 0) {
      if (!isVisibleThoughAriaHidden(element, this.isBehindDialog(element))) return;
      exposure = SHOWS_SELF | SHOWS_CHILDREN;
      piece.isAriaHidden = true;
    }
    const invisibleReason = invisibleReasonIn(piece, style, display);
    if (invisibleReason === "clipped") return;
    piece.block = isBlock(display);
    if (isFrameElement(element)) {
      this.visitFrame(piece, exposure);
      return;
    }
    piece.concealed = invisibleReason;
    if ((exposure & SHOWS_SELF) !== 0) this.describe(piece, style, display);
    if (element === this.overlay) markOverlay(piece);
    // Only descendants read it.
    if (element.firstElementChild !== null || !rendersOwnChildren(element) || this.showsOwned(element)) piece.pointer = style.cursor === "pointer";
    if (piece.node === null && isEmptyElement(element) && !element.hasAttribute("aria-owns")) coverTexts(piece, style);
    else if ((exposure & SHOWS_CHILDREN) !== 0) this.descend(piece, style, display, exposure);
  }

  /** Visits a simple element, which has no content to descend into; false when the element is not simple. */
  visitSimple(piece, style, display) {
    const node = simpleNodeOf(piece, style, display, this.settings.limits);
    if (node === null) return false;
    piece.role = node.role;
    this.take(piece, node);
    return true;
  }

  describe(piece, style, display) {
    const { element } = piece;
    if (element.localName === "label" && this.describeLabel(piece)) return;
    const role = isEditingHost(element) && !INTERACTIVE_ROLES.has(roleOf(element)) ? "textbox" : roleOf(element);
    const known = INTERACTIVE_ROLES.has(role) || element.localName === "label";
    const reason = known ? "" : clickReasonOf(piece, style);
    piece.role = role;
    if (piece.interactiveOnly && reason === "" && !INTERACTIVE_ROLES.has(role)) return;
    const isClosed = CLOSED_ROLES.has(role);
    const concealed = isConcealing(piece.concealed) ? piece.concealed : isClosed ? unreadabilityIn(piece, style, display) : "";
    // A heading or image is only its text. An interactive element is listed with the reason why it is invisible.
    if (concealed !== "" && !INTERACTIVE_ROLES.has(role) && reason === "") return;
    const node = describe(element, role, reason, concealed, this.settings);
    if (node !== null) this.take(piece, node);
  }

  /** Describes a control that is not listed itself at the place of its visible label; false when there is none. */
  describeLabel(piece) {
    const { element } = piece;
    piece.hiddenControl = hiddenControlOf(element);
    if (piece.hiddenControl === null || piece.concealed !== "" || piece.interactiveOnly || !isOperatedByLabel(piece.hiddenControl)) return false;
    const role = roleOf(piece.hiddenControl);
    const node = describe(piece.hiddenControl, role, "", "", this.settings);
    if (node === null) return false;
    node.name = lineOf(labelNameOf(element) || node.name, this.settings.limits.name);
    piece.role = role;
    this.take(piece, node);
    return true;
  }

  take(piece, node) {
    piece.node = node;
    if (node.acted) recordBox(piece.element, boxOf(piece));
    this.spent += NODE_COST + node.role.length + node.name.length + (node.extra?.value?.length ?? 0);
  }

  /** Descends into a same-origin frame. For a cross-origin frame, adds a placeholder that Rust fills. */
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
    this.enqueue(child);
  }

  /** Whether an aria-modal dialog covers the element; computed once per document. */
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
    if (element.localName === "svg" && !hasInteractiveContent(element)) return;
    if (node !== null && !piece.isRoot && isOpaque(element, node)) return;
    if (isEmptyElement(element) && !this.showsOwned(element)) return;
    if (this.isTooDeep(piece)) {
      piece.below = element.childElementCount;
      piece.total = piece.below;
      return;
    }
    if (node !== null && CLOSED_ROLES.has(piece.role)) {
      if (element.firstElementChild === null && shadowRootOf(element) === null && element.localName !== "slot") return;
      piece.interactiveOnly = true;
    } else if ((element.localName === "label" && element.control && piece.hiddenControl === null) || (CAPTION_TAGS.has(element.localName) && isHtml(element))) {
      piece.interactiveOnly = true;
    }
    piece.namesAction ||= node !== null && node.acted && node.name === "" && NAMED_BY_TEXT_ROLES.has(node.role);
    if (markScrollable(piece, style, display)) this.spent += NODE_COST;
    const skipText = (this.settings.interactive && !piece.namesAction) || piece.interactiveOnly || (exposure & SHOWS_SELF) === 0 || isConcealing(piece.concealed);
    this.foundText = false;
    this.queueChildren(piece, skipText);
    if (this.foundText && unreadabilityIn(piece, style, display) !== "") {
      piece.parts = piece.parts.map((part) => (typeof part === "string" ? " " : part));
    }
  }

  /** Queues the children; adds text children directly. */
  queueChildren(piece, skipText) {
    const { element } = piece;
    piece.isSmall = piece.parent?.isSmall === true || isSmall(boxOf(piece), piece.view);
    // When everything is visited, the order does not matter.
    const measured = !piece.isSmall && !this.full;
    if (this.hosts.length < POSSIBLE_HOSTS && isPossibleHost(element)) this.hosts.push(element);
    const count = shadowRootOf(element)?.childElementCount ?? element.childElementCount;
    if ((count <= WHOLE_CHILDREN && !(piece.isRoot && this.from !== null)) || this.full) {
      const wanted = count > WHOLE_CHILDREN ? this.wanted : null;
      for (const child of composedChildren(element)) {
        if (wanted !== null && child.nodeType === Node.ELEMENT_NODE && !wanted.accepts(child)) continue;
        this.add(child, piece, skipText, measured);
      }
    } else {
      this.addChildRange(piece, skipText, measured);
    }
    if (this.showsOwned(element)) this.addOwned(piece, skipText);
    // The queue is a stack: push the first child last.
    for (let at = piece.parts.length - 1; at >= 0; at--) {
      const part = piece.parts[at];
      if (typeof part !== "string") this.enqueue(part);
    }
  }

  /** Whether an element shows the elements that it owns by aria-owns. A role that its name represents does not. */
  showsOwned(element) {
    if (!element.hasAttribute("aria-owns")) return false;
    let shows = this.shownOwners.get(element);
    if (shows === undefined) {
      shows = isWithin(element, this.start) && (exposureOf(element) & SHOWS_CHILDREN) !== 0 && !CLOSED_ROLES.has(roleOf(element)) &&
        !OPAQUE_TAGS.has(element.localName) && !isEditingHost(element);
      this.shownOwners.set(element, shows);
    }
    return shows;
  }

  addOwned(piece, skipText) {
    for (const owned of ownedBy(piece.element)) {
      if (ownerOf(owned) === piece.element && composedParent(owned) !== piece.element) this.add(owned, piece, skipText, !this.full);
    }
  }

  /** Whether an element is shown elsewhere, by its aria-owns owner. */
  isShownByOwner(element, parent) {
    if (element.id === "") return false;
    const owner = ownerOf(element);
    return owner !== null && owner !== parent && this.showsOwned(owner);
  }

  addChildRange(piece, skipText, measured) {
    const from = piece.isRoot ? this.from : null;
    const { elements, start, end, total } = childRange(elementsBelow(piece.element), piece.view, from, piece.isRoot);
    piece.total = total;
    piece.above = start;
    piece.below = total - end;
    piece.unit = unitOf(elements[start]);
    if (start > 0 && isHeaderRow(elements[0])) {
      this.add(elements[0], piece, skipText, false);
      piece.above -= 1;
    }
    if (end <= start) return;
    if (Array.isArray(elements)) {
      for (let at = start; at < end; at++) this.add(elements[at], piece, skipText, measured);
      return;
    }
    const last = elements[end - 1];
    for (let node = elements[start]; node !== null; node = node.nextSibling) {
      this.add(node, piece, skipText, measured);
      if (node === last) break;
    }
  }

  add(child, piece, skipText, measured) {
    if (child.nodeType === Node.TEXT_NODE) {
      const text = child.data;
      if (skipText || (piece.isAriaHidden && !hasWords(text))) return;
      if (text.length > 16 && !/\S/.test(text)) piece.parts.push(" ");
      else piece.parts.push(text.length > this.settings.limits.text * 4 ? text.slice(0, this.settings.limits.text * 4) : text);
      if (hasNonSpace(text)) {
        this.foundText = true;
        this.spent += Math.min(text.length, this.settings.limits.text);
      }
      return;
    }
    if (child.nodeType !== Node.ELEMENT_NODE || SKIPPED_TAGS.has(child.localName) || this.isShownByOwner(child, piece.element)) return;
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

  /** Distance level of an element: 0 in view, then one level per half screen. */
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

/** Whether all content of the box is about as far from the viewport as the box. */
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

/** Elements at sample points of the viewport, with their ancestors. */
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

/** The root to walk: the open modal dialog, else the document element. */
function rootOf(document, walk) {
  const dialog = modalDialogOf(document);
  if (dialog === null) return document.documentElement;
  walk.behind = true;
  return dialog;
}

function isEmptyElement(element) {
  return element.firstChild === null && rendersOwnChildren(element) && !isUnaskedHost(element);
}

/** Whether an element renders its own children only. */
function rendersOwnChildren(element) {
  return shadowRootOf(element) === null && element.localName !== "slot";
}

const SVG_CONTENT = "a, text, [role], [tabindex], [onclick], foreignObject";

function hasInteractiveContent(svg) {
  return svg.querySelector(SVG_CONTENT) !== null || listeningDrawings.has(svg);
}

const OPAQUE_TAGS = new Set(["audio", "canvas", "select", "video"]);

/** Whether the content of an element is its value. */
function isOpaque(element, node) {
  return node.role === "textbox" || node.role === "searchbox" || OPAQUE_TAGS.has(element.localName);
}

function unitOf(element) {
  if (element === undefined) return "";
  const role = roleOf(element);
  return STRUCTURE_ROLES.has(role) || INTERACTIVE_ROLES.has(role) ? role : "";
}

function scrollOf(document) {
  const root = document.scrollingElement ?? document.documentElement;
  return {
    x: Math.round(scrollX), y: Math.round(scrollY), width: root?.scrollWidth ?? 0, height: root?.scrollHeight ?? 0,
    viewportWidth: innerWidth, viewportHeight: innerHeight,
  };
}

/** The element at which a walk starts. */
function startOf(options, walk) {
  if (options.within === undefined || options.within === null) return rootOf(document, walk);
  const element = elementOf(options.within);
  if (element === null) fail("REF_EXPIRED", "The element to walk is no longer on the page.", takeNewSnapshot());
  return element;
}

/** The document that a snapshot shows. */
agent.identify = () => agent.document;

/**
 * The page as JSON text: `{document, url, title, scroll, nodes, left}`.
 *
 * Text, because CDP transfers one string much faster than a tree of values.
 */
agent.snapshot = (options = {}) => {
  const walk = new Walk(options);
  return inPass(() => {
    const root = startOf(options, walk);
    const nodes = root === null ? [] : listOf(walk.run(root), walk.settings);
    const left = { spent: walk.queues.some((queue) => queue?.length > 0), behind: walk.behind };
    return JSON.stringify({
      document: agent.document, url: location.href, title: lineOf(document.title, 200), scroll: scrollOf(document),
      nodes: entriesOf(nodes), left, ...(walk.hosts.length > 0 && { hosts: walk.hosts.map(keyOf) }),
    });
  });
};
