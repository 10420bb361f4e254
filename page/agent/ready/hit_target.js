// Finds a point of an element that receives input, and scrolls when something covers it.

const SCROLL_BLOCKS = ["center", "start", "end", "nearest"];
const SCROLL_PAUSE = 500;
const INTERACTIVE = "button, a[href], label, summary, select, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], [role=tab], [role=option], [role=menuitem], [role=menuitemcheckbox], [role=menuitemradio], [role=treeitem]";

const INPUT_TAKERS = `${INTERACTIVE}, input, textarea`;

/** Whether input at `hit` reaches the element: inside it, on its label, or on the control it is part of. */
function receives(element, hit) {
  if (isWithin(hit, element)) return true;
  const control = interactiveAround(element);
  if (control !== null && (hit === control || interactiveAround(hit) === control)) return true;
  for (let node = hit; node !== null; node = composedParent(node)) {
    if (node.localName === "label") return node.control === element;
  }
  return element.localName === "label" && element.control === hit;
}

/** The control around the element, when the element is not a control itself. */
function interactiveAround(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    // A label without a control does nothing itself.
    if (node.localName === "label" && node.control === null) continue;
    if (node.matches(INTERACTIVE)) return node === element ? null : node;
    if (node.matches("input, textarea, iframe, dialog, form, body")) return null;
  }
  return null;
}

/** Whether nothing inside the element would take the input, like a link in a label. */
function takesNoInputInside(element, hit) {
  for (let node = hit; node !== null && node !== element; node = composedParent(node)) {
    if (node.matches(INPUT_TAKERS) && element.control !== node) return !isWithin(node, element);
  }
  return true;
}

/** The element to report as the cover: a dialog or named element if there is one, else the outermost. */
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

/** A point that receives input for the element, or the element that covers it. */
function findPoint(element, position, inside = false) {
  const boxes = boxesOf(element);
  const points = position ? [pointAt(element, position, inside)] : pointsOf(element, boxes);
  let blocker = null;
  let second = null;
  for (const point of points) {
    const hit = hitAt(point.x, point.y);
    if (hit === null) continue;
    if (!receives(element, hit)) blocker ??= hit;
    else if (takesNoInputInside(element, hit)) return { point, inView: isMostlyInView(element, boxes) };
    else second ??= point;
  }
  return second === null ? { blocker } : { point: second, inView: isMostlyInView(element, boxes) };
}

/** The point of a position, from the top left of the element; with `inside`, from inside of its border, as Playwright. */
function pointAt(element, position, inside = false) {
  const box = inside ? element.getBoundingClientRect() : outerBox(element);
  const border = inside ? getComputedStyle(element) : null;
  const left = border === null ? 0 : parseFloat(border.borderLeftWidth) || 0;
  const top = border === null ? 0 : parseFloat(border.borderTopWidth) || 0;
  return outward({ x: box.left + left + position.x, y: box.top + top + position.y }, element.ownerDocument);
}

/** The search for a point over several polls, with scrolling. */
class PointSearch {
  constructor(stability, { noScroll = false }) {
    this.stability = stability;
    this.noScroll = noScroll;
    this.nextCycle = 0;
    this.scrolled = false;
  }

  /** `{point}`; `{moved}` when it scrolled and the next frame must confirm the position; or `{blocker}`. */
  find(element, position, inside = false) {
    const first = findPoint(element, position, inside);
    if (first.point && (first.inView || this.scrolled)) return first;
    if (this.noScroll) return first;
    if (performance.now() < this.nextCycle) return first;
    const before = viewportBox(element);
    let last = first;
    for (const block of SCROLL_BLOCKS) {
      bringIntoView(element, block);
      last = findPoint(element, position, inside);
      if (last.point) break;
    }
    this.scrolled = true;
    if (!last.point) this.nextCycle = performance.now() + SCROLL_PAUSE;
    if (!last.point || isSameBox(before, viewportBox(element))) return last;
    this.stability.moved(element);
    return { moved: true };
  }
}

/** The element's box in this agent's viewport. */
function viewportBox(element) {
  return outwardBox(element.getBoundingClientRect(), element.ownerDocument);
}
