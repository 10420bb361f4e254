// Stability: whether an element has stopped moving.

/** The last box of each element and its time. An element that has not moved since needs no extra frame. */
const lastBoxes = new WeakMap();
const STABLE_AFTER = 32;
/** After a delay the browser draws several frames at once, between which nothing moves. */
const MIN_FRAME = 12;

/** Records the element's box. Code that measures elements calls it, which makes later actions faster. */
function recordBox(element, box = element.getBoundingClientRect()) {
  const known = lastBoxes.get(element);
  if (known !== undefined && isSameBox(known.box, box)) return known;
  const seen = { box, at: performance.now(), isProven: false };
  lastBoxes.set(element, seen);
  return seen;
}

function isSameBox(left, right) {
  return left.x === right.x && left.y === right.y && left.width === right.width && left.height === right.height;
}

/** Counts the frames through which one element has not moved. */
class StabilityCheck {
  constructor() {
    this.element = null;
    this.box = null;
    this.frames = 0;
    this.at = 0;
  }

  /** Whether the element is stable; called once per frame until it is. */
  holds(element) {
    const box = element.getBoundingClientRect();
    const seen = recordBox(element, box);
    // A page that re-renders puts another element in the same place. That is no movement.
    const isSame = this.element === element || this.element?.isConnected === false;
    if (!isSame || !isSameBox(this.box, box)) this.restart(element, box, 0);
    else if (performance.now() - this.at >= MIN_FRAME) this.restart(element, box, this.frames + 1);
    if (this.frames >= 2) return (seen.isProven = true);
    return (seen.isProven || performance.now() - seen.at >= STABLE_AFTER) && !isAnimated(element);
  }

  restart(element, box, frames) {
    Object.assign(this, { element, box, frames, at: performance.now() });
  }

  /** The agent scrolled the element: one frame must confirm the position. */
  moved(element) {
    this.restart(element, element.getBoundingClientRect(), 1);
  }
}

/** Whether a time-based animation runs on the element or an ancestor. */
function isAnimated(element) {
  for (let node = element; node !== null; ) {
    const root = node.getRootNode();
    for (const animation of root.getAnimations?.() ?? []) {
      if (isTimed(animation) && animation.effect?.target?.contains(node)) return true;
    }
    node = root.host ?? (root === document ? null : (root.defaultView?.frameElement ?? null));
  }
  return false;
}

function isTimed(animation) {
  return animation.playState === "running" && animation.timeline instanceof DocumentTimeline;
}
