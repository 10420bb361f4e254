// Which elements have click listeners. Scripts cannot list listeners; Rust reads them over CDP and sends them here.

/** Elements with listeners, by CDP number. */
const listenersByNumber = new Map();
const listeningElements = new WeakSet();
/** SVG elements that contain shapes with listeners. */
const listeningDrawings = new WeakSet();

const CONTROLS = "a[href], button, input, select, textarea, [role], [tabindex], [onclick]";

/**
 * Records elements with listeners; returns whether one of them would not be clickable otherwise. Ignores html and body:
 * their listeners are for delegation.
 */
agent.noteListeners = (numbers, elements) => {
  let matters = false;
  elements.forEach((element, at) => {
    if (element?.nodeType !== Node.ELEMENT_NODE || element.localName === "html" || element.localName === "body") return;
    listenersByNumber.set(numbers[at], new WeakRef(element));
    listeningElements.add(element);
    matters ||= !element.matches(CONTROLS);
    for (let svg = element.ownerSVGElement; svg; svg = svg.ownerSVGElement) listeningDrawings.add(svg);
  });
  return matters;
};

/** Removes elements without listeners. */
agent.forgetListeners = (numbers) => {
  for (const number of numbers) {
    const element = listenersByNumber.get(number)?.deref();
    if (element !== undefined) listeningElements.delete(element);
    listenersByNumber.delete(number);
  }
  return true;
};

function isListening(element) {
  return listeningElements.has(element);
}

/**
 * Whether the element has a click listener for itself. A listener on an element that fills most of the viewport and
 * contains controls is for delegation; an empty element without a size cannot be clicked.
 */
function listens(piece) {
  const { element, view } = piece;
  if (!listeningElements.has(element)) return false;
  const { width, height } = boxOf(piece);
  if (width * height === 0) return !isEmptyElement(element);
  return width * height * 2 <= view.width * view.height || element.querySelector(CONTROLS) === null;
}
