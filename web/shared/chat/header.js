// The head of a chat: the agent with its options, and the menus.
// @ts-check

import { button, make } from "../element.js";
import { brandIcon, icon } from "../icons.js";
import { avatar } from "./start.js";

/** @typedef {import("./model.js").Chat} Chat */
/** @typedef {import("./model.js").Option} Option */
/** @typedef {{text: string, icon: string, press: () => void}} MenuItem */

/**
 * A button with a panel below it, which Escape and a click elsewhere close.
 * @param {(Node | string)[]} content
 * @param {string} label
 * @param {string} look
 */
export function createMenu(content, label, look) {
  const summary = make("summary", { look: `button plain ${look}`, "aria-label": label, title: label }, ...content);
  const body = make("div", { look: "menu-body" });
  const element = make("details", { look: "menu" }, summary, body);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    element.open = false;
    summary.focus();
  });
  document.addEventListener("click", (event) => {
    if (element.open && !element.contains(/** @type {Node} */ (event.target))) element.open = false;
  });
  return { element, body, summary };
}

/** The values that are chosen, in a few words. @param {Option[]} options */
export function optionsText(options) {
  const chosen = options.filter(({ type }) => type === "select").map(({ value, choices }) => choices?.find((one) => one.value === value)?.name ?? String(value));
  return chosen.slice(0, 3).join(" · ");
}

/**
 * @param {{set: (option: string, value: string | boolean) => void, history: () => void, fresh: () => void, menu: () => MenuItem[]}} actions
 */
export function createHeader({ set, history, fresh, menu }) {
  const connection = make("span", { look: "tag", role: "status" });
  const brand = make("span", { look: "title" }, brandIcon(), make("strong", {}, "Tabwire"), connection);
  const names = make("span", { look: "names" });
  const sign = make("span", { look: "sign" });
  const who = createMenu([sign, names, icon("down")], "Agent and its options", "who");
  const past = button([icon("past")], history, { look: "plain only-icon", label: "Earlier chats" });
  const plus = button([icon("plus")], fresh, { look: "plain only-icon", label: "New chat" });
  const more = createMenu([icon("more")], "More", "only-icon");
  const items = make("ul", {});
  more.body.append(items);
  more.element.addEventListener("toggle", () => {
    if (!more.element.open) return;
    const made = menu().map((item) => make("li", {}, button([icon(item.icon), item.text], () => { more.element.open = false; item.press(); }, { look: "plain wide" })));
    items.replaceChildren(...made);
  });
  let shown = "";
  return {
    element: make("header", { look: "bar" }, brand, who.element, make("span", { look: "grow" }), past, plus, more.element),
    /**
     * @param {Chat | null} chat
     * @param {{word: string, look: string}} line
     * @param {string} note what the agent can use besides the tabs
     */
    update(chat, line, note) {
      brand.hidden = chat !== null;
      who.element.hidden = chat === null;
      if (connection.textContent !== line.word) connection.replaceChildren(make("span", { look: "dot" }), line.word);
      connection.className = `tag ${line.look}`;
      const now = JSON.stringify([chat?.agent, chat?.agent_name, chat?.title, chat?.options, chat?.state === "offline", note]);
      if (chat === null || now === shown) return;
      shown = now;
      const below = chat.state === "offline" ? "not running" : optionsText(chat.options) || chat.title;
      names.replaceChildren(make("strong", { look: "cut" }, chat.agent_name), make("span", { look: "quiet small cut" }, below));
      sign.replaceChildren(avatar(chat.agent));
      const none = chat.options.length === 0 && make("p", { look: "small quiet" }, chat.state === "offline" ? "Its options are shown while it runs." : "It offers no options.");
      who.body.replaceChildren(...chat.options.map((option) => optionRow(option, set)), ...(none ? [none] : []), make("p", { look: "small" }, note));
    },
  };
}

/**
 * @param {Option} option
 * @param {(option: string, value: string | boolean) => void} set
 */
function optionRow({ id, name, type, value, choices }, set) {
  if (type === "boolean") {
    const input = make("input", { type: "checkbox" });
    input.checked = value === true;
    input.addEventListener("change", () => set(id, input.checked));
    return make("label", { look: "option" }, make("span", { look: "grow" }, name), input);
  }
  const entries = (choices ?? []).map((one) => make("option", { value: one.value, title: one.description ?? "" }, one.name));
  const select = make("select", {}, ...entries);
  select.value = value;
  select.addEventListener("change", () => set(id, select.value));
  return make("label", { look: "option" }, make("span", { look: "grow" }, name), select);
}
