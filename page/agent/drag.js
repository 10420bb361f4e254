// Sees whether a drag of the browser's own has begun and how it ended. Knows nothing of how the mouse is moved.

let dragSeen = null;
const dragViews = new WeakSet();

function noteDrag(event) {
  if (dragSeen === null || !event.isTrusted) return;
  if (event.type === "dragstart") dragSeen.start = event;
  else dragSeen.effect = event.dataTransfer?.dropEffect ?? "none";
}

/** Watches for a drag that begins in the element's document. */
agent.watchDrag = ({ key }) => {
  const view = byRef({ key }).ownerDocument.defaultView;
  dragSeen = { start: null, effect: null };
  if (dragViews.has(view)) return null;
  dragViews.add(view);
  for (const type of ["dragstart", "dragend"]) view.addEventListener(type, noteDrag, { capture: true });
  return null;
};

/** Whether a drag has begun that the page did not prevent; waits for what is ready to run. */
agent.hasDragBegun = async () => {
  await drained();
  return dragSeen?.start != null && !dragSeen.start.defaultPrevented;
};

/** What became of the drag: the effect that the page was told, "none" when nothing took it, null when it has not ended. */
agent.dragEnd = async () => {
  await drained();
  const effect = dragSeen?.effect ?? null;
  dragSeen = null;
  return effect;
};
