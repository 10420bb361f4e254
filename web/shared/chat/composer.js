// The field for messages: sends, steers or queues, stops, and holds what goes with the next message.
// @ts-check

import { button, make, say } from "../element.js";
import { icon } from "../icons.js";

const MOST_HEIGHT = 160;
/** What the daemon takes with one message. */
const MOST_IMAGES = 8;
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_TEXT_BYTES = 256 * 1024;
/** The daemon takes messages of 12 MiB. */
const MOST_TOGETHER = 11 * 1024 * 1024;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** @typedef {{kind: "image", label: string, data: string} | {kind: "file", label: string, text: string} | {kind: "tab", label: string, title: string, url: string} | {kind: "point", label: string, role: string, name: string, selector: string, url: string}} Attachment */
/** @typedef {{text: string, steer: boolean, attachments: Attachment[]}} Draft */
/** @typedef {{placeholder: string, isOff: boolean, isWorking: boolean, isStopping: boolean}} ComposerState */

/**
 * @param {{send: (draft: Draft) => Promise<boolean>, stop: () => void, point?: () => Promise<Attachment | null>, front?: () => Attachment | null}} actions
 */
export function createComposer({ send, stop, point, front }) {
  /** @type {Attachment[]} */
  let attachments = [];
  let isWorking = false;
  const chips = make("ul", { look: "chips", "aria-label": "Goes with the message" });
  const fault = make("p", { look: "small warning", role: "alert" });
  const field = make("textarea", { rows: "1", "aria-label": "Message", maxlength: "100000" });
  const picker = make("input", { type: "file", multiple: "", "aria-label": "Files", tabindex: "-1" });
  picker.hidden = true;
  const add = button([icon("clip")], () => picker.click(), { look: "plain only-icon mini", label: "Add an image or file" });
  const pointer = point && button([icon("point")], () => void pointAt(), { look: "plain only-icon mini", label: "Point at something on the page" });
  const tab = front && button([icon("tabs")], () => addFront(), { look: "plain only-icon mini", label: "Add this tab" });
  const asks = make("span", { look: "tag good", title: "Tabwire asks you before the agent uses a new site." }, icon("shield"), "Asks first");
  const queue = button("After this", () => submit(false), { look: "mini plain", label: "Send after this turn" });
  const go = button([icon("up")], () => submit(true), { look: "strong only-icon round", label: "Send" });
  const end = button([icon("stop"), "Stop"], () => stop(), { look: "stop" });
  const box = make("div", { look: "box" }, chips, fault, field, picker, make("div", { look: "tools" }, add, tab ?? false, pointer ?? false, asks, make("span", { look: "grow" }), queue, go, end));

  function addFront() {
    const found = front?.();
    if (found) attach(found);
    else complain("Share this tab first.");
    field.focus();
  }

  async function pointAt() {
    complain("Click something on the page. Esc ends it.");
    const found = await point?.().catch((error) => void complain(String(error?.message ?? error)));
    if (fault.textContent?.startsWith("Click")) complain("");
    if (found) attach(found);
    field.focus();
  }

  /** @param {string} text */
  const complain = (text) => say(fault, text);

  /** @param {Attachment} one */
  function attach(one) {
    const isKnown = attachments.some((other) => other.kind === one.kind && other.label === one.label);
    if (!isKnown) attachments = [...attachments, one];
    show();
  }

  /** @param {File[]} files a list of its own: that of an input is emptied before all are read */
  async function addFiles(files) {
    complain("");
    for (const file of files) {
      if (attachments.length >= MOST_IMAGES) return complain(`At most ${MOST_IMAGES} go with one message.`);
      const isImage = IMAGE_TYPES.includes(file.type);
      if (file.size > (isImage ? MOST_BYTES : MOST_TEXT_BYTES)) return complain(`${file.name} is too large.`);
      if (!isImage && !(await isText(file))) return complain(`${file.name} is neither an image nor text.`);
      /** @type {Attachment} */
      const one = isImage ? { kind: "image", label: file.name || "image", data: await base64(file) } : { kind: "file", label: file.name, text: await file.text() };
      if (JSON.stringify([...attachments, one]).length > MOST_TOGETHER) return complain("These are too large together.");
      attach(one);
    }
  }

  /** @param {boolean} steer */
  async function submit(steer) {
    const text = field.value.trim();
    if (isEmpty() || field.disabled) return;
    const draft = { text, steer: steer && isWorking, attachments };
    field.value = "";
    attachments = [];
    show();
    if (!(await send(draft)) && field.value === "") {
      field.value = text;
      attachments = draft.attachments;
      show();
    }
  }

  /** Whether there is nothing to send. Images and files are a message by themselves. */
  const isEmpty = () => field.value.trim() === "" && !attachments.some(({ kind }) => kind === "image" || kind === "file");

  function show() {
    const made = attachments.map((one) => {
      const remove = button([icon("close")], () => { attachments = attachments.filter((other) => other !== one); show(); field.focus(); }, { look: "plain only-icon tiny", label: `Remove ${one.label}` });
      return make("li", { look: "chip" }, icon({ image: "camera", file: "list", tab: "globe", point: "point" }[one.kind]), make("span", { look: "cut" }, one.label), remove);
    });
    chips.replaceChildren(...made);
    chips.hidden = made.length === 0;
    const isNothing = isEmpty();
    go.disabled = isNothing || field.disabled;
    go.hidden = isWorking && isNothing;
    queue.hidden = !isWorking || isNothing;
    end.hidden = !isWorking;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, MOST_HEIGHT)}px`;
  }

  field.addEventListener("input", () => { complain(""); show(); });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.isTrusted) return;
    event.preventDefault();
    void submit(!event.altKey);
  });
  field.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0 || !event.isTrusted) return;
    event.preventDefault();
    void addFiles(files);
  });
  box.addEventListener("dragover", (event) => event.preventDefault());
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.isTrusted) void addFiles([...(event.dataTransfer?.files ?? [])]);
  });
  picker.addEventListener("change", () => { void addFiles([...(picker.files ?? [])]); picker.value = ""; });
  show();

  return {
    element: box,
    attach,
    focus: () => field.focus(),
    /** @param {string} text */
    fill(text) {
      field.value = text;
      show();
      field.focus();
    },
    /** @param {ComposerState} state */
    update(state) {
      isWorking = state.isWorking;
      if (field.placeholder !== state.placeholder) field.placeholder = state.placeholder;
      field.disabled = state.isOff;
      add.disabled = state.isOff;
      for (const one of [tab, pointer]) if (one) one.disabled = state.isOff;
      end.disabled = state.isStopping;
      const words = state.isStopping ? "Stopping…" : "Stop";
      if (end.textContent !== words) end.replaceChildren(icon("stop"), words);
      show();
    },
  };
}

/** @param {File} file */
async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}

/** @param {File} file */
async function isText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
