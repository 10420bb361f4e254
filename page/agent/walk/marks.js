// The interactive elements in view and their boxes, for annotated screenshots.

/** Most marks in one screenshot. */
const MAX_MARKS = 300;

/** The interactive elements in an area of this document's viewport, in page order. */
agent.marks = ({ area }) => inPass(() => {
  const bounds = area ?? { x: 0, y: 0, width: innerWidth, height: innerHeight };
  const marks = [];
  const marked = new Set();
  for (const element of elementsIn(rootsBelow(document))) {
    if (marks.length >= MAX_MARKS) break;
    if (!isMarkable(element, marked)) continue;
    const box = outwardBox(outerBox(element), element.ownerDocument);
    if (!overlaps(box, bounds) || box.width < 3 || box.height < 3) continue;
    if (area === undefined && !isOnTop(element, box)) continue;
    marked.add(element);
    marks.push({ ...describeElement(element), box });
  }
  return { document: documentName, marks };
});

function isMarkable(element, marked) {
  if (SKIPPED_TAGS.has(element.localName)) return false;
  const role = roleOf(element);
  const isActed = INTERACTIVE_ROLES.has(role) || element.hasAttribute("onclick") || (element.hasAttribute("tabindex") && element.tabIndex >= 0 && element.localName !== "body") || (isListening(element) && element.querySelector(CONTROLS) === null);
  if (!isActed || role === "option" || marked.has(element.parentElement)) return false;
  return isExposed(element) && isShown(element) && isPerceivable(element);
}

function overlaps(box, bounds) {
  return box.x < bounds.x + bounds.width && box.x + box.width > bounds.x && box.y < bounds.y + bounds.height && box.y + box.height > bounds.y;
}

/** Whether part of the element is not covered. */
function isOnTop(element, box) {
  const across = [0.5, 0.1, 0.9];
  for (const part of across) {
    const hit = hitAt(box.x + box.width * part, box.y + box.height / 2);
    if (hit !== null && isWithin(hit, element)) return true;
  }
  return false;
}
