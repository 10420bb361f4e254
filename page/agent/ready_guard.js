// Sees to it that input reaches the element it is meant for, and notes which input has arrived. Listens on the window
// before the page's own scripts do; stops only what was sent for an element and would reach another. Knows nothing of
// how input is sent.

const DOWN_EVENTS = new Set(["pointerdown", "mousedown", "touchstart"]);
const ALWAYS_WATCHED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu", "keydown", "keyup", "beforeinput"];
const POINTER_EVENTS = ALWAYS_WATCHED.slice(0, 8);
const SOMETIMES_WATCHED = ["mousemove", "wheel", "touchstart", "touchend", "drop", "dragend"];
const GUARD_LASTS = 5000;

let guard = null;
/** Who wants to know of trusted input. */
let inputListener = null;

/** Listens on a view; what is listened to already stays as it is. A page that writes its document anew ends all of it. */
function listenOn(view, types) {
  for (const type of types) view.addEventListener(type, onInput, { capture: true, passive: type.startsWith("touch") || type === "wheel" });
}

// The one listener of the agent that is there from the start: only so it comes before the page's own.
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
    guard.hit = event.composedPath()[0];
    guard.state = guard.hit?.nodeType === Node.ELEMENT_NODE && isMeant(guard, guard.hit) ? "passed" : "blocked";
  }
  if (guard.state !== "blocked") return;
  event.stopImmediatePropagation();
  if (event.cancelable) event.preventDefault();
}

/** Whether the hit is the element meant. One that was named by words may have been drawn anew; one by ref may not. */
function isMeant({ element, renew }, hit) {
  if (receives(element, hit)) return true;
  return !element.isConnected && renew !== null && renew().some((other) => receives(other, hit));
}

/** From now on the next press must reach this element, or one that `renew` finds in its place, or it reaches nothing. */
function armGuard(element, { renew = null, events = [] } = {}) {
  guard = { element, renew, types: new Set([...POINTER_EVENTS, ...events]), state: "armed", hit: null, until: performance.now() + GUARD_LASTS };
  listenOn(element.ownerDocument.defaultView, guard.types);
}

/** What the guard has seen, and the end of it. */
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
