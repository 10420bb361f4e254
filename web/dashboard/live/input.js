// The user's mouse, wheel, touch and keyboard, sent to the page while the user drives it.
// @ts-check

const DOUBLE_ESCAPE_MS = 600;
const LONGEST_TEXT = 100_000;
const BUTTONS = ["left", "middle", "right", "back", "forward"];
const BUTTON_BITS = [1, 4, 2, 8, 16];
const LINE_PX = 40;
const COMPOSING = 229;

/** @typedef {(input: Record<string, unknown>) => void} Send */
/** @typedef {(event: {clientX: number, clientY: number}) => {x: number, y: number}} PointOf */
/** @typedef {(element: HTMLElement, names: string[], handle: (event: any) => void) => void} On */

/** @param {MouseEvent | KeyboardEvent | TouchEvent} event */
const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }) => (altKey ? 1 : 0) | (ctrlKey ? 2 : 0) | (metaKey ? 4 : 0) | (shiftKey ? 8 : 0);

/**
 * Listens to a screen and its hidden text field. Inputs are sent while `isActive`. Events that scripts make are ignored.
 * @param {{screen: HTMLElement, field: HTMLTextAreaElement, pointOf: PointOf, isActive: () => boolean, send: Send, giveBack: () => void}} parts
 */
export function listen({ screen, field, pointOf, isActive, send, giveBack }) {
  /** @type {On} */
  const on = (element, names, handle) => {
    const listener = (/** @type {Event} */ event) => {
      if (isActive() && event.isTrusted) handle(event);
    };
    for (const name of names) element.addEventListener(name, listener, { passive: false });
  };
  listenToMouse(screen, field, pointOf, send, on);
  listenToTouch(screen, field, pointOf, send, on);
  listenToKeys(field, send, giveBack, on);
  listenToTexts(field, send, on);
}

/**
 * @param {HTMLElement} screen
 * @param {HTMLTextAreaElement} field
 * @param {PointOf} pointOf
 * @param {Send} send
 * @param {On} on
 */
function listenToMouse(screen, field, pointOf, send, on) {
  /** @type {MouseEvent | null} */
  let moved = null;
  const mouse = (/** @type {string} */ what, /** @type {MouseEvent} */ event, /** @type {string} */ button, /** @type {number} */ clicks) =>
    send({ kind: "mouse", what, ...pointOf(event), button, buttons: event.buttons & 31, clicks, modifiers: modifiersOf(event) });
  const flush = () => {
    const event = moved;
    moved = null;
    if (event) mouse("mouseMoved", event, BUTTONS.find((_, at) => event.buttons & BUTTON_BITS[at]) ?? "none", 0);
  };
  on(screen, ["mousemove"], (event) => {
    // One move per frame that the dashboard draws is enough.
    if (!moved) requestAnimationFrame(flush);
    moved = event;
  });
  on(screen, ["mousedown", "mouseup"], (event) => {
    event.preventDefault();
    field.focus({ preventScroll: true });
    flush();
    mouse(event.type === "mousedown" ? "mousePressed" : "mouseReleased", event, BUTTONS[event.button] ?? "none", Math.min(event.detail || 1, 3));
  });
  on(screen, ["contextmenu", "dragstart"], (event) => event.preventDefault());
  on(screen, ["wheel"], (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    send({ kind: "wheel", ...pointOf(event), dx: event.deltaX * unit, dy: event.deltaY * unit, modifiers: modifiersOf(event) });
  });
}

/**
 * @param {HTMLElement} screen
 * @param {HTMLTextAreaElement} field
 * @param {PointOf} pointOf
 * @param {Send} send
 * @param {On} on
 */
function listenToTouch(screen, field, pointOf, send, on) {
  const kinds = new Map([["touchstart", "touchStart"], ["touchmove", "touchMove"], ["touchend", "touchEnd"], ["touchcancel", "touchCancel"]]);
  on(screen, [...kinds.keys()], (/** @type {TouchEvent} */ event) => {
    event.preventDefault();
    if (event.type === "touchend") field.focus({ preventScroll: true });
    const points = [...event.touches].map((touch, id) => ({ ...pointOf(touch), id }));
    send({ kind: "touch", what: kinds.get(event.type), points, modifiers: modifiersOf(event) });
  });
}

/**
 * @param {HTMLTextAreaElement} field
 * @param {Send} send
 * @param {() => void} giveBack
 * @param {On} on
 */
function listenToKeys(field, send, giveBack, on) {
  let escapedAt = -DOUBLE_ESCAPE_MS;
  on(field, ["keydown", "keyup"], (/** @type {KeyboardEvent} */ event) => {
    // Compositions and dead keys report their text themselves, and so does a paste.
    if (event.isComposing || event.keyCode === COMPOSING || event.key === "Dead") return;
    if ((event.ctrlKey || event.metaKey) && event.code === "KeyV") return;
    event.preventDefault();
    const isDown = event.type === "keydown";
    if (isDown && event.key === "Escape" && !event.repeat) {
      if (event.timeStamp - escapedAt < DOUBLE_ESCAPE_MS) return giveBack();
      escapedAt = event.timeStamp;
    }
    const isGraph = event.getModifierState("AltGraph");
    const isText = event.key.length === 1 && (isGraph || (!event.ctrlKey && !event.metaKey));
    const text = isText ? event.key : event.key === "Enter" ? "\r" : "";
    const modifiers = isGraph ? modifiersOf(event) & 8 : modifiersOf(event);
    send({ kind: "key", is_down: isDown, key: event.key, code: event.code, key_code: event.keyCode, text: isDown ? text : "", location: event.location, repeat: event.repeat, modifiers });
  });
}

/**
 * Texts that come without keys: compositions, dead keys, soft keyboards, pastes.
 * @param {HTMLTextAreaElement} field
 * @param {Send} send
 * @param {On} on
 */
function listenToTexts(field, send, on) {
  const type = (/** @type {string} */ text) => {
    if (text !== "") send({ kind: "text", text: text.slice(0, LONGEST_TEXT) });
    field.value = "";
  };
  on(field, ["compositionupdate"], (event) => send({ kind: "compose", text: event.data }));
  on(field, ["compositionend"], (event) => type(event.data));
  on(field, ["input"], (event) => {
    if (!event.isComposing && event.inputType !== "insertCompositionText") type(field.value);
  });
  on(field, ["paste"], (event) => {
    event.preventDefault();
    type(event.clipboardData?.getData("text/plain") ?? "");
  });
}
