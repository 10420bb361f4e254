// Makes sure that input reaches its target, and records which input arrives. Listens on the window before the page's
// scripts. Stops only input that was sent for an element and would reach another.

const DOWN_EVENTS = new Set(["pointerdown", "mousedown", "touchstart"]);
const ALWAYS_WATCHED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu", "keydown", "keyup", "beforeinput"];
const POINTER_EVENTS = ALWAYS_WATCHED.slice(0, 8);
const SOMETIMES_WATCHED = ["mousemove", "wheel", "touchstart", "touchend", "drop", "dragend"];
const GUARD_LIFETIME = 5000;

let guard = null;
/** Receives every trusted input event. */
let inputListener = null;

/** Adds listeners to a view; adding one twice has no effect. `document.open()` removes them. */
function listenOn(view, types) {
  for (const type of types) view.addEventListener(type, onInput, { capture: true, passive: type.startsWith("touch") || type === "wheel" });
}

// Registered at document start, before any listener of the page.
listenOn(window, ALWAYS_WATCHED);

function onInput(event) {
  if (!event.isTrusted) return;
  if (guard !== null) applyGuard(event);
  inputListener?.(event);
}

function applyGuard(event) {
  if (performance.now() > guard.until) {
    guard = null;
    return;
  }
  if (!guard.types.has(event.type)) return;
  if (guard.state === "armed" && DOWN_EVENTS.has(event.type)) {
    guard.hit = hitOf(event);
    guard.state = guard.hit?.nodeType === Node.ELEMENT_NODE && isGuardTarget(guard, guard.hit) ? "passed" : "blocked";
  }
  if (guard.state !== "blocked") return;
  event.stopImmediatePropagation();
  if (event.cancelable) event.preventDefault();
}

/** The element that an event reached. Events hide the inside of a closed shadow root; the point shows it. */
function hitOf(event) {
  const hit = event.composedPath()[0];
  return hit?.nodeType === Node.ELEMENT_NODE && closedRoots.has(hit) ? (hitAt(event.clientX, event.clientY) ?? hit) : hit;
}

/**
 * Whether the hit is the target. A page may have re-rendered an element found by selector; a ref means one element
 * only.
 */
function isGuardTarget({ element, renew }, hit) {
  if (receives(element, hit)) return true;
  return !element.isConnected && renew !== null && renew().some((other) => receives(other, hit));
}

/**
 * From now on the next press must reach this element, or one that `renew` finds in its place. Otherwise it is blocked.
 */
function armGuard(element, { renew = null, events = [] } = {}) {
  guard = { element, renew, types: new Set([...POINTER_EVENTS, ...events]), state: "armed", hit: null, until: performance.now() + GUARD_LIFETIME };
  listenOn(element.ownerDocument.defaultView, guard.types);
}

/** Removes the guard and returns what it saw. */
function takeGuard() {
  const ended = guard;
  guard = null;
  if (ended === null || ended.state === "armed") return { state: ended === null ? "none" : "unused" };
  if (ended.state === "passed") return { state: "passed" };
  const element = ended.hit?.nodeType === Node.ELEMENT_NODE ? coverOf(ended.hit, ended.element) : null;
  return { state: "blocked", by: element === null ? null : describeElement(element) };
}

agent.guard = ({ key, events }) => armGuard(byRef({ key }), { events });
agent.guarded = () => takeGuard();
