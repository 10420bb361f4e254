// The side panel: chats with agents in the tabs that the user shares.
// @ts-check

import { createChat } from "../shared/chat/chat.js";
import { connectionWords } from "../ui/connection.js";
import { createRequests } from "../ui/requests.js";
import { isBarrierOnly } from "../link/event_barrier.js";
import { createLine } from "./line.js";
import { createTabs } from "./tabs.js";

/** Several changes at once are shown together. */
const GATHER_MS = 50;
/** While Tabwire is not connected, an open panel looks for it this often. */
const DIAL_MS = 2_000;
const REMEMBERED = "panelChat";

/** @typedef {import("./tabs.js").PanelState} PanelState */

/** @type {PanelState | null} */
let state = null;
let isOpen = false;
let isGathering = false;

const ask = createRequests((/** @type {PanelState} */ next) => {
  state = next;
  show();
});

const tabs = createTabs(ask);
const line = createLine((message) => chat.receive(message), (open) => {
  isOpen = open;
  void ask({ ask: open ? "state" : "dial" });
});
const chat = createChat(document.body, {
  request: line.request,
  remember: (id) => void chrome.storage.session.set({ [REMEMBERED]: id }),
  menu: () => [
    state?.paused ? { text: "Resume", icon: "play", press: () => void ask({ ask: "pause", paused: false }) } : { text: "Pause everything", icon: "pause", press: () => void ask({ ask: "pause", paused: true }) },
    { text: "Options", icon: "gear", press: () => void chrome.runtime.openOptionsPage() },
  ],
  tabs: tabs.element,
  point,
  front: () => front(),
  save,
});

function show() {
  if (!state) return;
  tabs.update(state);
  chat.setLine({ ...lineWords(state), isOpen });
}

/** @param {PanelState} now */
function lineWords(now) {
  const words = connectionWords(now);
  if (now.paused) return { ...words, icon: "pause" };
  if (isOpen) return { word: "connected", look: "good", title: "", text: "", command: "" };
  // The worker knows the daemon, and the panel is refused: that daemon knows no chats.
  if (now.connected) return { word: "connecting", look: "", title: "", text: "", command: "" };
  if (words.title === "Tabwire is not running.") return { ...words, command: "tabwire daemon start" };
  return words;
}

/** The tab in front, if agents may see it. @returns {import("../shared/chat/composer.js").Attachment | null} */
function front() {
  const tab = state?.front;
  return tab?.shared && !tab.restricted && !tab.blocked ? { kind: "tab", label: "This tab", title: tab.title, url: tab.url } : null;
}

/** Lets the user pick an element of the tab in front. */
async function point() {
  const tab = state?.front;
  if (!tab || !front()) throw new Error("Share this tab first.");
  const answer = await chrome.runtime.sendMessage({ ask: "point", tab: tab.tab });
  if (answer?.failed) throw new Error(answer.failed);
  if (!answer?.pointed) return null;
  const { role, name, selector, url } = answer.pointed;
  return { kind: /** @type {const} */ ("point"), label: `${role} “${name || selector}”`.slice(0, 60), role, name, selector, url };
}

/**
 * @param {string} name
 * @param {string} text
 */
function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.download = name.replace(/[^\p{L}\p{N} ._-]/gu, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

addEventListener("keydown", (event) => event.key === "Escape" && void chrome.runtime.sendMessage({ ask: "end_pointing" }));
chrome.storage.onChanged.addListener(async (changes) => {
  if (isGathering || isBarrierOnly(changes) || Object.keys(changes).every((key) => key === REMEMBERED)) return;
  isGathering = true;
  await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  isGathering = false;
  void ask({ ask: "state" });
});
for (const event of [chrome.tabs.onUpdated, chrome.tabs.onRemoved, chrome.tabs.onActivated]) {
  /** @type {chrome.events.Event<() => void>} */ (/** @type {unknown} */ (event)).addListener(() => void ask({ ask: "state" }));
}
setInterval(() => state?.connected === false && void ask({ ask: "dial" }), DIAL_MS);
void ask({ ask: "dial" });
const { [REMEMBERED]: last } = await chrome.storage.session.get(REMEMBERED);
if (typeof last === "string") await chat.open(last);
