// Tabs as the daemon is told of them, and the few things it may ask of them. Knows nothing of what is on a page.
// Nothing here activates a tab or closes one that was not opened for the agent, unless told so in as many words.

import * as debuggee from "./debuggee.js";
import * as groups from "./groups.js";
import * as link from "./link.js";
import { note } from "./log.js";
import * as sharing from "./sharing.js";
import * as sites from "./sites.js";

/** How often, and how long apart, a new tab's target is looked for. */
const TARGET_LOOKS = 80;
const TARGET_PAUSE_MS = 25;

/** The target ids of all tabs. */
async function targetIds() {
  const targets = await chrome.debugger.getTargets();
  return new Map(targets.filter((target) => target.type === "page" && target.tabId).map((one) => [one.tabId, one.id]));
}

function describe(tab, target) {
  const url = tab.url || tab.pendingUrl || "";
  return {
    tab: tab.id,
    target,
    url: url || "about:blank",
    title: tab.title ?? "",
    // Chrome may name the tab in front rather than the one whose page opened it.
    opener: sharing.openerOf(tab.id) ?? tab.openerTabId,
    agent: sharing.sharedBy(tab.id) === "agent",
    restricted: sharing.isRestricted(url),
    active: tab.active,
    loaded: tab.status === "complete",
  };
}

/** Whether the daemon is told of a tab: what was noted of its address may be older than the address it is told with. */
const isTold = (tab) => sharing.isOpenTo(tab.id) && !sites.isBlocked(tab.url || tab.pendingUrl || "");

/** Every tab that the daemon may know of. */
export async function list() {
  const [tabs, targets] = await Promise.all([chrome.tabs.query({}), targetIds()]);
  return tabs
    .filter((tab) => isTold(tab) && targets.has(tab.id))
    .map((tab) => describe(tab, targets.get(tab.id)));
}

/** Opens a tab in the background, empty, so that it can be attached to before anything is loaded. */
export async function open() {
  if (sharing.isPaused()) throw sharing.pauseObjection();
  const tab = await makeTab();
  await sharing.share(tab.id, "agent");
  for (let look = 0; look < TARGET_LOOKS; look += 1) {
    const target = (await targetIds()).get(tab.id);
    if (target) return describe(await chrome.tabs.get(tab.id), target);
    await new Promise((resolve) => setTimeout(resolve, TARGET_PAUSE_MS));
  }
  throw { code: "TAB_NOT_FOUND", message: "Chrome opened a tab and named no target for it." };
}

async function makeTab() {
  const windows = await chrome.windows.getAll({ windowTypes: ["normal"] });
  if (windows.length > 0) return chrome.tabs.create({ url: "about:blank", active: false });
  const made = await chrome.windows.create({ url: "about:blank", focused: false });
  return made.tabs[0];
}

/** Closes a tab that was opened for the agent; the user's own stay. */
export async function close(tab) {
  const objection = sharing.objection(tab);
  if (objection) throw objection;
  if (sharing.sharedBy(tab) !== "agent") {
    throw { code: "POLICY_DENIED", message: "This tab is the user's own: it was not opened here and is not closed." };
  }
  await chrome.tabs.remove(tab);
}

/** Brings a tab to the front of its window; only when asked for by name. */
export async function activate(tab) {
  const objection = sharing.objection(tab);
  if (objection) throw objection;
  await chrome.tabs.update(tab, { active: true });
}

/** Tells the daemon how a tab stands now, or that it is none of its business any more. */
export async function tell(id) {
  const tab = await chrome.tabs.get(id).catch(() => null);
  const target = tab && isTold(tab) ? (await targetIds()).get(id) : null;
  if (target) link.tell({ event: "tab", with: describe(tab, target) });
  else link.tell({ event: "tab_gone", with: { tab: id } });
}

/** Takes the debugger off a tab that is not open to the daemon any more. */
export async function withdraw(id, reason) {
  await debuggee.load();
  if (sharing.isOpenTo(id) || !debuggee.attachedTabs().includes(id)) return;
  await debuggee.detach(id);
  note(`Tab ${id} was taken from whoever drove it: ${reason}.`);
  link.tell({ event: "detached", with: { tab: id, reason } });
}

export async function onCreated(tab) {
  await sharing.load();
  sharing.noteAddress(tab.id, tab.url || tab.pendingUrl || "");
  if (sharing.isOpenTo(tab.id)) await tell(tab.id);
}

/** A page opened a tab or window; Chrome names the one that did, which it does not when the tab is created. */
export async function onPopup({ sourceTabId, tabId }) {
  await sharing.load();
  if (!sharing.isOpenTo(sourceTabId)) return;
  await sharing.sharePopup(tabId, sourceTabId);
  await tell(tabId);
}

export async function onUpdated(id, change) {
  await sharing.load();
  if (change.groupId !== undefined) await groups.onMoved(id, change.groupId);
  if (change.url !== undefined) await moved(id, change.url);
  if (!sharing.isOpenTo(id)) return;
  if (change.url !== undefined || change.title !== undefined || change.status !== undefined) await tell(id);
}

/** A tab shows something else; where the user keeps everybody out, it is let go. */
async function moved(id, url) {
  const wasOpen = sharing.isOpenTo(id);
  sharing.noteAddress(id, url);
  if (!wasOpen || sharing.isOpenTo(id)) return;
  await withdraw(id, "blocked");
  await tell(id);
}

/** A page of a blocked site came up in a tab or in a frame of it, past everything else: the tab is let go of. */
export async function onCommitted({ tabId, frameId, url }) {
  await Promise.all([sharing.load(), debuggee.load()]);
  if (!sites.isBlocked(url)) return;
  if (frameId === 0) sharing.noteAddress(tabId, url);
  await debuggee.letGoOfBlocked(tabId);
}

/** A driven tab was to go to a blocked site and Chrome did not let it: it is let go of, so that the user can go there. */
export async function onNotLoaded({ tabId, frameId, url, error }) {
  await Promise.all([sharing.load(), debuggee.load()]);
  if (frameId !== 0 || error !== "net::ERR_BLOCKED_BY_CLIENT" || !sites.isBlocked(url)) return;
  sharing.noteAddress(tabId, url);
  await debuggee.letGoOfBlocked(tabId);
  await tell(tabId);
}

export async function onRemoved(id) {
  await sharing.load();
  const known = sharing.isOpenTo(id);
  await sharing.unshare(id);
  sharing.forgetAddress(id);
  await groups.forget(id);
  if (known) link.tell({ event: "tab_gone", with: { tab: id } });
}

export async function onReplaced(added, removed) {
  await sharing.load();
  const by = sharing.sharedBy(removed);
  await onRemoved(removed);
  sharing.noteAddress(added, (await chrome.tabs.get(added).catch(() => null))?.url ?? "");
  if (by) await sharing.share(added, by);
  if (sharing.isOpenTo(added)) await tell(added);
}
