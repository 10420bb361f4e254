// What an action has set off: changes, focus, animations, and when they have come to rest. Knows nothing of network
// and navigation, which Rust sees.

/** The last watch is given up after this long when nobody asks for it. */
const WATCH_LASTS = 30_000;
/** A watch that has been asked is kept this long, for who asks again when requests are over. */
const KEPT_LASTS = 4_000;
/** Longest wait for tasks that are ready to run, on a page that never runs out of them. */
const DRAIN_LASTS = 50;

let watchNumber = 0;
let currentWatch = null;
/** What was prepared for text to be entered by the next question. */
let paired = null;

/** Counts what changes on the page from the moment it is made. */
class Watch {
  constructor(element) {
    this.number = ++watchNumber;
    this.element = element;
    this.changes = 0;
    this.elements = 0;
    this.contents = 0;
    this.inputs = new Map();
    this.waiting = null;
    this.clicks = [];
    this.saves = new Set();
    this.journeys = new Set();
    // Told of every link that the browser saves, also of one that a script clicks outside of the document.
    this.onJourney = (event) => event.downloadRequest !== null && this.saves.add(event);
    this.focused = deepFocus();
    this.timeline = document.timeline.currentTime ?? 0;
    this.observer = new MutationObserver((records) => this.count(records));
    for (const root of knownRoots()) this.watch(root);
    for (let node = element; node; ) {
      const root = node.getRootNode();
      this.watch(root);
      node = root.host ?? (root === document ? null : root.defaultView?.frameElement);
    }
    this.expiry = setTimeout(() => this.stop(), WATCH_LASTS);
    inputListener = (event) => this.note(event);
    // An editor of this kind is told of its text directly; there is no event on the page.
    this.context = element?.editContext ?? null;
    this.onText = () => this.note({ type: "beforeinput" });
    this.context?.addEventListener("textupdate", this.onText);
  }

  count(records) {
    this.changes += records.length;
    for (const { type, addedNodes, removedNodes } of records) {
      if (type !== "attributes") this.contents++;
      for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.added(node);
      for (const node of removedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.elements++;
    }
  }

  added(element) {
    this.elements++;
    const roots = [];
    addRootsIn(element, roots);
    for (const root of roots) this.watch(root);
  }

  /** Watches a root for changes, and the window of a document for input. */
  watch(root) {
    this.observer.observe(root, ALL_CHANGES);
    const view = root.nodeType === Node.DOCUMENT_NODE ? root.defaultView : null;
    if (view === null) return;
    listenOn(view, ALWAYS_WATCHED);
    listenOn(view, SOMETIMES_WATCHED);
    if (!view.navigation || this.journeys.has(view.navigation)) return;
    this.journeys.add(view.navigation);
    view.navigation.addEventListener("navigate", this.onJourney);
  }

  /** How many downloads the browser was told to begin. Documents without an origin are told only of clicks. */
  saving() {
    const begun = (events) => events.filter((event) => !event.defaultPrevented).length;
    return Math.max(begun([...this.saves]), begun(this.clicks));
  }

  note(event) {
    if (event.type === "click" && isSaving(event)) this.clicks.push(event);
    this.inputs.set(event.type, (this.inputs.get(event.type) ?? 0) + 1);
    this.waiting?.();
  }

  /** Whether this input has arrived; waits for it, because it travels another way than the question. */
  async arrived(type, times, patience) {
    const done = () => (this.inputs.get(type) ?? 0) >= times;
    if (done()) return true;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.waiting = () => {
        if (!done()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.waiting = null;
    return done();
  }

  /** How much has changed so far. */
  total() {
    this.count(this.observer.takeRecords());
    return this.changes;
  }

  /** Goes on for a moment. */
  keep() {
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.stop(), KEPT_LASTS);
  }

  stop() {
    this.observer.disconnect();
    this.context?.removeEventListener("textupdate", this.onText);
    for (const navigation of this.journeys) navigation.removeEventListener("navigate", this.onJourney);
    clearTimeout(this.expiry);
    if (currentWatch !== this) return;
    currentWatch = null;
    inputListener = null;
  }
}

/** Watches from now on; the number tells this watch from others. */
function startWatch(element) {
  currentWatch?.stop();
  currentWatch = new Watch(element);
  return currentWatch.number;
}

/** Resolves when everything that is ready to run has run: promises, messages, timers without delay. */
function drained() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_LASTS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    // Of the lowest priority there is, so all others go first. It needs no frame, unlike an idle callback.
    scheduler.postTask(end, { priority: "background" });
  });
}

/** Turns without a change after which a page is taken to have reacted to text. */
const TURNS_STILL = 2;

/** One turn: everything that was ready before it has run. */
function turn() {
  return new Promise((resolve) => scheduler.postTask(resolve, { priority: "user-visible" }));
}

/** As `drained`, for as long as turns change something, but without waiting for what the browser draws. */
async function reacted(watch) {
  const deadline = performance.now() + DRAIN_LASTS;
  for (let before = watch.total(), still = 0; still < TURNS_STILL && performance.now() < deadline; ) {
    await turn();
    const now = watch.total();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}

/** Waits until nothing has changed for two frames; false when it still does after `limit` milliseconds. */
async function quieted(watch, limit) {
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

/** Animations that began since the watch and will end, other than those that only colour things. */
function newAnimations(watch) {
  const found = [];
  for (const root of knownRoots()) {
    for (const animation of root.getAnimations()) if (isNews(animation, watch)) found.push(animation);
  }
  return found;
}

const PAINT_ONLY = /color|shadow|filter|background|outline|decoration|fill|stroke|border-radius/i;

function isNews(animation, watch) {
  if (!isTimed(animation)) return false;
  if (animation.startTime !== null && animation.startTime < watch.timeline) return false;
  if (!Number.isFinite(animation.effect?.getComputedTiming().endTime)) return false;
  return !(animation.transitionProperty && PAINT_ONLY.test(animation.transitionProperty));
}

function remainingTime(animations) {
  const left = animations.map((animation) => Number(animation.effect.getComputedTiming().endTime) - Number(animation.currentTime ?? 0));
  return Math.max(0, ...left);
}

function settled(watch, extra) {
  const animations = newAnimations(watch);
  const focused = deepFocus();
  const report = { mutations: watch.changes, elements: watch.elements, contents: watch.contents, url: location.href, title: document.title, loading: document.readyState !== "complete", ...extra };
  if (animations.length > 0) Object.assign(report, { animations: animations.length, animationsEnd: Math.round(remainingTime(animations)) });
  if (focused !== watch.focused) report.focused = focused === null || focused === focused.ownerDocument.body ? null : describeElement(focused);
  const saving = watch.saving();
  if (saving > 0) report.saving = saving;
  return report;
}

/** What the element acted on holds now; `gone` when it is no longer there. */
function outcomeOf(key, expected) {
  const element = key === undefined ? null : elementOf(key);
  if (element === null) return key === undefined ? {} : { gone: true };
  return expected === undefined ? holdings(element) : { ...holdings(element), ...verified(element, expected) };
}

/**
 * Waits until what an action set off has come to rest. `after` names the input event that ends the action (it may
 * arrive later than this call), `enter` is the text that is the action, `quiet` bounds the wait for a page that keeps
 * changing, `keep` lets the watch go on for another question. `pair` stands for the watch and the element of the
 * preparation that was asked for just before; `unpaired` is the answer when that was not ready.
 */
agent.settle = async ({ pair, ...request }) => {
  if (pair === undefined) return comeToRest(request);
  const prepared = paired;
  paired = null;
  return prepared?.pair === pair ? comeToRest({ ...request, ...prepared }) : { unpaired: true };
};

async function comeToRest({ since, after, count = 1, patience = 1000, enter, quiet = 100, key, expected, keep = false }) {
  const isWatched = currentWatch !== null && (since === undefined || currentWatch.number === since);
  if (!isWatched) startWatch(null);
  const watch = currentWatch;
  // In a document that has come meanwhile there is nothing to enter.
  if (enter !== undefined && isWatched) enterText(byRef({ key }), enter);
  const arrived = after === undefined ? true : await watch.arrived(after, count, patience);
  await (enter === undefined ? drained() : reacted(watch));
  watch.total();
  const mutating = watch.elements > 0 && quiet > 0 ? !(await quieted(watch, quiet)) : false;
  const report = settled(watch, { arrived, mutating, ...outcomeOf(key, expected) });
  if (guard !== null) report.guard = takeGuard();
  if (keep) watch.keep();
  else watch.stop();
  return report;
}

agent.mark = ({ key } = {}) => ({ mark: startWatch(key === undefined ? null : byRef({ key })) });
