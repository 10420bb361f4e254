// Where elements can be: the document, open shadow roots, and the documents of readable frames, at any depth. Knows
// nothing of what is looked for in them.

/** Roots found by the last look over the whole page, held weakly: who watches the page watches them. */
let lastRoots = [];
let elementsAtLastLook = -1;

/** Every root at or below `scope`, which is a document, a shadow root or an element; itself first. */
function rootsBelow(scope) {
  const roots = [scope];
  for (let at = 0; at < roots.length; at++) addRootsIn(roots[at], roots);
  if (scope === document) {
    lastRoots = roots.slice(1).map((root) => new WeakRef(root));
    elementsAtLastLook = countElements();
  }
  return roots;
}

function addRootsIn(root, roots) {
  if (root.nodeType === Node.ELEMENT_NODE) addRootsOf(root, roots);
  // Four times as fast as a list of all elements, which would be made first.
  const walker = root.ownerDocument === null
    ? root.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)
    : root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
  for (let element = walker.nextNode(); element !== null; element = walker.nextNode()) addRootsOf(element, roots);
}

function addRootsOf(element, roots) {
  const shadow = element.shadowRoot;
  if (shadow) roots.push(shadow);
  else if (isFrameElement(element)) {
    const inside = accessibleDocument(element);
    if (inside !== null) roots.push(inside);
  }
}

function countElements() {
  return document.getElementsByTagName("*").length;
}

/** The roots of the whole page as last seen; looked for again only when the document has grown or shrunk. */
function knownRoots() {
  if (elementsAtLastLook !== countElements()) return rootsBelow(document);
  const roots = [document];
  for (const held of lastRoots) {
    const root = held.deref();
    if (root?.isConnected) roots.push(root);
  }
  return roots;
}

/** The node and all above it, outermost first, as the eye sees them. */
function composedPath(node) {
  const path = [];
  for (let at = node; at !== null; at = composedParent(at)) path.push(at);
  return path.reverse();
}

/** Whether `inner` is `outer` or somewhere below it, across shadow roots and frames. */
function isWithin(inner, outer) {
  for (let at = inner; at !== null; at = composedParent(at)) if (at === outer) return true;
  return false;
}

/** Orders elements of different roots as they come on the page. */
function comparePlaces(left, right) {
  const first = composedPath(left);
  const second = composedPath(right);
  let at = 0;
  while (at < first.length && at < second.length && first[at] === second[at]) at++;
  if (at === first.length || at === second.length) return first.length - second.length;
  const place = first[at].compareDocumentPosition(second[at]);
  if ((place & Node.DOCUMENT_POSITION_DISCONNECTED) !== 0) return first[at].getRootNode().host ? -1 : 1;
  return (place & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 ? -1 : 1;
}

/** Whether all elements live in one tree, so that they are in order already. */
function isOneTree(elements) {
  const root = elements[0]?.getRootNode();
  return elements.every((element) => element.getRootNode() === root);
}
