// Waking up when something on the page has changed, without asking in between. Knows nothing of what is waited for.

/** A frame lasts this long where the browser draws; where it does not, timers stand in for frames. */
const FRAME = 16;
/** Things that change without a trace in the tree (style sheets, properties) are looked at again after this long. */
const LONGEST_NAP = 250;
const WAKING_EVENTS = ["load", "error", "transitionend", "animationend", "scroll", "scrollend", "resize", "toggle", "input", "change", "focusin", "slotchange", "readystatechange", "pageshow"];

/**
 * The next time the browser draws. A hidden page does not, so a timer stands in; a visible one on a busy machine may
 * draw late, and then nothing may be concluded from the time alone.
 */
function nextFrame() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, document.visibilityState === "visible" ? LONGEST_NAP : FRAME);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function nap(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Everything that mutation records can tell. */
const ALL_CHANGES = { subtree: true, childList: true, attributes: true, characterData: true };

/** What waits on this page and can be called off, by the name it was begun under. */
const waits = new Map();

/** Ends a wait whose caller has left; one that has ended by itself is not there any more. */
agent.callOff = ({ wait }) => {
  waits.get(wait)?.callOff();
};

/** Watches all roots of the page and wakes who waits on it. Made before the first `await` of a call. */
class Wake {
  constructor() {
    this.wait = waitBegun;
    if (this.wait !== null) waits.set(this.wait, this);
    this.isCalledOff = false;
    this.seen = new WeakSet();
    this.stirred = false;
    this.resolve = null;
    this.started = performance.now();
    this.nap = 2 * FRAME;
    this.stir = () => {
      this.stirred = true;
      this.resolve?.();
    };
    this.observer = new MutationObserver(this.stir);
    // Ends the listeners of windows too that have gone to another origin and may no longer be touched.
    this.ending = new AbortController();
    this.watch(knownRoots());
  }

  /** Watches these roots too. */
  watch(roots) {
    for (const root of roots) {
      if (this.seen.has(root)) continue;
      this.seen.add(root);
      this.observer.observe(root, ALL_CHANGES);
      const view = root.nodeType === Node.DOCUMENT_NODE ? root.defaultView : null;
      if (view === null) continue;
      const options = { capture: true, passive: true, signal: this.ending.signal };
      for (const type of WAKING_EVENTS) view.addEventListener(type, this.stir, options);
    }
  }

  /** Waits for the next change, at most until `deadline`; never wakes more often than the page draws or than pays. */
  async next(deadline) {
    const now = performance.now();
    const gap = Math.max(FRAME, 3 * (now - this.started));
    if (!this.stirred) {
      this.nap = Math.min(this.nap * 2, LONGEST_NAP);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, Math.min(this.nap, deadline - now)));
        this.resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.resolve = null;
    }
    this.check();
    const rest = Math.min(this.started + gap, deadline) - performance.now();
    if (rest > 0 && this.stirred) await nap(rest);
    this.begin();
  }

  /** The look at the page begins now: what changes from here on wakes again. */
  begin() {
    this.stirred = false;
    this.started = performance.now();
    this.watch(knownRoots());
  }

  callOff() {
    this.isCalledOff = true;
    this.stir();
  }

  /** Fails once nobody waits any more. */
  check() {
    if (this.isCalledOff) fail("TIMEOUT", "The wait was called off.");
  }

  stop() {
    if (waits.get(this.wait) === this) waits.delete(this.wait);
    this.observer.disconnect();
    this.ending.abort();
  }
}

/** Waits until what was drawn last is where input goes: after a scroll, other processes learn of it with a frame. */
agent.presented = async () => {
  await nextFrame();
  await nextFrame();
};
