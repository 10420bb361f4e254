// Reports what an action changed (mutations, focus, animations), once the page has settled. Rust observes network and
// navigation.

/** A watch that is never read ends after this many ms. */
const WATCH_LIFETIME = 30_000;
/** A kept watch ends after this many ms. Rust may read it again when requests finish. */
const KEPT_WATCH_LIFETIME = 4_000;
/** Longest wait for pending tasks, on a page that never runs out of them. */
const MAX_DRAIN = 50;

let watchNumber = 0;
let currentWatch = null;
/** The element prepared for the text that the next `settle` call enters. */
let pairedElement = null;

/** Counts changes of the page from its construction on. */
class Watch {
  constructor(element) {
    this.number = ++watchNumber;
    this.element = element;
    this.changes = 0;
    this.elements = 0;
    this.contents = 0;
    this.inputs = new Map();
    this.onArrival = null;
    this.clicks = [];
    this.addedElements = [];
    this.downloadEvents = new Set();
    this.navigations = new Set();
    // Fires for every download link, also for one that a script clicks outside of the document.
    this.onNavigate = (event) => event.downloadRequest !== null && this.downloadEvents.add(event);
    this.focused = deepFocus();
    this.timeline = document.timeline.currentTime ?? 0;
    this.observer = new MutationObserver((records) => this.count(records));
    for (const root of knownRoots()) this.watch(root);
    for (let node = element; node; ) {
      const root = node.getRootNode();
      this.watch(root);
      node = root.host ?? (root === document ? null : root.defaultView?.frameElement);
    }
    this.expiry = setTimeout(() => this.stop(), WATCH_LIFETIME);
    inputListener = (event) => this.note(event);
    // An EditContext receives text directly; the page gets no event.
    this.context = element?.editContext ?? null;
    this.onText = () => this.note({ type: "beforeinput" });
    this.context?.addEventListener("textupdate", this.onText);
  }

  count(records) {
    this.changes += records.length;
    for (const { type, target, addedNodes, removedNodes } of records) {
      if (type !== "attributes") {
        this.contents++;
        noteMessage(target);
      }
      for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.added(node);
      for (const node of removedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.elements++;
    }
  }

  added(element) {
    this.elements++;
    if (this.addedElements.length < MAX_ADDED) this.addedElements.push(element);
    noteMessage(element);
    const roots = [];
    addRootsIn(element, roots);
    for (const root of roots) this.watch(root);
  }

  /** Observes a root for mutations, and the window of a document for input. */
  watch(root) {
    this.observer.observe(root, ALL_CHANGES);
    const view = root.nodeType === Node.DOCUMENT_NODE ? root.defaultView : null;
    if (view === null) return;
    listenOn(view, ALWAYS_WATCHED);
    listenOn(view, SOMETIMES_WATCHED);
    if (!view.navigation || this.navigations.has(view.navigation)) return;
    this.navigations.add(view.navigation);
    view.navigation.addEventListener("navigate", this.onNavigate);
  }

  /** How many downloads started. Documents with an opaque origin report only clicks. */
  downloadCount() {
    const begun = (events) => events.filter((event) => !event.defaultPrevented).length;
    return Math.max(begun([...this.downloadEvents]), begun(this.clicks));
  }

  note(event) {
    if (event.type === "click" && startsDownload(event)) this.clicks.push(event);
    this.inputs.set(event.type, (this.inputs.get(event.type) ?? 0) + 1);
    this.onArrival?.();
  }

  /** Waits until `count` events of this type have arrived: input travels on another channel than this call. */
  async arrived(type, times, timeout) {
    const done = () => (this.inputs.get(type) ?? 0) >= times;
    if (done()) return true;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, timeout);
      this.onArrival = () => {
        if (!done()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.onArrival = null;
    return done();
  }

  total() {
    this.count(this.observer.takeRecords());
    return this.changes;
  }

  /** Extends the watch. */
  keep() {
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.stop(), KEPT_WATCH_LIFETIME);
  }

  stop() {
    this.observer.disconnect();
    this.context?.removeEventListener("textupdate", this.onText);
    for (const navigation of this.navigations) navigation.removeEventListener("navigate", this.onNavigate);
    clearTimeout(this.expiry);
    if (currentWatch !== this) return;
    currentWatch = null;
    inputListener = null;
  }
}

/** Starts a watch and returns its number. */
function startWatch(element) {
  currentWatch?.stop();
  currentWatch = new Watch(element);
  return currentWatch.number;
}

/** Resolves when all pending tasks have run: promises, messages, timers without delay. */
function drained() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_DRAIN);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    // Background is the lowest priority, so all other tasks run first. Unlike an idle callback it needs no frame.
    scheduler.postTask(end, { priority: "background" });
  });
}

/** Turns without a change after which the page has handled the text. */
const STABLE_TURNS = 2;

/** Waits until everything that was pending has run. */
function turn() {
  return new Promise((resolve) => scheduler.postTask(resolve, { priority: "user-visible" }));
}

/** Like `drained`, but repeats while turns change something, and does not wait for frames. */
async function drainedOfChanges(watch) {
  const deadline = performance.now() + MAX_DRAIN;
  for (let before = watch.total(), still = 0; still < STABLE_TURNS && performance.now() < deadline; ) {
    await turn();
    const now = watch.total();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}

/** Waits until nothing changes for two frames; false when the page still changes after `limit` ms. */
async function becomesQuiet(watch, limit) {
  const deadline = performance.now() + limit;
  for (let before = watch.total(), still = 0; still < 2; ) {
    if (performance.now() >= deadline) return false;
    await nextFrame();
    await drained();
    const now = watch.total();
    still = now === before ? still + 1 : 0;
    before = now;
  }
  return true;
}

/** Finite animations that started since the watch, except those that only change colours. */
function newAnimations(watch) {
  const found = [];
  for (const root of knownRoots()) {
    for (const animation of root.getAnimations()) if (isNewAnimation(animation, watch)) found.push(animation);
  }
  return found;
}

const PAINT_ONLY = /color|shadow|filter|background|outline|decoration|fill|stroke|border-radius/i;

function isNewAnimation(animation, watch) {
  if (!isTimed(animation)) return false;
  if (animation.startTime !== null && animation.startTime < watch.timeline) return false;
  if (!Number.isFinite(animation.effect?.getComputedTiming().endTime)) return false;
  return !(animation.transitionProperty && PAINT_ONLY.test(animation.transitionProperty));
}

function remainingTime(animations) {
  const left = animations.map((animation) => Number(animation.effect.getComputedTiming().endTime) - Number(animation.currentTime ?? 0));
  return Math.max(0, ...left);
}

function settleReport(watch, extra) {
  const animations = newAnimations(watch);
  const focused = deepFocus();
  const report = { mutations: watch.changes, elements: watch.elements, contents: watch.contents, url: location.href, title: document.title, loading: document.readyState !== "complete", ...extra };
  if (animations.length > 0) Object.assign(report, { animations: animations.length, animationsEnd: Math.round(remainingTime(animations)) });
  if (focused !== watch.focused) report.focused = focused === null || focused === focused.ownerDocument.body ? null : describeElement(focused);
  const saving = watch.downloadCount();
  if (saving > 0) report.saving = saving;
  const messages = takeMessages();
  if (messages.length > 0) report.messages = messages;
  const busy = busyText(watch.addedElements);
  if (busy !== "") report.busy = busy;
  return report;
}

/** The element's value now; `gone` when it is no longer on the page. */
function valueAfter(key, expected) {
  const element = key === undefined ? null : elementOf(key);
  if (element === null) return key === undefined ? {} : { gone: true };
  return expected === undefined ? fieldState(element) : { ...fieldState(element), ...verified(element, expected) };
}

/**
 * Waits until the page settles after an action. `after` names the input event that ends the action (it may arrive after
 * this call), `enter` is the text to enter, `quiet` bounds the wait for a page that keeps changing, `keep` keeps the
 * watch for another call, `debounce` is how long to wait for a delayed list. `pair` selects the watch and element of the `prepare` call just before; the result is
 * `unpaired` when that was not ready.
 */
agent.settle = async ({ pair, ...request }) => {
  if (pair === undefined) return waitUntilSettled(request);
  const prepared = pairedElement;
  pairedElement = null;
  return prepared?.pair === pair ? waitUntilSettled({ ...request, ...prepared }) : { unpaired: true };
};

async function waitUntilSettled({ since, after, count = 1, timeout = 1000, enter, quiet = 100, key, expected, keep = false, debounce = 0, hovered = false }) {
  const isWatched = currentWatch !== null && (since === undefined || currentWatch.number === since);
  if (!isWatched) startWatch(null);
  const watch = currentWatch;
  // A new document has no element to enter the text into.
  if (enter !== undefined && isWatched) enterText(byRef({ key }), enter);
  const arrived = after === undefined ? true : await watch.arrived(after, count, timeout);
  await (enter === undefined ? drained() : drainedOfChanges(watch));
  watch.total();
  if (debounce > 0 && isWatched && watch.elements === 0 && opensLater(watch.element, hovered)) await firstAddition(watch, debounce);
  const mutating = watch.elements > 0 && quiet > 0 ? !(await becomesQuiet(watch, quiet)) : false;
  const report = settleReport(watch, { arrived, mutating, ...valueAfter(key, expected) });
  if (guard !== null) report.guard = takeGuard();
  if (keep) watch.keep();
  else watch.stop();
  return report;
}

agent.mark = ({ key } = {}) => ({ mark: startWatch(key === undefined ? null : byRef({ key })) });
