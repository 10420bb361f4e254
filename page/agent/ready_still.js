// Whether an element stays where it is. Knows nothing of why it would move or who asks.

/** Where elements were seen and when, so that one that has not moved since needs no frame to prove it. */
const placesSeen = new WeakMap();
const LONG_ENOUGH = 32;
/** After a delay the browser draws several frames in a row, between which nothing has time to move. */
const SHORTEST_FRAME = 12;

/** Notes where the element is now. Whoever measures elements may call it: it makes acting on them faster. */
function rememberBox(element, box = element.getBoundingClientRect()) {
  const known = placesSeen.get(element);
  if (known !== undefined && isSamePlace(known.box, box)) return known;
  const seen = { box, at: performance.now(), isProven: false };
  placesSeen.set(element, seen);
  return seen;
}

function isSamePlace(left, right) {
  return left.x === right.x && left.y === right.y && left.width === right.width && left.height === right.height;
}

/** Counts the frames through which one element has not moved. */
class Stillness {
  constructor() {
    this.element = null;
    this.box = null;
    this.frames = 0;
    this.at = 0;
  }

  /** Whether the element is known to be still; asked once a frame until it is. */
  holds(element) {
    const box = element.getBoundingClientRect();
    const seen = rememberBox(element, box);
    // Pages that draw themselves anew put another element in its place; that is no movement.
    const isSame = this.element === element || this.element?.isConnected === false;
    if (!isSame || !isSamePlace(this.box, box)) this.restart(element, box, 0);
    else if (performance.now() - this.at >= SHORTEST_FRAME) this.restart(element, box, this.frames + 1);
    if (this.frames >= 2) return (seen.isProven = true);
    return (seen.isProven || performance.now() - seen.at >= LONG_ENOUGH) && !isAnimated(element);
  }

  restart(element, box, frames) {
    Object.assign(this, { element, box, frames, at: performance.now() });
  }

  /** We have moved the element ourselves: one frame must show that the page leaves it there. */
  moved(element) {
    this.restart(element, element.getBoundingClientRect(), 1);
  }
}

/** Whether an animation by the clock runs on the element or on something it is in. */
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
