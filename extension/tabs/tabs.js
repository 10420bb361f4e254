// The tabs that are reported to the daemon, and its commands on them. A tab is activated only by an explicit command, and
// only tabs that were opened for an agent are closed. One of those that the user has used is unshared instead.

import * as debuggee from "./debuggee.js";
import * as groups from "./groups.js";
import * as link from "../link/link.js";
import { note } from "../ui/log.js";
import * as sharing from "./sharing.js";
import * as sites from "../policy/sites.js";

/** How often, and how long apart, Chrome is polled for the target of a new tab. */
const TARGET_POLLS = 80;
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
    // Chrome may report the active tab as the opener instead of the tab whose page opened it.
    opener: sharing.openerOf(tab.id) ?? tab.openerTabId,
    agent: sharing.sharedBy(tab.id) === "agent",
    restricted: sharing.isRestricted(url),
    active: tab.active,
    loaded: tab.status === "complete",
  };
}

/** Whether a tab is reported. Checks its current URL too: the stored one may be older. */
const isReported = (tab) => sharing.isAccessible(tab.id) && !sites.isBlocked(tab.url || tab.pendingUrl || "");

/** Every tab that the daemon may see. */
export async function list() {
  const [tabs, targets] = await Promise.all([chrome.tabs.query({}), targetIds()]);
  return tabs
    .filter((tab) => isReported(tab) && targets.has(tab.id))
    .map((tab) => describe(tab, targets.get(tab.id)));
}

/** Opens an empty background tab, so that the debugger can attach before anything loads. */
export async function open() {
  if (sharing.isPaused()) throw sharing.pauseDenial();
  const tab = await makeTab();
  await sharing.share(tab.id, "agent");
  for (let poll = 0; poll < TARGET_POLLS; poll += 1) {
    const target = (await targetIds()).get(tab.id);
    if (target) return describe(await chrome.tabs.get(tab.id), target);
    await new Promise((resolve) => setTimeout(resolve, TARGET_PAUSE_MS));
  }
  throw { code: "TAB_NOT_FOUND", message: "Chrome opened a tab but listed no target for it." };
}

async function makeTab() {
  const windows = await chrome.windows.getAll({ windowTypes: ["normal"] });
  if (windows.length > 0) return chrome.tabs.create({ url: "about:blank", active: false });
  const made = await chrome.windows.create({ url: "about:blank", focused: false });
  sharing.expectActivation(made.tabs[0].id);
  return made.tabs[0];
}

/** Closes a tab that was opened for an agent, or leaves it to the user who has used it; refuses for other tabs. */
export async function close(tab) {
  const denial = sharing.denial(tab);
  if (denial) throw denial;
  if (sharing.sharedBy(tab) !== "agent") {
    throw { code: "POLICY_DENIED", message: "This tab is the user's own: it was not opened here and is not closed." };
  }
  if (sharing.isTouched(tab)) await leaveToUser(tab);
  else await chrome.tabs.remove(tab);
}

/** Unshares a tab. For the daemon it is closed. */
async function leaveToUser(tab) {
  await sharing.unshare(tab);
  await groups.release(tab);
  await debuggee.load();
  if (debuggee.attachedTabs().includes(tab)) await debuggee.detach(tab);
  note(`Tab ${tab} was left to you: its agent has ended, and you have used the tab.`);
  link.sendEvent({ event: "tab_removed", data: { tab } });
  if (sharing.isAccessible(tab)) await sendTab(tab);
}

/** Activates a tab in its window. */
export async function activate(tab) {
  const denial = sharing.denial(tab);
  if (denial) throw denial;
  sharing.expectActivation(tab);
  await chrome.tabs.update(tab, { active: true });
}

export async function onActivated({ tabId }) {
  await sharing.load();
  await sharing.onActivated(tabId);
}

/** Sends `tab`, or `tab_removed` when the daemon may not see the tab. */
export async function sendTab(id) {
  const tab = await chrome.tabs.get(id).catch(() => null);
  const target = tab && isReported(tab) ? (await targetIds()).get(id) : null;
  if (target) link.sendEvent({ event: "tab", data: describe(tab, target) });
  else link.sendEvent({ event: "tab_removed", data: { tab: id } });
}

/** Detaches a tab that the daemon may no longer use. */
export async function withdraw(id, reason) {
  await debuggee.load();
  if (sharing.isAccessible(id) || !debuggee.attachedTabs().includes(id)) return;
  await debuggee.detach(id);
  note(`Tab ${id} was detached from its clients: ${reason}.`);
  link.sendEvent({ event: "detached", data: { tab: id, reason } });
}

export async function onCreated(tab) {
  await sharing.load();
  sharing.setUrl(tab.id, tab.url || tab.pendingUrl || "");
  if (sharing.isAccessible(tab.id)) await sendTab(tab.id);
}

/** A page opened a tab or window. `tabs.onCreated` does not name the opener page; this event does. */
export async function onPopup({ sourceTabId, tabId }) {
  await sharing.load();
  if (!sharing.isAccessible(sourceTabId)) return;
  await sharing.sharePopup(tabId, sourceTabId);
  await sendTab(tabId);
}

export async function onUpdated(id, change) {
  await sharing.load();
  if (change.groupId !== undefined) await groups.onMoved(id, change.groupId);
  if (change.url !== undefined) await moved(id, change.url);
  if (!sharing.isAccessible(id)) return;
  if (change.url !== undefined || change.title !== undefined || change.status !== undefined) await sendTab(id);
}

/** A tab changed; one at a blocked site is detached. */
async function moved(id, url) {
  const wasOpen = sharing.isAccessible(id);
  sharing.setUrl(id, url);
  if (!wasOpen || sharing.isAccessible(id)) return;
  await withdraw(id, "blocked");
  await sendTab(id);
}

/** A page of a blocked site was committed in a tab or frame in spite of the network rules: detaches the tab. */
export async function onCommitted({ tabId, frameId, url }) {
  await Promise.all([sharing.load(), debuggee.load()]);
  if (!sites.isBlocked(url)) return;
  if (frameId === 0) sharing.setUrl(tabId, url);
  await debuggee.detachBlocked(tabId);
}

/** The network rules stopped a navigation of an attached tab to a blocked site: detaches it, so that the user can go there. */
export async function onNotLoaded({ tabId, frameId, url, error }) {
  await Promise.all([sharing.load(), debuggee.load()]);
  if (frameId !== 0 || error !== "net::ERR_BLOCKED_BY_CLIENT" || !sites.isBlocked(url)) return;
  sharing.setUrl(tabId, url);
  await debuggee.detachBlocked(tabId);
  await sendTab(tabId);
}

export async function onRemoved(id) {
  await sharing.load();
  const known = sharing.isAccessible(id);
  await sharing.unshare(id);
  sharing.removeUrl(id);
  await groups.forget(id);
  if (known) link.sendEvent({ event: "tab_removed", data: { tab: id } });
}

export async function onReplaced(added, removed) {
  await sharing.load();
  const by = sharing.sharedBy(removed);
  await onRemoved(removed);
  sharing.setUrl(added, (await chrome.tabs.get(added).catch(() => null))?.url ?? "");
  if (by) await sharing.share(added, by);
  if (sharing.isAccessible(added)) await sendTab(added);
}
