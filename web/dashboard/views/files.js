// Files that sessions have written, and recordings, with a preview.
// @ts-check

import { button, make } from "../shared/element.js";
import { notice } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { ago } from "../shared/time.js";
import { bytesOf, failureText, saveFile } from "../requests.js";

/** @typedef {{id: string, kind: string, name: string, path: string, bytes: number, modified: number, session?: string | null, type?: string | null}} WrittenFile */

const KINDS = new Map([
  ["screenshots", "screenshot"],
  ["pdfs", "PDF"],
  ["downloads", "download"],
  ["har", "HAR"],
  ["traces", "trace"],
  ["recordings", "recording"],
  ["captures", "capture"],
  ["files", "file"],
]);

/** Largest file that is shown, and largest text of it. */
const SHOWN_BYTES = 48 * 1024 * 1024;
const SHOWN_LETTERS = 200_000;

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 1 ? `${Math.round(bytes / 1024)} KB` : `${megabytes.toFixed(megabytes < 100 ? 1 : 0)} MB`;
}

/** @param {WrittenFile} file */
const isRecording = ({ kind }) => kind === "recordings";

/** @type {import("../dashboard.js").View} */
export const files = {
  id: "files",
  title: "Files",
  icon: "download",
  create: (body, tools, actions) => createList(body, tools, actions, (file) => !isRecording(file), "No session has written a file yet.", false),
};

/** @type {import("../dashboard.js").View} */
export const recordings = {
  id: "recordings",
  title: "Recordings",
  icon: "film",
  create: (body, tools, actions) => createList(body, tools, actions, isRecording, "There is no recording yet. An agent makes one with the action record.", true),
};

/**
 * @param {HTMLElement} body
 * @param {HTMLElement} tools
 * @param {import("../dashboard.js").Actions} actions
 * @param {(file: WrittenFile) => boolean} isListed
 * @param {string} none
 * @param {boolean} isRecordings
 */
function createList(body, tools, { request }, isListed, none, isRecordings) {
  const fault = make("div", { role: "status" });
  const preview = make("section", { look: "panel preview", "aria-label": "Preview", hidden: "" });
  const list = make("ul", { look: "panel" });
  const empty = make("div", { look: "empty", hidden: "" }, icon(isRecordings ? "film" : "download"), make("p", {}, none));
  body.append(fault, preview, list, empty);
  /** @type {string} */
  let shownUrl = "";
  /** @param {unknown} error */
  const fail = (error) => fault.replaceChildren(notice({ look: "warning", icon: "info", title: failureText(error) }));
  const refresh = () =>
    request("files").then(({ files: all }) => {
      const listed = all.filter(isListed);
      showList(list, listed, (/** @type {WrittenFile} */ one) => one.id, (one) => row(one, show, save));
      list.hidden = listed.length === 0;
      empty.hidden = listed.length > 0;
    }, fail);
  /** @param {WrittenFile} file */
  const read = async (file) => {
    const parts = [];
    for (let offset = 0; offset === 0 || offset < file.bytes; ) {
      const part = bytesOf((await request("file", { file: file.id, offset })).data);
      parts.push(part);
      offset += part.length;
      if (part.length === 0) break;
    }
    return parts;
  };
  /** @param {WrittenFile} file */
  const save = (file) => void read(file).then((parts) => saveFile(parts, file.name.replace("/", "-"), "application/octet-stream"), fail);
  /** @param {WrittenFile} file */
  const show = async (file) => {
    fault.replaceChildren();
    const close = button([icon("close")], () => hide(), { look: "plain only-icon mini", label: "Close the preview" });
    const head = make("header", { look: "line" }, make("h3", { look: "grow cut", tabindex: "-1" }, file.name), close);
    preview.replaceChildren(head, make("p", { look: "quiet" }, "Loading"));
    preview.hidden = false;
    try {
      const blob = new Blob(await read(file), { type: file.type ?? "" });
      URL.revokeObjectURL(shownUrl);
      shownUrl = URL.createObjectURL(blob);
      preview.replaceChildren(head, await content(file, blob, shownUrl));
      head.querySelector("h3")?.focus();
    } catch (error) {
      hide();
      fail(error);
    }
  };
  const hide = () => {
    preview.hidden = true;
    preview.replaceChildren();
    URL.revokeObjectURL(shownUrl);
  };
  tools.append(button([icon("retry"), "Refresh"], () => void refresh(), { look: "mini" }));
  void refresh();
  return () => {};
}

/**
 * @param {WrittenFile} file
 * @param {Blob} blob
 * @param {string} url
 */
async function content({ type, name, kind }, blob, url) {
  if (type?.startsWith("image/")) return make("img", { src: url, alt: name });
  if (type?.startsWith("video/")) return make("video", { src: url, controls: "", "aria-label": name });
  const text = await blob.text();
  const table = kind === "har" ? harTable(text) : kind === "traces" ? traceTable(text) : null;
  if (table) return make("div", { look: "scroll", tabindex: "0", role: "region", "aria-label": name }, table);
  return make("pre", { tabindex: "0" }, text.length > SHOWN_LETTERS ? `${text.slice(0, SHOWN_LETTERS)}\n…` : text);
}

/** Requests or events that a table shows. */
const TABLE_ROWS = 1_000;

/**
 * @param {string[]} heads
 * @param {string[][]} rows
 */
const tableOf = (heads, rows) => make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((text) => make("td", {}, text))))));

/**
 * The requests of an HTTP archive; none if it is not one.
 * @param {string} text
 */
function harTable(text) {
  try {
    const { log: { entries } } = JSON.parse(text);
    return tableOf(["Method", "Status", "Size", "Time", "URL"], entries.slice(0, TABLE_ROWS).map((/** @type {any} */ { request, response, time }) => [String(request.method), String(response.status), sizeText(Math.max(0, Number(response.content?.size ?? 0))), `${Math.round(time)} ms`, String(request.url)]));
  } catch {
    return null;
  }
}

/**
 * The kinds of events of a Chrome trace with their number and time; none if it is not one.
 * @param {string} text
 */
function traceTable(text) {
  try {
    const parsed = JSON.parse(text);
    /** @type {Map<string, [number, number]>} */
    const kinds = new Map();
    for (const { name, dur = 0 } of parsed.traceEvents ?? parsed) {
      const [count, time] = kinds.get(name) ?? [0, 0];
      kinds.set(name, [count + 1, time + dur / 1_000]);
    }
    const rows = [...kinds].toSorted(([, [, one]], [, [, other]]) => other - one).slice(0, TABLE_ROWS);
    return tableOf(["Time", "Events", "Name"], rows.map(([name, [count, time]]) => [`${time.toFixed(1)} ms`, String(count), name]));
  } catch {
    return null;
  }
}

/**
 * @param {WrittenFile} file
 * @param {(file: WrittenFile) => void} show
 * @param {(file: WrittenFile) => void} save
 */
function row(file, show, save) {
  const { kind, name, path, bytes, modified, session, type } = file;
  const facts = [KINDS.get(kind) ?? kind, sizeText(bytes), ago(modified), session ? `session ${session}` : ""];
  const texts = make("span", { look: "texts" }, make("strong", { look: "cut", title: path }, name), make("span", { look: "quiet wrap" }, facts.filter(Boolean).join(" · ")));
  const isShown = Boolean(type) && bytes <= SHOWN_BYTES;
  const word = type?.startsWith("video/") || isRecording(file) ? "Play" : "Show";
  return make("li", { look: "row" }, texts, isShown && button(word, () => show(file), { look: "mini", label: `${word} ${name}` }), bytes <= SHOWN_BYTES && button([icon("download")], () => save(file), { look: "plain only-icon mini", label: `Save ${name}` }));
}
