// Keys of elements, and parents and children in the flattened tree, across shadow roots and same-origin frames.

const keysByElement = new WeakMap();
const elementsByKey = new Map();
let lastKey = 0;
let keysUntilSweep = 4096;

/** The element's key; stable for its lifetime. */
function keyOf(element) {
  const known = keysByElement.get(element);
  if (known !== undefined) return known;
  const key = ++lastKey;
  keysByElement.set(element, key);
  elementsByKey.set(key, new WeakRef(element));
  if (--keysUntilSweep === 0) sweepKeys();
  return key;
}

/** Removes the keys of collected elements. */
function sweepKeys() {
  for (const [key, held] of elementsByKey) if (held.deref() === undefined) elementsByKey.delete(key);
  keysUntilSweep = Math.max(4096, elementsByKey.size);
}

/** The element with this key; null when it is no longer on the page. */
function elementOf(key) {
  const element = elementsByKey.get(key)?.deref();
  return element !== undefined && isOnPage(element) ? element : null;
}

/** Whether the element is attached, in this document or a same-origin frame below it. */
function isOnPage(element) {
  for (let node = element; ; ) {
    if (!node.isConnected) return false;
    const owner = node.ownerDocument;
    if (owner === document) return true;
    const frame = owner.defaultView?.frameElement;
    if (!frame || accessibleDocument(frame) !== owner) return false;
    node = frame;
  }
}

const FRAME_TAGS = new Set(["iframe", "frame", "object", "embed"]);

function isFrameElement(element) {
  return FRAME_TAGS.has(element.localName) && element.namespaceURI === "http://www.w3.org/1999/xhtml";
}

/** The document inside a frame element; null when it is cross-origin or absent. */
function accessibleDocument(frameElement) {
  try {
    return frameElement.contentDocument ?? null;
  } catch {
    return null;
  }
}

/** The parent in the flattened tree: assigned slot, shadow host or frame element. */
function composedParent(node) {
  if (node.assignedSlot) return node.assignedSlot;
  const parent = node.parentNode;
  if (parent === null) return null;
  if (parent instanceof ShadowRoot || parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return parent.host ?? null;
  if (parent.nodeType === Node.DOCUMENT_NODE) {
    return parent === document ? null : (parent.defaultView?.frameElement ?? null);
  }
  return parent;
}

/** The child nodes in the flattened tree; the document element for a same-origin frame. */
function composedChildren(element) {
  if (element.localName === "slot") {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  const root = shadowRootOf(element);
  if (root !== null) return root.childNodes;
  if (isFrameElement(element)) {
    const inside = accessibleDocument(element)?.documentElement;
    return inside ? [inside] : [];
  }
  return element.childNodes;
}

/** Closed shadow roots that Rust has found, by their hosts. Scripts cannot read them. */
const closedRoots = new WeakMap();
/** Elements that Rust was asked about. */
const askedHosts = new WeakSet();

/** The element's shadow root: an open one, or a closed one that Rust has found; else null. */
function shadowRootOf(element) {
  return element.shadowRoot ?? closedRoots.get(element) ?? null;
}

/** Whether the element may have a closed shadow root that Rust was not asked about: a custom element without an open one. */
function isUnaskedHost(element) {
  return element.localName.includes("-") && element.shadowRoot === null && !askedHosts.has(element);
}

/** Whether Rust is to look for a closed shadow root of the element; true once. */
function isPossibleHost(element) {
  if (!isUnaskedHost(element)) return false;
  askedHosts.add(element);
  return element.matches(":defined");
}

agent.adoptRoot = (root) => {
  closedRoots.set(root.host, root);
  elementsAtScan = -1;
};

/** CDP frame ids of frame elements. Rust sends them to the agent of the element's own document. */
const frameNames = new WeakMap();
const namedFrames = new Map();

/** The CDP frame id of the frame in this element; undefined when Rust has not sent it. */
function frameNameOf(element) {
  return frameNames.get(element) ?? agentIn(element.ownerDocument.defaultView)?.nameOfFrame(element);
}

/** The agent of another same-origin document; all run in the same world. */
function agentIn(view) {
  try {
    return view && view !== window ? view.tabwire : undefined;
  } catch {
    return undefined;
  }
}

/** The element of a cross-origin frame, in this document or a same-origin one below it; null when it is gone. */
function frameElementOf(frame) {
  const element = namedFrames.get(frame)?.deref();
  if (element !== undefined && element.isConnected) return element;
  namedFrames.delete(frame);
  for (let at = 0; at < window.length; at++) {
    const inner = agentIn(window[at])?.elementOfFrame(frame);
    if (inner && isOnPage(inner)) return inner;
  }
  return null;
}

agent.nameFrame = ({ element, frame }) => {
  frameNames.set(element, frame);
  namedFrames.set(frame, new WeakRef(element));
};
agent.nameOfFrame = (element) => frameNames.get(element);
agent.elementOfFrame = (frame) => frameElementOf(frame);
