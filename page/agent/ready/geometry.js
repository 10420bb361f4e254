// Boxes of elements and hit tests, through shadow roots and same-origin frames. Points are in the viewport of the
// agent's own document unless stated otherwise.

/** Whether the element is rendered and visible by style, and so is its frame. */
function isRendered(element) {
  if (element.localName === "area") return mappedImage(element) !== null && isRendered(mappedImage(element));
  if (!element.checkVisibility({ visibilityProperty: true })) {
    const parent = composedParent(element);
    if (styleOf(element).display !== "contents" || parent === null) return false;
    return isRendered(parent);
  }
  const frame = element.ownerDocument === document ? null : element.ownerDocument.defaultView?.frameElement;
  return frame ? isRendered(frame) : true;
}

/** Whether the element is rendered and has a size. */
function isShown(element) {
  return isRendered(element) && boxesOf(element).length > 0;
}

/** The client rects of the element in its own document's viewport; those of its children when it has none. */
function boxesOf(element, depth = 0) {
  const own = element.localName === "area" ? areaBoxes(element) : fullBoxes(element.getClientRects());
  if (own.length > 0 || depth > 8) return own;
  const below = [];
  for (const child of composedChildren(element)) {
    if (child.nodeType === Node.ELEMENT_NODE) {
      if (child.ownerDocument === element.ownerDocument && isRendered(child)) below.push(...boxesOf(child, depth + 1));
    } else if (child.nodeType === Node.TEXT_NODE) {
      const range = child.ownerDocument.createRange();
      range.selectNodeContents(child);
      below.push(...fullBoxes(range.getClientRects()));
    }
    if (below.length > 8) break;
  }
  return below;
}

function fullBoxes(boxes) {
  const full = [];
  for (const box of boxes) if (box.width > 0 && box.height > 0) full.push(box);
  return full;
}

/** The image of an image-map area. */
function mappedImage(area) {
  const name = area.closest("map")?.name;
  return name ? area.getRootNode().querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
}

/** The box of an image-map area. */
function areaBoxes(area) {
  const image = mappedImage(area);
  if (image === null) return [];
  const place = image.getBoundingClientRect();
  const numbers = area.coords.split(",").map(Number);
  if (area.shape === "default" || numbers.some(Number.isNaN)) return fullBoxes([place]);
  const [x, y, radius] = numbers;
  if (area.shape === "circle") return [new DOMRect(place.x + x - radius, place.y + y - radius, 2 * radius, 2 * radius)];
  const across = numbers.filter((_, at) => at % 2 === 0);
  const down = numbers.filter((_, at) => at % 2 === 1);
  const left = Math.min(...across);
  const top = Math.min(...down);
  return fullBoxes([new DOMRect(place.x + left, place.y + top, Math.max(...across) - left, Math.max(...down) - top)]);
}

/** The bounding box of all rects, in the element's own document's viewport. */
function outerBox(element) {
  const boxes = boxesOf(element);
  if (boxes.length < 2) return boxes[0] ?? element.getBoundingClientRect();
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  return new DOMRect(left, top, Math.max(...boxes.map((box) => box.right)) - left, Math.max(...boxes.map((box) => box.bottom)) - top);
}

/** Origin and scale of a frame's content box, in the viewport of the frame's parent. */
function frameOrigin(frame) {
  const box = frame.getBoundingClientRect();
  const style = getComputedStyle(frame);
  const scaleX = frame.offsetWidth > 0 ? box.width / frame.offsetWidth : 1;
  const scaleY = frame.offsetHeight > 0 ? box.height / frame.offsetHeight : 1;
  return {
    x: box.left + (frame.clientLeft + parseFloat(style.paddingLeft)) * scaleX,
    y: box.top + (frame.clientTop + parseFloat(style.paddingTop)) * scaleY,
    scaleX,
    scaleY,
  };
}

/** Converts a point from another document's viewport to this agent's. */
function outward(point, owner) {
  let { x, y } = point;
  for (let at = owner; at !== document; at = at.defaultView.frameElement.ownerDocument) {
    const origin = frameOrigin(at.defaultView.frameElement);
    x = origin.x + x * origin.scaleX;
    y = origin.y + y * origin.scaleY;
  }
  return { x, y };
}

function outwardBox(box, owner) {
  const start = outward({ x: box.left, y: box.top }, owner);
  const end = outward({ x: box.right, y: box.bottom }, owner);
  return { x: start.x, y: start.y, width: end.x - start.x, height: end.y - start.y };
}

/** The innermost element at a point of the root's viewport; null outside of it. */
function hitAt(x, y, root = document) {
  let found = null;
  for (let inside = root; inside !== null; ) {
    const element = inside.elementFromPoint(x, y);
    if (element === null || element === found || (found !== null && element.getRootNode() !== inside)) {
      // The text in a slot is the host's own; the element around the slot shows it.
      return found === null ? null : (inside.elementsFromPoint(x, y).find((one) => one.getRootNode() === inside) ?? found);
    }
    found = element;
    inside = shadowRootOf(element);
  }
  if (!isFrameElement(found)) return found;
  const inner = accessibleDocument(found);
  if (inner === null) return found;
  const origin = frameOrigin(found);
  return hitAt((x - origin.x) / origin.scaleX, (y - origin.y) / origin.scaleY, inner) ?? found;
}

/** The part of a box inside the viewport; null for none. */
function clipTo(view, box) {
  const left = Math.max(box.left, 0);
  const top = Math.max(box.top, 0);
  const right = Math.min(box.right, view.innerWidth);
  const bottom = Math.min(box.bottom, view.innerHeight);
  return right - left > 0 && bottom - top > 0 ? new DOMRect(left, top, right - left, bottom - top) : null;
}

const WITHIN_BOX = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75], [0.5, 0.1], [0.5, 0.9], [0.1, 0.5], [0.9, 0.5], [0.03, 0.03], [0.97, 0.97]];

/** Points of the element inside the viewport, best first: centres of its rects, then points off the centre. */
function pointsOf(element, boxes) {
  const view = element.ownerDocument.defaultView;
  const clipped = boxes.slice(0, 16).map((box) => clipTo(view, box)).filter((box) => box !== null);
  clipped.sort((left, right) => right.width * right.height - left.width * left.height);
  const points = clipped.slice(0, 4).map((box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 }));
  for (const box of clipped.slice(0, 2)) {
    for (const [across, down] of WITHIN_BOX) points.push({ x: box.x + box.width * across, y: box.y + box.height * down });
  }
  return points.map((point) => outward(point, element.ownerDocument));
}

/** Whether most of the element is in its document's viewport, or as much as fits. */
function isMostlyInView(element, boxes) {
  const view = element.ownerDocument.defaultView;
  const whole = boxes.reduce((sum, box) => sum + Math.min(box.width, view.innerWidth) * Math.min(box.height, view.innerHeight), 0);
  const seen = boxes.reduce((sum, box) => sum + areaOf(clipTo(view, box)), 0);
  return seen >= whole / 2;
}

function areaOf(box) {
  return box === null ? 0 : box.width * box.height;
}

/** The element at a point; with `frame` when it holds a cross-origin frame. */
agent.hit = ({ x, y }) => {
  const element = hitAt(x, y);
  if (element === null) return null;
  const frame = frameNameOf(element);
  return { ...describeElement(element), box: outwardBox(outerBox(element), element.ownerDocument), ...(frame === undefined ? {} : { frame }) };
};

/** Origin and scale of a frame in this agent's viewport. Checks that `point` inside the frame is not covered. */
agent.frameBox = ({ frame, point }) => {
  const element = frameElementOf(frame);
  if (element === null) fail("REF_EXPIRED", "The frame is no longer on the page.", takeNewSnapshot());
  if (!isShown(element)) fail("NOT_ACTIONABLE", `The frame ${phrase(element)} is not visible.`, "Make it visible first.", { element: describeElement(element), condition: "visible" });
  let place = frameInView(element);
  if (point === undefined) return place;
  let hit = hitInFrame(place, point);
  for (const block of isInFrame(hit, element) ? [] : SCROLL_BLOCKS) {
    bringIntoView(element, block);
    place = frameInView(element);
    hit = hitInFrame(place, point);
    if (isInFrame(hit, element)) break;
  }
  if (isInFrame(hit, element)) return place;
  return fail("NOT_ACTIONABLE", hit === null ? `The frame ${phrase(element)} is out of view.` : `The frame ${phrase(element)} is covered by ${phrase(coverOf(hit, element))}.`,
    remedy("Close what covers it, or use {}.", { action: "scroll" }), { element: describeElement(element), condition: "covered", by: hit === null ? undefined : describeElement(coverOf(hit, element)) });
};

function frameInView(element) {
  const origin = frameOrigin(element);
  const start = outward(origin, element.ownerDocument);
  const end = outward({ x: origin.x + origin.scaleX, y: origin.y + origin.scaleY }, element.ownerDocument);
  return { x: start.x, y: start.y, scaleX: end.x - start.x, scaleY: end.y - start.y, scale: end.x - start.x };
}

/** Whether the hit is the frame's element, or inside its document. */
function isInFrame(hit, element) {
  for (let at = hit; at !== null; at = at.ownerDocument.defaultView?.frameElement ?? null) {
    if (at === element) return true;
  }
  return false;
}

function hitInFrame(place, point) {
  return hitAt(place.x + point.x * place.scaleX, place.y + point.y * place.scaleY);
}
