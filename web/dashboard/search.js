// Search: views, sessions and rows of the log by name. Ctrl K opens it, and "More" in a narrow window.
// @ts-check

import { button, make } from "./shared/element.js";
import { icon } from "./shared/icons.js";
import { sessionKey } from "./views/entry.js";

/** @typedef {{icon: string, text: string, href: string}} Found */

/**
 * @param {import("./dashboard.js").View[]} views
 * @param {() => import("./dashboard.js").State | null} stateNow
 */
export function createSearch(views, stateNow) {
  const field = make("input", { type: "search", placeholder: "View, session, site or action", "aria-label": "Search", autocomplete: "off", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list" });
  const list = make("ul", { id: "found", role: "listbox", "aria-label": "Found" });
  const close = button([icon("close")], () => dialog.close(), { look: "plain only-icon mini", label: "Close the search" });
  const dialog = make("dialog", { look: "search", "aria-label": "Search" }, make("div", { look: "line" }, icon("search"), field, close), list);
  /** @type {Found[]} */
  let found = [];
  let at = 0;
  const go = (/** @type {number} */ index) => {
    const one = found[index];
    dialog.close();
    if (one) location.hash = one.href;
  };
  const mark = () => {
    for (const [index, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(index === at));
    field.setAttribute("aria-activedescendant", `found-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    const sessions = (stateNow()?.sessions ?? []).filter(({ active }) => active).map((one) => ({ icon: "tabs", text: `Session ${sessionKey(one)}`, href: `#live/${encodeURIComponent(sessionKey(one))}` }));
    const all = [...views.map((view) => ({ icon: view.icon, text: view.title, href: `#${view.id}` })), ...sessions];
    found = all.filter(({ text }) => text.toLowerCase().includes(wanted));
    if (wanted) found.push({ icon: "list", text: `Rows with “${field.value.trim()}”`, href: `#timeline/${encodeURIComponent(field.value.trim())}` });
    at = 0;
    list.replaceChildren(...found.map((one, index) => {
      const item = make("li", { role: "option", id: `found-${index}` }, icon(one.icon), one.text);
      item.addEventListener("click", () => go(index));
      return item;
    }));
    mark();
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length > 0) at = (at + by + found.length) % found.length;
    if (event.key === "Enter") go(at);
    if (!by && event.key !== "Enter") return;
    event.preventDefault();
    mark();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const open = () => {
    if (dialog.open) return;
    field.value = "";
    show();
    dialog.showModal();
    field.focus();
  };
  addEventListener("keydown", (event) => {
    if (!event.isTrusted || event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    // While the user drives a page, its keys are the page's.
    if (document.activeElement?.classList.contains("keyboard")) return;
    event.preventDefault();
    open();
  });
  document.body.append(dialog);
  return open;
}
