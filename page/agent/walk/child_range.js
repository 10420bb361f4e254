// Which children of a long container a walk visits: a range around the viewport, found without measuring all of them.

/** Containers with at most this many children are walked completely. */
const WHOLE_CHILDREN = 48;
/** Children shown of a uniform list, or a few around those in view if that is more. */
const SHOWN_UNIFORM = 12;
/** Most children in view that are shown. */
const SHOWN_IN_VIEW = 160;
/** Children shown of a mixed list. */
const SHOWN_MIXED = 320;
/** Children sampled to decide whether they are uniform and how they are laid out. */
const SAMPLES = 8;
/** A smaller gap is closed instead of reported. */
const SMALL_GAP = 3;

/** The child elements in the flattened tree, as an array or a live collection. */
function elementsBelow(element) {
  const root = shadowRootOf(element);
  if (root !== null) return root.children;
  if (element.localName === "slot" && isHtml(element)) {
    const assigned = element.assignedElements();
    if (assigned.length > 0) return assigned;
  }
  return element.children;
}

/**
 * The range of children to visit: `{elements, start, end, total}`. It starts at `from`, else it surrounds the children
 * in view. `wide` shows as many of a uniform list as of a mixed one.
 */
function childRange(elements, view, from, wide) {
  const total = elements.length;
  if (from === null && total <= WHOLE_CHILDREN) return { elements, start: 0, end: total, total };
  const samples = sampleOf(elements, total);
  const shown = !wide && areUniform(samples) ? SHOWN_UNIFORM : SHOWN_MIXED;
  if (from !== null) {
    const start = Math.min(Math.max(from, 0), total);
    return { elements, start, end: Math.min(total, start + shown), total };
  }
  if (total <= shown + SMALL_GAP) return { elements, start: 0, end: total, total };
  const [first, last] = inViewOf(elements, total, samples, view);
  const seen = Math.min(last - first, Math.max(shown, SHOWN_IN_VIEW));
  const spare = Math.max(SMALL_GAP + 1, shown - seen);
  let below = Math.min(total - first - seen, Math.ceil((spare * 2) / 3));
  const above = Math.min(first, spare - below);
  below = Math.min(total - first - seen, spare - above);
  let start = first - above;
  let end = first + seen + below;
  if (start <= SMALL_GAP) start = 0;
  if (total - end <= SMALL_GAP) end = total;
  return { elements, start, end, total };
}

function sampleOf(elements, total) {
  const samples = [];
  const step = Math.max(1, Math.floor(total / SAMPLES));
  for (let at = step >> 1; at < total; at += step) samples.push(elements[at]);
  return samples;
}

/** Whether most samples have the same tag and role. */
function areUniform(samples) {
  const counts = new Map();
  let most = 0;
  for (const element of samples) {
    const kind = `${element.localName} ${element.getAttribute("role") ?? ""}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count > most) most = count;
  }
  return most * 4 >= samples.length * 3;
}

/** The range of children in view: by binary search when they are laid out in order, else one by one. */
function inViewOf(elements, total, samples, view) {
  const axis = axisOf(samples, view);
  if (axis === null) return scanForView(elements, total, view);
  const [near, far, size] = axis;
  const first = binarySearch(elements, 0, total, (box) => box[far] > 0);
  const last = binarySearch(elements, first, total, (box) => box[near] >= size);
  return [first, last];
}

/** The axis along which the samples are ordered; null for none. */
function axisOf(samples, view) {
  const boxes = samples.map((element) => element.getBoundingClientRect()).filter((box) => box.width > 0 || box.height > 0);
  if (boxes.length < 2) return ["top", "bottom", view.height];
  const span = boxes[boxes.length - 1].top - boxes[0].top;
  const across = boxes[boxes.length - 1].left - boxes[0].left;
  if (isRising(boxes, "top") && (span > 0 || across <= 0)) return ["top", "bottom", view.height];
  return isRising(boxes, "left") ? ["left", "right", view.width] : null;
}

function isRising(boxes, edge) {
  for (let at = 1; at < boxes.length; at++) if (boxes[at][edge] < boxes[at - 1][edge]) return false;
  return true;
}

/** The first index from which `holds` is true. An element without a box uses the next one that has a box. */
function binarySearch(elements, low, high, holds) {
  while (low < high) {
    const middle = (low + high) >> 1;
    let probe = middle;
    let box = elements[probe].getBoundingClientRect();
    while (box.width === 0 && box.height === 0 && probe + 1 < high) box = elements[++probe].getBoundingClientRect();
    if (holds(box)) high = middle;
    else low = probe + 1;
  }
  return low;
}

/** Beyond this many unordered children, the first ones are shown. */
const SCANNED_CHILDREN = 4096;

function scanForView(elements, total, view) {
  let nearest = 0;
  let distance = Infinity;
  const end = Math.min(total, SCANNED_CHILDREN);
  for (let at = 0; at < end; at++) {
    const away = distanceTo(elements[at].getBoundingClientRect(), view);
    if (away >= distance) continue;
    nearest = at;
    distance = away;
    if (away === 0) break;
  }
  return [nearest, Math.min(total, nearest + 1)];
}

/** Distance of a box from the viewport in pixels; 0 when they overlap. */
function distanceTo(box, view) {
  return Math.max(0, box.top - view.height, -box.bottom, box.left - view.width, -box.right);
}
