// The tabs in the popup: this tab, the shared ones, and the others of the window.
// @ts-check

import { button, make, part } from "../shared/element.js";
import { hostOf, siteIcon, tag } from "../shared/components.js";
import { showList } from "../shared/keyed_list.js";
import { icon } from "../shared/icons.js";

/** @typedef {import("../shared/wire.d.ts").UrlAccess} Standing */
/**
 * @typedef {object} Tab
 * @property {number} tab
 * @property {string} title
 * @property {string} url
 * @property {string | null} icon
 * @property {"user" | "agent" | "mode" | null} shared
 * @property {boolean} restricted
 * @property {boolean} blocked
 * @property {string | null} agent
 * @property {Standing | null} standing
 * @property {boolean} driven
 * @property {string[]} drivers
 */
/** @typedef {{front: Tab | null, tabs: Tab[], others: Tab[], mode: "shared" | "all", paused: string | false, connected: boolean, open: string[]}} TabsState */
/** @typedef {(request: Record<string, unknown>) => void} Ask */

/**
 * @param {TabsState} state
 * @param {Ask} ask
 */
export function showTabs(state, ask) {
  showFront(state, ask);
  const { tabs, others, mode } = state;
  part("tab-count").textContent = tabs.length > 0 ? String(tabs.length) : "";
  showList(part("tabs"), tabs.map((tab) => ({ tab, mode, paused: state.paused })), ({ tab }) => String(tab.tab), (item) => sharedRow(item, ask));
  part("no-tabs").hidden = tabs.length > 0;
  part("others-section").hidden = others.length === 0 || mode === "all";
  part("other-count").textContent = others.length > 0 ? String(others.length) : "";
  showList(part("others"), others, (tab) => String(tab.tab), (tab) => otherRow(tab, ask));
}

/**
 * @param {TabsState} state
 * @param {Ask} ask
 */
function showFront(state, ask) {
  const item = { front: state.front, mode: state.mode, sentence: frontSentence(state) };
  showList(part("front"), [item], () => "front", ({ front, mode, sentence }) => {
    if (!front) return make("p", { look: "quiet" }, "This window has no tab that can be shared.");
    const name = front.title || front.url;
    const texts = make("div", { look: "texts" }, make("strong", { look: "cut", title: name }, name), make("span", { look: "quiet cut", title: front.url }, hostOf(front.url)));
    /** @type {HTMLElement[]} */
    const children = [make("div", { look: "row" }, siteIcon(front.url, front.icon, "large"), texts), make("p", { id: "front-state", look: "small" }, sentence)];
    if (mode !== "all" && !front.restricted && !front.blocked) children.push(shareButton(front, ask));
    return make("div", { look: "front" }, ...children);
  });
}

/**
 * @param {Tab} front
 * @param {Ask} ask
 */
function shareButton({ tab, shared }, ask) {
  if (shared) return button("Stop sharing this tab", () => ask({ ask: "unshare", tab }), { look: "wide" });
  return button([icon("plus"), "Share this tab"], () => ask({ ask: "share", tab }), { look: "wide strong" });
}

/** @param {TabsState} state */
function frontSentence({ front, mode, paused, connected, open }) {
  if (!front) return "";
  if (front.restricted) return restrictedSentence(front.url);
  if (front.blocked) return "You block this site; see the options.";
  if (!front.shared) return "Not shared: agents cannot see it.";
  const first = mode === "all" ? "Shared, as every ordinary tab is." : front.shared === "agent" ? `Opened for ${front.agent ?? "an agent"}.` : "Shared.";
  if (paused) return `${first} Everything is paused: agents cannot see it.`;
  if (!connected) return `${first} No agent is connected.`;
  return `${first} ${standingSentence(front.standing, open)}`.trim();
}

/** @param {string} url */
function restrictedSentence(url) {
  if (url.startsWith("file:")) return "A file: switch on “Allow access to file URLs” at chrome://extensions to share it.";
  return "Chrome keeps extensions out of this page, so it cannot be shared.";
}

/**
 * What agents may do in a shared tab.
 * @param {Standing | null} standing
 * @param {string[]} open
 */
function standingSentence(standing, open) {
  if (!standing) return "";
  const { read, act } = standing;
  if (read === "denied") return "The policy denies this site to agents.";
  if (act === "allowed") return "Agents can read and use it.";
  if (open.length > 0) return `${open.join(", ")} can read and use it without asking.`;
  if (act === "some") return "Some agents can use it; the others ask you first.";
  if (read === "allowed") return act === "denied" ? "Agents can read it, but not use it." : "Agents can read it, and ask you before they click or type.";
  if (read === "some") return "Some agents can read it; the others ask you first.";
  return "Agents ask you before they read or use it.";
}

/**
 * @param {{tab: Tab, mode: string, paused: string | false}} item
 * @param {Ask} ask
 */
function sharedRow({ tab: shown, mode, paused }, ask) {
  const { tab, title, url, driven, restricted, blocked, drivers } = shown;
  const name = title || url;
  const below = make("span", { look: "line" }, make("span", { look: "quiet cut", title: url }, hostOf(url)));
  if (restricted || blocked) below.append(tag(blocked ? "blocked" : "off limits", "warning"));
  else if (paused) below.append(tag("paused", "warning"));
  else if (drivers.length > 0 || driven) below.append(tag(drivers.join(", ") || "in use", "agent"));
  const row = make("li", { look: "row" }, siteIcon(url, shown.icon), make("span", { look: "texts" }, make("span", { look: "cut", title: name }, name), below));
  if (mode !== "all") row.append(button([icon("close")], () => ask({ ask: "unshare", tab }), { look: "plain only-icon mini", label: `Stop sharing ${name}` }));
  return row;
}

/**
 * @param {Tab} shown
 * @param {Ask} ask
 */
function otherRow({ tab, title, url, icon: image, restricted, blocked }, ask) {
  const name = title || url;
  const texts = make("span", { look: "texts" }, make("span", { look: "cut", title: name }, name), make("span", { look: "quiet cut", title: url }, hostOf(url)));
  const row = make("li", { look: "row" }, siteIcon(url, image), texts);
  if (restricted || blocked) row.append(tag(blocked ? "blocked" : "off limits"));
  else row.append(button("Share", () => ask({ ask: "share", tab }), { look: "mini", label: `Share ${name}` }));
  return row;
}
