// Observes native drags and mouse moves.

let dragState = null;
const dragViews = new WeakSet();

function onDrag(event) {
  if (dragState === null || !event.isTrusted) return;
  if (event.type === "dragstart") dragState.start = event;
  else dragState.effect = event.dataTransfer?.dropEffect ?? "none";
}

/** Observes drags that start in the element's document. */
agent.watchDrag = ({ key }) => {
  const view = byRef({ key }).ownerDocument.defaultView;
  dragState = { start: null, effect: null };
  if (dragViews.has(view)) return null;
  dragViews.add(view);
  for (const type of ["dragstart", "dragend"]) view.addEventListener(type, onDrag, { capture: true });
  return null;
};

/** Whether a drag has started that the page did not prevent, after pending tasks have run. */
agent.hasDragStarted = async () => {
  await drained();
  return dragState?.start != null && !dragState.start.defaultPrevented;
};

/** The drop effect: "none" when no target accepted the drop, null while the drag goes on. */
agent.dragEnd = async () => {
  await drained();
  const effect = dragState?.effect ?? null;
  dragState = null;
  return effect;
};

/**
 * Whether a mouse move reaches the element's document within `timeout` ms. For an out-of-process frame the browser
 * decides by the last drawn frame.
 */
agent.waitForMouseMove = ({ key, timeout }) =>
  new Promise((resolve) => {
    const view = byRef({ key }).ownerDocument.defaultView;
    const ending = new AbortController();
    const end = (seen) => {
      clearTimeout(timer);
      ending.abort();
      resolve(seen);
    };
    const see = (event) => {
      if (event.isTrusted) end(true);
    };
    const timer = setTimeout(() => end(false), timeout);
    view.addEventListener("mousemove", see, { capture: true, passive: true, signal: ending.signal });
  });
