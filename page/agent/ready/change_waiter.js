// Waits for the next change of the page without polling.

/** Length of a frame. Timers replace frames on pages that the browser does not draw. */
const FRAME = 16;
/** Longest wait between polls: style sheets and properties change without a mutation record. */
const MAX_POLL_INTERVAL = 250;
const CHANGE_EVENTS = ["load", "error", "transitionend", "animationend", "scroll", "scrollend", "resize", "toggle", "input", "change", "focusin", "slotchange", "readystatechange", "pageshow"];

/**
 * Waits for the next frame. A hidden page draws none, so a timer replaces it. A visible page on a busy machine may draw
 * late; the elapsed time alone proves nothing.
 */
function nextFrame() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, document.visibilityState === "visible" ? MAX_POLL_INTERVAL : FRAME);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Observe every kind of mutation. */
const ALL_CHANGES = { subtree: true, childList: true, attributes: true, characterData: true };

/** Waits that can be cancelled, by id. */
const waitsById = new Map();

/** Ends a wait whose caller no longer waits. */
agent.cancelWait = ({ wait }) => {
  waitsById.get(wait)?.cancel();
};

/** Observes all roots of the page and wakes the caller on a change. Construct it before the first `await` of a call. */
class ChangeWaiter {
  constructor() {
    this.wait = currentWait;
    if (this.wait !== null) waitsById.set(this.wait, this);
    this.isCancelled = false;
    this.seen = new WeakSet();
    this.changed = false;
    this.resolve = null;
    this.started = performance.now();
    this.interval = 2 * FRAME;
    this.notify = () => {
      this.changed = true;
      this.resolve?.();
    };
    this.observer = new MutationObserver(this.notify);
    // The signal also removes listeners from windows that have navigated to another origin and cannot be accessed.
    this.ending = new AbortController();
    this.watch(knownRoots());
  }

  watch(roots) {
    for (const root of roots) {
      if (this.seen.has(root)) continue;
      this.seen.add(root);
      this.observer.observe(root, ALL_CHANGES);
      const view = root.nodeType === Node.DOCUMENT_NODE ? root.defaultView : null;
      if (view === null) continue;
      const options = { capture: true, passive: true, signal: this.ending.signal };
      for (const type of CHANGE_EVENTS) view.addEventListener(type, this.notify, options);
    }
  }

  /**
   * Waits for the next change, at most until `deadline`. Wakes at most once per frame, and leaves the page idle for
   * three times the cost of a poll.
   */
  async next(deadline) {
    const now = performance.now();
    const gap = Math.max(FRAME, 3 * (now - this.started));
    if (!this.changed) {
      this.interval = Math.min(this.interval * 2, MAX_POLL_INTERVAL);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, Math.min(this.interval, deadline - now)));
        this.resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.resolve = null;
    }
    this.check();
    const rest = Math.min(this.started + gap, deadline) - performance.now();
    if (rest > 0 && this.changed) await sleep(rest);
    this.begin();
  }

  /** Starts a poll: later changes wake again. */
  begin() {
    this.changed = false;
    this.started = performance.now();
    this.watch(knownRoots());
  }

  cancel() {
    this.isCancelled = true;
    this.notify();
  }

  /** Fails when the wait was cancelled. */
  check() {
    if (this.isCancelled) fail("TIMEOUT", "The wait was cancelled.");
  }

  stop() {
    if (waitsById.get(this.wait) === this) waitsById.delete(this.wait);
    this.observer.disconnect();
    this.ending.abort();
  }
}

/** Waits until input events use the current layout. Other processes learn of a scroll with the next frame. */
agent.presented = async () => {
  await nextFrame();
  await nextFrame();
};
