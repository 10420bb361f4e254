// The row of shared tabs: which the agent sees, which it uses, and sharing the one in front.
// @ts-check

import { button, make } from "../shared/element.js";
import { hostOf, siteIcon } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";

const MOST_TABS = 12;

/** @typedef {import("../popup/tab_lists.js").Tab} Tab */
/** @typedef {import("../popup/tab_lists.js").TabsState & import("../ui/connection.js").ConnectionState} PanelState */

/** @param {(request: Record<string, unknown>) => void} ask */
export function createTabs(ask) {
  const list = make("ul", {});
  const element = make("section", { look: "shared", "aria-label": "Shared tabs" }, list);
  return {
    element,
    /** @param {PanelState} state */
    update({ tabs, front, mode }) {
      /** @type {{key: string, tab?: Tab, text?: string}[]} */
      const items = tabs.slice(0, MOST_TABS).map((tab) => ({ key: String(tab.tab), tab: { ...tab, standing: null } }));
      if (front && !front.shared && mode !== "all") {
        if (front.restricted) items.push({ key: "off", text: "This tab is off limits." });
        else if (front.blocked) items.push({ key: "off", text: "You block this site." });
        else items.push({ key: "share", tab: front });
      }
      if (tabs.length === 0) items.push({ key: "none", text: front?.restricted ? "" : "No tab is shared: agents see none." });
      showList(list, items.filter(({ tab, text }) => tab || text), ({ key }) => key, (item) => row(item, ask));
    },
  };
}

/**
 * @param {{key: string, tab?: Tab, text?: string}} item
 * @param {(request: Record<string, unknown>) => void} ask
 */
function row({ key, tab, text }, ask) {
  if (!tab) return make("li", {}, make("p", { look: "cut" }, text ?? ""));
  if (key === "share") {
    return make("li", { look: "fixed" }, button([icon("plus"), "Share this tab"], () => ask({ ask: "share", tab: tab.tab }), { look: "add" }));
  }
  const name = tab.title || hostOf(tab.url);
  const isUsed = tab.drivers.length > 0;
  const words = isUsed ? `${name}, used by ${tab.drivers.join(", ")}` : name;
  const show = button([siteIcon(tab.url, tab.icon), make("span", { look: "cut" }, name), ...(isUsed ? [make("span", { look: "dot" })] : [])], () => void chrome.tabs.update(tab.tab, { active: true }), { look: isUsed ? "driven" : "", label: words });
  return make("li", {}, show);
}
