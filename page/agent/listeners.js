// Which elements listen for clicks. No script can see what others listen for: the browser knows, and Rust tells it
// here. Knows nothing of how it was found out.

/** The elements that listen, by the numbers the browser gives them. */
const listenersByNumber = new Map();
const listeningElements = new WeakSet();
/** Drawings with shapes in them that listen. */
const listeningDrawings = new WeakSet();

const CONTROLS = "a[href], button, input, select, textarea, [role], [tabindex], [onclick]";

/**
 * Notes elements that listen; whether any of them would not be taken for clickable otherwise. A document or shadow
 * root listens for what is inside, and so does a page's body.
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

/** Forgets elements that listen no longer, or are gone. */
agent.forgetListeners = (numbers) => {
  for (const number of numbers) {
    const element = listenersByNumber.get(number)?.deref();
    if (element !== undefined) listeningElements.delete(element);
    listenersByNumber.delete(number);
  }
  return true;
};

/** Whether an element listens for clicks. */
function isListening(element) {
  return listeningElements.has(element);
}

/**
 * Whether the element of a piece listens for clicks on itself. One that fills most of the screen and has controls in
 * it listens for them, and an empty one without a size cannot be clicked.
 */
function listens(piece) {
  const { element, view } = piece;
  if (!listeningElements.has(element)) return false;
  const { width, height } = boxOf(piece);
  if (width * height === 0) return !isHollow(element);
  return width * height * 2 <= view.width * view.height || element.querySelector(CONTROLS) === null;
}
