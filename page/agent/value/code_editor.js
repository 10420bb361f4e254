// Code editors, which render only the lines in view.

/** Their own "select all" key is the only way to select all their text. */
const CODE_EDITORS = ".cm-editor, .CodeMirror, .monaco-editor, .ace_editor";
/** The element that receives input, and the elements of rendered lines. */
const CODE_FIELDS = ".cm-content, .native-edit-context, textarea.inputarea, .CodeMirror textarea, textarea.ace_text-input";
const CODE_LINES = ".cm-line, .CodeMirror-code .CodeMirror-line, .view-line, .ace_line";

/** The input element of a code editor that is or is inside the element; null for none. */
function codeFieldIn(element) {
  if (isTextField(element) || isEditor(element)) return null;
  const editor = element.closest(CODE_EDITORS) ?? element.querySelector(CODE_EDITORS);
  if (editor === null) return null;
  const isAlone = Array.from(element.querySelectorAll("input, textarea, [contenteditable]")).every((field) => editor.contains(field));
  return isAlone ? editor.querySelector(CODE_FIELDS) : null;
}

/** The rendered lines from top to bottom; their DOM order can differ. */
function codeText(editor) {
  const shown = Array.from(editor.querySelectorAll(CODE_LINES), (line) => ({ top: line.getBoundingClientRect().top, text: line.textContent }));
  shown.sort((above, below) => above.top - below.top);
  return shown.map(({ text }) => text.replace(/\u00a0/g, " ").replace(/[\ufeff\u200b]/g, "")).join("\n");
}

/** Whether the rendered lines are part of this text. */
function isPartOf(value, expected) {
  const shown = withoutSpace(value);
  return shown === "" ? withoutSpace(expected) === "" : withoutSpace(expected).includes(shown);
}
