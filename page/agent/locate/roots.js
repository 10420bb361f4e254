// Roots that can hold elements: the document, shadow roots and same-origin frame documents, at any depth.

/** Roots that the last full scan found. Weak, so that they do not keep removed parts of the page alive. */
let cachedRoots = [];
let elementsAtScan = -1;

/** Every root at or below `scope` (a document, shadow root or element), `scope` first. */
function rootsBelow(scope) {
  const roots = [scope];
  for (let at = 0; at < roots.length; at++) addRootsIn(roots[at], roots);
  if (scope === document) {
    cachedRoots = roots.slice(1).map((root) => new WeakRef(root));
    elementsAtScan = countElements();
  }
  return roots;
}

function addRootsIn(root, roots) {
  if (root.nodeType === Node.ELEMENT_NODE) addRootsOf(root, roots);
  // A tree walker is four times as fast as `querySelectorAll("*")`, which builds a list first.
  const walker = root.ownerDocument === null
    ? root.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)
    : root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
  for (let element = walker.nextNode(); element !== null; element = walker.nextNode()) addRootsOf(element, roots);
}

function addRootsOf(element, roots) {
  const shadow = shadowRootOf(element);
  if (shadow) roots.push(shadow);
  else if (isFrameElement(element)) {
    const inside = accessibleDocument(element);
    if (inside !== null) roots.push(inside);
  }
}

function countElements() {
  return document.getElementsByTagName("*").length;
}

/** The roots of the last scan. Scans again when the number of elements in the document has changed. */
function knownRoots() {
  if (elementsAtScan !== countElements()) return rootsBelow(document);
  const roots = [document];
  for (const held of cachedRoots) {
    const root = held.deref();
    if (root?.isConnected) roots.push(root);
  }
  return roots;
}

/** The node and its ancestors in the flattened tree, outermost first. */
function composedPath(node) {
  const path = [];
  for (let at = node; at !== null; at = composedParent(at)) path.push(at);
  return path.reverse();
}

/** Whether `inner` is `outer` or a descendant, across shadow roots and frames. */
function isWithin(inner, outer) {
  for (let at = inner; at !== null; at = composedParent(at)) if (at === outer) return true;
  return false;
}

/** Sort order of elements in different roots: page order. */
function comparePageOrder(left, right) {
  const first = composedPath(left);
  const second = composedPath(right);
  let at = 0;
  while (at < first.length && at < second.length && first[at] === second[at]) at++;
  if (at === first.length || at === second.length) return first.length - second.length;
  const place = first[at].compareDocumentPosition(second[at]);
  if ((place & Node.DOCUMENT_POSITION_DISCONNECTED) !== 0) return first[at].getRootNode().host ? -1 : 1;
  return (place & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 ? -1 : 1;
}

/** Whether all elements share one root, and so are in page order already. */
function isOneTree(elements) {
  const root = elements[0]?.getRootNode();
  return elements.every((element) => element.getRootNode() === root);
}
