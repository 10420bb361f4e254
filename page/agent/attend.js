// Where the keyboard is, and waiting until the page has been drawn. Knows nothing of keys.

/** Whether a frame of another origin has the focus, so that its own agent must be asked. */
function isFocusElsewhere(focused) {
  return isFrameElement(focused) && accessibleDocument(focused) === null;
}

/** Whether keys that are pressed now reach this document or a readable frame below it. */
agent.hasKeys = () => {
  const focused = deepFocus();
  return document.hasFocus() && (focused === null || !isFocusElsewhere(focused));
};

/**
 * Which frame keys go to, as far as this document can tell: `own` for this document or a readable one below it, the key
 * of the `frame` element that has them otherwise. `unsure` when another frame took the focus while an element here
 * kept its own, or when the focus is in a closed shadow root.
 */
agent.keysGoTo = () => {
  if (!document.hasFocus()) return "nowhere";
  const focused = deepFocus();
  if (focused === null || focused === focused.ownerDocument.body || focused === focused.ownerDocument.documentElement) return "own";
  if (isFocusElsewhere(focused)) return { frame: keyOf(focused) };
  // Only an element of the frame that itself has the focus matches.
  return focused.matches(":focus") ? "own" : "unsure";
};

/** Whether this document, or one below it, has the focus. */
agent.hasFocus = () => document.hasFocus();

/** The element that keys reach now, and a watch over what changes from now on. The page itself has no role. */
agent.attend = () => {
  const focused = deepFocus() ?? document.documentElement;
  if (focused === null) fail("NOT_ACTIONABLE", "The document is empty.", "Go to a page first.");
  const isPage = focused === focused.ownerDocument.body || focused === focused.ownerDocument.documentElement;
  const words = isPage ? {} : { role: roleOf(focused), name: shorten(nameOf(focused)) };
  return { key: keyOf(focused), ...words, url: location.href, title: document.title, mark: startWatch(focused) };
};

/** Puts the caret behind the text of a field or editor that has the focus. */
agent.caretToEnd = ({ key }) => {
  const element = byRef({ key });
  if (element.localName === "textarea" || (element.localName === "input" && TYPED_INPUTS.has(element.type))) {
    // Some kinds of inputs have no caret to set; theirs stands at the end already.
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

/** Resolves when the page has been drawn and told its observers of it: what comes into view loads only then. */
agent.drawn = async () => {
  await nextFrame();
  await nextFrame();
  await drained();
  return null;
};
