// Numbers for elements and the ways between them: parents and children as they are seen, across shadow roots and
// frames of the same origin. Knows nothing of roles or of what is visible.

const keysByElement = new WeakMap();
const elementsByKey = new Map();
let lastKey = 0;
let keysUntilSweep = 4096;

/** The element's number, the same for as long as it lives. */
function keyOf(element) {
  const known = keysByElement.get(element);
  if (known !== undefined) return known;
  const key = ++lastKey;
  keysByElement.set(element, key);
  elementsByKey.set(key, new WeakRef(element));
  if (--keysUntilSweep === 0) sweepKeys();
  return key;
}

/** Forgets the numbers of elements that no longer exist. */
function sweepKeys() {
  for (const [key, held] of elementsByKey) if (held.deref() === undefined) elementsByKey.delete(key);
  keysUntilSweep = Math.max(4096, elementsByKey.size);
}

/** The element with this number; null when it is no longer on the page. */
function elementOf(key) {
  const element = elementsByKey.get(key)?.deref();
  return element !== undefined && isOnPage(element) ? element : null;
}

/** Whether the element is in a document that is shown, in this frame or a readable one below. */
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

/** The document inside a frame element; null when it is of another origin or there is none. */
function accessibleDocument(frameElement) {
  try {
    return frameElement.contentDocument ?? null;
  } catch {
    return null;
  }
}

/** The parent as the eye sees it: slots and hosts of shadow roots count, and so do frame elements. */
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

/** The child nodes as the eye sees them; the document element for a readable frame. */
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

/** The element's shadow root if it is an open one. */
function shadowRootOf(element) {
  return element.shadowRoot ?? null;
}

/** Which frame a frame element holds, as the browser names it; told to the agent of the element's own document. */
const frameNames = new WeakMap();
const namedFrames = new Map();

/** The browser's name of the frame in this element; undefined when it has not been told. */
function frameNameOf(element) {
  return frameNames.get(element) ?? agentIn(element.ownerDocument.defaultView)?.nameOfFrame(element);
}

/** The agent of another document of this origin; all run in the same world. */
function agentIn(view) {
  try {
    return view && view !== window ? view.tabwire : undefined;
  } catch {
    return undefined;
  }
}

/** The element that holds a frame of another origin, in this document or a readable one below; null when it is gone. */
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
