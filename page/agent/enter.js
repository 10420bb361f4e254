// Text put into a field in the page itself, by the command that editing menus use. One step from the check of the focus
// to the text, so nothing can come between. Knows nothing of editors, whose text the browser types on Rust's order.

/**
 * Whether a text can be put into a field from here. Code editors read what is typed, documents of other kinds know no
 * editing commands, several lines would be as many edits, and a field's least length is judged only after text that was
 * typed.
 */
function isEnterable(element, text) {
  if (!isTextField(element) || element.closest(CODE_EDITORS) !== null || element.editContext) return false;
  return element.ownerDocument.contentType === "text/html" && element.minLength < 0 && !/[\r\n]/.test(text);
}

/**
 * Gives a field a new text and lets the page hear of it: before, when it may refuse or do it its own way, and after,
 * as of a person's edit, which undo takes back.
 */
function enterText(element, text) {
  if (!focusOn(element)) giveUp({ element, ...unfocusable(element) }, { request: {} });
  element.select();
  const what = text === "" ? { inputType: "deleteContentBackward" } : { inputType: "insertText", data: text };
  const { InputEvent } = element.ownerDocument.defaultView;
  const goesOn = element.dispatchEvent(new InputEvent("beforeinput", { ...what, bubbles: true, cancelable: true, composed: true }));
  if (!goesOn) return;
  if (text === "") element.ownerDocument.execCommand("delete");
  else element.ownerDocument.execCommand("insertText", false, text);
}
