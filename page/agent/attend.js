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
