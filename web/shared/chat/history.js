// Earlier chats: searched, opened, renamed and deleted.
// @ts-check

import { button, make } from "../element.js";
import { icon } from "../icons.js";
import { showList } from "../keyed_list.js";
import { ago } from "../time.js";
import { avatar } from "./start.js";

/** @typedef {import("./model.js").Summary} Summary */

/** The daemon searches when the user has not typed for so long. */
const SEARCH_MS = 250;

/** @type {Record<string, string>} */
const STATES = { starting: "starting", sign_in_needed: "needs you to sign in", working: "working", stopping: "stopping" };

/**
 * @param {{search: (text: string) => Promise<string[]>, open: (chat: string) => void, rename: (chat: string, title: string) => void, forget: (chat: string) => void}} actions
 */
export function createHistory(actions) {
  /** @type {Summary[]} */
  let chats = [];
  /** The row that is renamed or deleted. @type {{id: string, what: "rename" | "forget"} | null} */
  let changed = null;
  /** The chats with the text that was searched for last. @type {{text: string, ids: string[]}} */
  let found = { text: "", ids: [] };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search in chats" });
  const list = make("ul", { look: "history" });
  const empty = make("p", { look: "quiet middle" });
  const element = make("div", { look: "start" }, make("h1", {}, "Earlier chats"), search, list, empty);

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isFound = (/** @type {string} */ id) => found.text === search.value.trim() && found.ids.includes(id);
    const fits = (/** @type {Summary} */ { id, title, agent_name }) => isFound(id) || words.every((word) => `${title} ${agent_name}`.toLowerCase().includes(word));
    const items = chats.filter(fits).map((chat) => ({ chat, when: ago(chat.updated * 1000), changed: changed?.id === chat.id ? changed.what : "" }));
    showList(list, items, ({ chat }) => chat.id, (item) => row(item));
    empty.hidden = items.length > 0;
    empty.textContent = chats.length === 0 ? "No chat yet." : "No chat has this text.";
    search.hidden = chats.length === 0;
  }

  /** @param {{chat: Summary, when: string, changed: string}} item */
  function row({ chat, when, changed: what }) {
    if (what === "rename") return renaming(chat);
    const state = chat.asks ? "asks you" : STATES[chat.state];
    const facts = make("span", { look: "quiet small" }, `${chat.agent_name} · ${when}`, state ? make("strong", { look: chat.asks ? "warning" : "driven" }, ` · ${state}`) : false);
    const open = button([avatar(chat.agent), make("span", { look: "texts" }, make("strong", { look: "cut" }, chat.title), facts)], () => actions.open(chat.id), { look: "pick" });
    if (what === "forget") {
      const yes = button("Delete", () => { changed = null; actions.forget(chat.id); }, { look: "mini strong", label: `Delete ${chat.title} for good` });
      return make("li", { look: "agent" }, open, make("p", { look: "line confirm" }, make("span", { look: "grow small" }, "Delete this chat?"), button("Keep", () => set(null), { look: "mini" }), yes));
    }
    const rename = button([icon("pencil")], () => set({ id: chat.id, what: "rename" }), { look: "plain only-icon mini", label: `Rename ${chat.title}` });
    const forget = button([icon("trash")], () => set({ id: chat.id, what: "forget" }), { look: "plain only-icon mini", label: `Delete ${chat.title}` });
    return make("li", { look: "agent line" }, open, rename, forget);
  }

  /** @param {Summary} chat */
  function renaming(chat) {
    const field = make("input", { type: "text", value: chat.title, "aria-label": "New name", maxlength: "120" });
    const done = () => {
      if (field.value.trim() !== "") actions.rename(chat.id, field.value.trim());
      set(null);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") done();
      if (event.key === "Escape") set(null);
    });
    setTimeout(() => field.select());
    return make("li", { look: "agent line" }, field, button("Rename", done, { look: "mini" }));
  }

  /** @param {typeof changed} next */
  function set(next) {
    changed = next;
    show();
  }

  /** Titles are searched here at once, what was said by the daemon. */
  async function searchTexts() {
    const text = search.value.trim();
    const ids = text === "" ? [] : await actions.search(text);
    if (text !== search.value.trim()) return;
    found = { text, ids };
    show();
  }

  search.addEventListener("input", () => {
    show();
    clearTimeout(later);
    later = setTimeout(() => void searchTexts(), SEARCH_MS);
  });
  return {
    element,
    focus: () => search.focus(),
    /** @param {Summary[] | null} now */
    update(now) {
      if (chats === now) return;
      chats = now ?? [];
      show();
    },
  };
}
