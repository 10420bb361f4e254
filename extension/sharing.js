// Which tabs may be driven: the ones the user shared and the ones that were opened for the agent, or every ordinary
// one, as the user chose. Knows nothing of debuggers or of the daemon. Kept in storage; memory is only a copy of it, so
// that a command can be judged without waiting.

import * as sites from "./sites.js";

/** Addresses that Chrome lets no extension debug, or that are not ours to touch. */
const ORDINARY = /^(https?:|data:|blob:|about:blank)/;
const STORES = /^https:\/\/(chromewebstore\.google\.com|chrome\.google\.com\/webstore|microsoftedge\.microsoft\.com\/addons)/;

/** Why nothing is driven, in the words that are told to whoever asks. */
const PAUSES = {
  asked: "The user has paused everything in this browser.",
  cancelled: "The user pressed Cancel on the browser's debugging bar. Nothing is driven here until they let it go on in Tabwire's popup.",
};

const pauseOf = (why) => (Object.hasOwn(PAUSES, why) ? why : why ? "asked" : false);

let state = null;
let loading = null;
const watchers = [];

/** Reads what was kept. Everything below may be called once this is done. */
export function load() {
  loading ??= read();
  return loading;
}

async function read() {
  const kept = await chrome.storage.local.get({ mode: "shared", paused: false });
  const { shared, openers } = await chrome.storage.session.get({ shared: {}, openers: {} });
  const files = await chrome.extension.isAllowedFileSchemeAccess();
  const [tabs] = await Promise.all([chrome.tabs.query({}), sites.load()]);
  const addresses = new Map(tabs.map((tab) => [tab.id, tab.url || tab.pendingUrl || ""]));
  const byTab = (kept) => new Map(Object.entries(kept).map(([tab, value]) => [Number(tab), value]));
  state = { mode: kept.mode, paused: pauseOf(kept.paused), shared: byTab(shared), openers: byTab(openers), files, addresses };
}

export const isLoaded = () => state !== null;
export const mode = () => state.mode;
/** Why everything is paused: "asked" for in the popup, "cancelled" on Chrome's own bar; false when it is not. */
export const paused = () => state.paused;
export const isPaused = () => state.paused !== false;
/** Whether Chrome lets this extension into pages of files. */
export const mayEnterFiles = () => state.files;
/** Who shared a tab: "user", "agent", or nothing. */
export const sharedBy = (tab) => state.shared.get(tab);
/** The tab whose page opened a tab. */
export const openerOf = (tab) => state.openers.get(tab);
export const sharedTabs = () => [...state.shared.keys()];

/** Whether Chrome would let this address be driven at all. */
export function isRestricted(url) {
  if (!url) return false;
  if (url.startsWith("file:")) return !state.files;
  return !ORDINARY.test(url) || STORES.test(url);
}

/** Notes where a tab is. */
export const noteAddress = (tab, url) => state.addresses.set(tab, url);
export const forgetAddress = (tab) => state.addresses.delete(tab);

const isBlocked = (tab) => sites.isBlocked(state.addresses.get(tab) ?? "");

export const BLOCKED_TAB = { code: "POLICY_DENIED", message: "The user keeps everybody out of this tab's site in this browser." };

/** Why nothing of a tab's page may be told: it is at a blocked site. */
export const siteObjection = (tab) => (isBlocked(tab) ? BLOCKED_TAB : null);

/** Whether the daemon is told of a tab. */
export const isOpenTo = (tab) => !isPaused() && (state.mode === "all" || state.shared.has(tab)) && !isBlocked(tab);

/** Why nothing at all may be done, or nothing. */
export const pauseObjection = () => (isPaused() ? { code: "POLICY_DENIED", message: PAUSES[state.paused] } : null);

/** Why a tab must not be touched, or nothing. */
export function objection(tab) {
  if (!Number.isSafeInteger(tab)) return { code: "BAD_ARGS", message: "A tab is named by its number." };
  if (isPaused()) return pauseObjection();
  if (isBlocked(tab)) return BLOCKED_TAB;
  if (!isOpenTo(tab)) return { code: "POLICY_DENIED", message: "The user has not shared this tab." };
  return null;
}

export async function share(tab, by) {
  // A tab that was opened for the agent stays one that the agent may close.
  if (state.shared.get(tab) === by || state.shared.get(tab) === "agent") return;
  state.shared.set(tab, by);
  await keepShared();
}

/** Shares a tab that a page of another one opened: it goes with that one. */
export async function sharePopup(tab, opener) {
  state.openers.set(tab, opener);
  await share(tab, "agent");
}

export async function unshare(tab) {
  state.openers.delete(tab);
  if (!state.shared.delete(tab)) return;
  await keepShared();
}

export async function setMode(wanted) {
  state.mode = wanted === "all" ? "all" : "shared";
  await chrome.storage.local.set({ mode: state.mode });
  tell();
}

/** Pauses everything for a reason, or lets it go on. */
export async function setPaused(why) {
  state.paused = pauseOf(why);
  await chrome.storage.local.set({ paused: state.paused });
  tell();
}

/** Calls back after each change. */
export function onChange(watcher) {
  watchers.push(watcher);
}

async function keepShared() {
  const { shared, openers } = state;
  await chrome.storage.session.set({ shared: Object.fromEntries(shared), openers: Object.fromEntries(openers) });
  tell();
}

function tell() {
  for (const watcher of watchers) watcher();
}
