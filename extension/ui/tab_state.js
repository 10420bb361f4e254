// The tabs of the browser, as popup and options show them: shared or not, who uses them, what the policy allows there.

import * as debuggee from "../tabs/debuggee.js";
import * as groups from "../tabs/groups.js";
import * as notifications from "../link/notifications.js";
import * as sharing from "../tabs/sharing.js";
import * as sites from "../policy/sites.js";

/** Every tab of the user's normal windows. Also while everything is paused, so that the list stays. */
export async function describeTabs() {
  const [all, targets, front] = await Promise.all([
    chrome.tabs.query({ windowType: "normal" }),
    chrome.debugger.getTargets(),
    chrome.tabs.query({ active: true, lastFocusedWindow: true }).then(([tab]) => tab),
  ]);
  const targetOf = new Map(targets.filter((one) => one.type === "page" && one.tabId).map((one) => [one.tabId, one.id]));
  const attached = new Set(debuggee.attachedTabs());
  return all.map((tab) => ({
    ...describe(tab),
    isFront: tab.id === front?.id,
    isInFrontWindow: tab.windowId === front?.windowId,
    driven: attached.has(tab.id),
    drivers: notifications.driversOf(targetOf.get(tab.id)),
  }));
}

function describe(tab) {
  const url = tab.url || tab.pendingUrl || "";
  const [restricted, blocked] = [sharing.isRestricted(url), sites.isBlocked(url)];
  const isInMode = sharing.mode() === "all" && !restricted;
  return {
    tab: tab.id,
    title: tab.title ?? "",
    url,
    icon: tab.favIconUrl && !restricted ? iconOf(url) : null,
    shared: sharing.sharedBy(tab.id) ?? (isInMode ? "mode" : null),
    restricted,
    blocked,
    agent: groups.agentOf(tab.id) ?? null,
    standing: notifications.standingOf(url) ?? null,
  };
}

/** Chrome's own copy of the site's icon: no request goes to the site. */
function iconOf(url) {
  const address = new URL(chrome.runtime.getURL("/_favicon/"));
  address.searchParams.set("pageUrl", url);
  address.searchParams.set("size", "32");
  return address.href;
}
