// What a page asks of the user who drives it: dialogs and file choosers.
// @ts-check

import { button, make } from "../shared/element.js";
import { icon } from "../shared/icons.js";

const PART_BYTES = 256 * 1024;
const PART = 1;
const LONGEST_NAME = 255;

/** @typedef {{kind: string, message: string, default: string | null}} Dialog */
/** @typedef {import("./socket.js").LiveSocket} LiveSocket */

const TITLES = new Map([
  ["alert", "The page says"],
  ["confirm", "The page asks"],
  ["prompt", "The page asks for a text"],
  ["beforeunload", "Leave this page?"],
]);

/**
 * The form of an open dialog. A user who does not drive the tab can only read it.
 * @param {Dialog} dialog
 * @param {boolean} isMine
 * @param {LiveSocket} socket
 */
export function dialogForm({ kind, message, default: text }, isMine, socket) {
  const field = make("input", { type: "text", "aria-label": "Text", value: text ?? "" });
  const answer = (/** @type {boolean} */ accept) => socket.send({ type: "dialog", accept, text: accept && kind === "prompt" ? field.value : null });
  const buttons = make("div", { look: "line" }, button("OK", () => answer(true), { look: "strong" }), kind !== "alert" && button("Cancel", () => answer(false)));
  field.addEventListener("keydown", (event) => {
    if (event.isTrusted && event.key === "Enter") answer(true);
  });
  const answers = isMine ? buttons : make("p", { look: "quiet small" }, "Take over to answer it.");
  return request(TITLES.get(kind) ?? kind, make("p", { look: "wrap" }, message), isMine && kind === "prompt" && field, answers);
}

/**
 * The form of an open file chooser.
 * @param {boolean} isMultiple
 * @param {LiveSocket} socket
 */
export function chooserForm(isMultiple, socket) {
  const field = make("input", { type: "file", "aria-label": "Files for the page", ...(isMultiple ? { multiple: "" } : {}) });
  field.addEventListener("change", () => void sendFiles([...(field.files ?? [])], socket));
  const cancel = button([icon("close"), "Cancel"], () => socket.send({ type: "choose" }));
  return request(isMultiple ? "The page asks for files" : "The page asks for a file", field, make("div", { look: "line" }, cancel));
}

/**
 * @param {string} title
 * @param {...(HTMLElement | false)} parts
 */
const request = (title, ...parts) => make("div", { look: "page-request", role: "dialog", "aria-label": title }, make("strong", {}, title), ...parts);

/**
 * Sends files in parts: a one, the number of the file, the length of its name, the name, and content.
 * @param {File[]} files
 * @param {LiveSocket} socket
 */
async function sendFiles(files, socket) {
  for (const [number, file] of files.entries()) {
    const name = new TextEncoder().encode(file.name).slice(0, LONGEST_NAME);
    let at = 0;
    do {
      const content = new Uint8Array(await file.slice(at, at + PART_BYTES).arrayBuffer());
      const part = new Uint8Array(3 + name.length + content.length);
      part.set([PART, number, name.length]);
      part.set(name, 3);
      part.set(content, 3 + name.length);
      socket.sendPart(part);
      at += PART_BYTES;
    } while (at < file.size);
  }
  socket.send({ type: "choose" });
}
