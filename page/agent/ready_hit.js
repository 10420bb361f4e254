// Finds a point of an element that input will reach, scrolling around what covers it. Knows nothing of waiting.

const SCROLL_BLOCKS = ["center", "start", "end", "nearest"];
const CYCLE_PAUSE = 500;
const INTERACTIVE = "button, a[href], label, summary, select, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], [role=tab], [role=option], [role=menuitem], [role=menuitemcheckbox], [role=menuitemradio], [role=treeitem]";

const TAKERS = `${INTERACTIVE}, input, textarea`;

/** Whether input that hits `hit` reaches the element: inside it, on a label for it, or on the control it is part of. */
function receives(element, hit) {
  if (isWithin(hit, element)) return true;
  const control = interactiveAround(element);
  if (control !== null && (hit === control || interactiveAround(hit) === control)) return true;
  for (let node = hit; node !== null; node = composedParent(node)) {
    if (node.localName === "label") return node.control === element;
  }
  return element.localName === "label" && element.control === hit;
}

/** The control that the element is a part of, when it is none itself. */
function interactiveAround(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    if (node.matches(INTERACTIVE)) return node === element ? null : node;
    if (node.matches("input, textarea, iframe, dialog, form, body")) return null;
  }
  return null;
}

/** Whether nothing inside the element would take the input for itself, like a link in the text of a label. */
function isClean(element, hit) {
  for (let node = hit; node !== null && node !== element; node = composedParent(node)) {
    if (node.matches(TAKERS) && element.control !== node) return !isWithin(node, element);
  }
  return true;
}

/** The part of the page that stands in the way: a dialog or something with a name if there is one, else its outermost box. */
function coverOf(hit, element) {
  if (isWithin(element, hit)) return hit;
  const parts = [];
  for (let node = hit; node !== null && !isWithin(element, node); node = composedParent(node)) {
    if (node.nodeType === Node.ELEMENT_NODE && node.localName !== "slot") parts.push(node);
  }
  const role = (node) => roleOf(node);
  const dialog = parts.find((node) => role(node) === "dialog" || role(node) === "alertdialog");
  return dialog ?? parts.findLast((node) => role(node) !== "generic" && role(node) !== "" && nameOf(node) !== "") ?? parts.at(-1) ?? hit;
}

function bringIntoView(element, block) {
  const boxed = element.getClientRects().length > 0 ? element : ([...composedChildren(element)].find((child) => child.nodeType === Node.ELEMENT_NODE) ?? element);
  boxed.scrollIntoView({ block, inline: block, behavior: "instant" });
}

/** A point that input to the element can be sent to, or what is in the way of it. */
function lookForPoint(element, position) {
  const boxes = boxesOf(element);
  const points = position ? [pointAt(element, position)] : pointsOf(element, boxes);
  let blocker = null;
  let second = null;
  for (const point of points) {
    const hit = hitAt(point.x, point.y);
    if (hit === null) continue;
    if (!receives(element, hit)) blocker ??= hit;
    else if (isClean(element, hit)) return { point, inView: isMostlyInView(element, boxes) };
    else second ??= point;
  }
  return second === null ? { blocker } : { point: second, inView: isMostlyInView(element, boxes) };
}

function pointAt(element, position) {
  const box = outerBox(element);
  return outward({ x: box.left + position.x, y: box.top + position.y }, element.ownerDocument);
}

/** The search for a point over several looks at the page, with the scrolling it takes. */
class PointSearch {
  constructor(stillness) {
    this.stillness = stillness;
    this.nextCycle = 0;
    this.scrolled = false;
  }

  /** `{point}`, or `{moved}` when the page was scrolled and must show that it stays, or `{blocker}`. */
  look(element, position) {
    const first = lookForPoint(element, position);
    if (first.point && (first.inView || this.scrolled)) return first;
    if (performance.now() < this.nextCycle) return first;
    const before = placeOf(element);
    let last = first;
    for (const block of SCROLL_BLOCKS) {
      bringIntoView(element, block);
      last = lookForPoint(element, position);
      if (last.point) break;
    }
    this.scrolled = true;
    if (!last.point) this.nextCycle = performance.now() + CYCLE_PAUSE;
    if (!last.point || isSamePlace(before, placeOf(element))) return last;
    this.stillness.moved(element);
    return { moved: true };
  }
}

/** Where the element is in this agent's viewport. */
function placeOf(element) {
  return outwardBox(element.getBoundingClientRect(), element.ownerDocument);
}
