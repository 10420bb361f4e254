// Enters text into a field with an editing command. Focus check and text are one synchronous step, so nothing can
// happen between. Editors get key events from Rust instead.

/**
 * Whether `execCommand` works for the field. Code editors read key events; XML documents have no editing commands;
 * several lines would be several edits; `minlength` applies only to typed text.
 */
function acceptsEditCommand(element, text) {
  if (!isTextField(element) || element.closest(CODE_EDITORS) !== null || element.editContext) return false;
  return element.ownerDocument.contentType === "text/html" && element.minLength < 0 && !/[\r\n]/.test(text);
}

/** Replaces the text of a field. Fires `beforeinput`, which the page can cancel, and `input`; undo works. */
function enterText(element, text) {
  if (!focusOn(element)) failUnmet({ element, ...focusFailure(element) }, { request: {} });
  element.select();
  const what = text === "" ? { inputType: "deleteContentBackward" } : { inputType: "insertText", data: text };
  const { InputEvent } = element.ownerDocument.defaultView;
  const goesOn = element.dispatchEvent(new InputEvent("beforeinput", { ...what, bubbles: true, cancelable: true, composed: true }));
  if (!goesOn) return;
  if (text === "") element.ownerDocument.execCommand("delete");
  else element.ownerDocument.execCommand("insertText", false, text);
}
