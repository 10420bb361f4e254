// Code editors: they draw only the lines in view and keep the rest to themselves. Knows nothing of other fields.

/** Editors that draw only a part of their text, so that only their own "select all" takes all of it. */
const CODE_EDITORS = ".cm-editor, .CodeMirror, .monaco-editor, .ace_editor";
/** What in them is typed into, and what holds the lines they show. */
const CODE_FIELDS = ".cm-content, .native-edit-context, textarea.inputarea, .CodeMirror textarea, textarea.ace_text-input";
const CODE_LINES = ".cm-line, .CodeMirror-code .CodeMirror-line, .view-line, .ace_line";

/** What is typed into when the element is a code editor or has one in it; null when it is or has none. */
function codeFieldIn(element) {
  if (isTextField(element) || isEditor(element)) return null;
  const editor = element.closest(CODE_EDITORS) ?? element.querySelector(CODE_EDITORS);
  if (editor === null) return null;
  const isAlone = Array.from(element.querySelectorAll("input, textarea, [contenteditable]")).every((field) => editor.contains(field));
  return isAlone ? editor.querySelector(CODE_FIELDS) : null;
}

/** The lines a code editor shows, in the order they are seen; it need not keep them in that order. */
function codeText(editor) {
  const shown = Array.from(editor.querySelectorAll(CODE_LINES), (line) => ({ top: line.getBoundingClientRect().top, text: line.textContent }));
  shown.sort((above, below) => above.top - below.top);
  return shown.map(({ text }) => text.replace(/\u00a0/g, " ").replace(/[\ufeff\u200b]/g, "")).join("\n");
}

/** Whether what a code editor shows is of this text; it shows only a part of a long one. */
function isShownOf(value, expected) {
  const shown = withoutSpace(value);
  return shown === "" ? withoutSpace(expected) === "" : withoutSpace(expected).includes(shown);
}
