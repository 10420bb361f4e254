// Which element and frame have the keyboard focus, and waiting until the page is drawn.

/** Frames without another size after which a resize is over. */
const STABLE_FRAMES = 3;

/** Whether a cross-origin frame has the focus, so that its own agent must be asked. */
function isCrossOriginFocus(focused) {
  return isFrameElement(focused) && accessibleDocument(focused) === null;
}

/** Whether key events reach this document or a same-origin frame below it. */
agent.hasKeyboardFocus = () => {
  const focused = deepFocus();
  return document.hasFocus() && (focused === null || !isCrossOriginFocus(focused));
};

/**
 * Which frame receives key events, as far as this document knows: `own` for this document or a same-origin one below
 * it, else the key of the focused `frame` element. `unsure` when another frame took the focus while an element here
 * kept its own, or when the focus is in a closed shadow root.
 */
agent.keyboardFrame = () => {
  if (!document.hasFocus()) return "nowhere";
  const focused = deepFocus();
  if (focused === null || focused === focused.ownerDocument.body || focused === focused.ownerDocument.documentElement) return "own";
  if (isCrossOriginFocus(focused)) return { frame: keyOf(focused) };
  // `:focus` matches only in the frame that has the focus itself.
  return focused.matches(":focus") ? "own" : "unsure";
};

/** Whether this document, or one below it, has the focus. */
agent.hasFocus = () => document.hasFocus();

/** The focused element, and a new watch. The page itself has no role. */
agent.focusedElement = () => {
  const focused = deepFocus() ?? document.documentElement;
  if (focused === null) fail("NOT_ACTIONABLE", "The document is empty.", remedy("Open a page first with {}.", { action: "navigate" }));
  const isPage = focused === focused.ownerDocument.body || focused === focused.ownerDocument.documentElement;
  const words = isPage ? {} : shownNames(focused);
  return { key: keyOf(focused), ...words, url: location.href, title: document.title, mark: startWatch(focused) };
};

/** Moves the caret to the end of a focused field or editor. */
agent.caretToEnd = ({ key }) => {
  const element = byRef({ key });
  if (element.localName === "textarea" || (element.localName === "input" && TYPED_INPUTS.has(element.type))) {
    // Some input types do not support selection; their caret is at the end already.
    try {
      element.setSelectionRange(element.value.length, element.value.length);
    } catch {
      return false;
    }
    return true;
  }
  if (element.isContentEditable !== true) return false;
  const selection = element.ownerDocument.getSelection();
  selection.selectAllChildren(element);
  selection.collapseToEnd();
  return true;
};

/** Resolves with the next frame: the page has handled the input before it. */
agent.nextFrame = async () => {
  await nextFrame();
  return null;
};

/** Resolves when the viewport has this width, or another one than `from`, and its size was the same for some frames. */
agent.viewResized = async ({ width, from, timeout }) => {
  const deadline = performance.now() + timeout;
  const size = () => `${innerWidth}x${innerHeight}`;
  for (let before = size(), same = 0; performance.now() < deadline && same < STABLE_FRAMES; ) {
    await nextFrame();
    const now = size();
    const fits = (width ?? innerWidth) === innerWidth && innerWidth !== (from ?? -1);
    same = now === before && fits ? same + 1 : 0;
    before = now;
  }
  return null;
};

/** Resolves after the page is drawn and its observers have run: lazy content loads only then. */
agent.drawn = async () => {
  await nextFrame();
  await nextFrame();
  await drained();
  return null;
};
