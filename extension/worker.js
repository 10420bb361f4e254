// The service worker. It registers every listener at top level, so that Chrome can wake it for each event. Chrome may stop
// it at any moment, so all state is in storage too.

import { showBadge } from "./ui/badge.js";
import * as debuggee from "./tabs/debuggee.js";
import * as groups from "./tabs/groups.js";
import * as link from "./link/link.js";
import * as notifications from "./link/notifications.js";
import * as pointing from "./tabs/pointing.js";
import * as outbox from "./link/outbox.js";
import * as eventBarrier from "./link/event_barrier.js";
import * as sharing from "./tabs/sharing.js";
import * as tabs from "./tabs/tabs.js";
import { handleView } from "./ui/view.js";

/** The alarm that restarts a stopped worker; Chrome allows no shorter period. */
const WAKE_ALARM = "wake";
const WAKE_PERIOD_MINUTES = 0.5;

chrome.runtime.onInstalled.addListener(() => wake());
chrome.runtime.onStartup.addListener(() => wake());
chrome.alarms.onAlarm.addListener(() => wake());
chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (!isOwnView(sender)) return false;
  handleView(message).then(respond);
  return true;
});

chrome.debugger.onEvent.addListener((source, method, params) => {
  if (!pointing.onEvent(source, method, params)) debuggee.onEvent(source, method, params);
});
chrome.debugger.onDetach.addListener((source, reason) => {
  pointing.onGone(source.tabId);
  debuggee.onDetach(source, reason);
});
chrome.storage.session.onChanged.addListener((changes) => eventBarrier.onStored(changes));

chrome.tabs.onCreated.addListener((tab) => tabs.onCreated(tab));
chrome.webNavigation.onCreatedNavigationTarget.addListener((popup) => tabs.onPopup(popup));
chrome.webNavigation.onCommitted.addListener((frame) => tabs.onCommitted(frame));
chrome.webNavigation.onErrorOccurred.addListener((frame) => tabs.onNotLoaded(frame));
chrome.tabs.onActivated.addListener((active) => tabs.onActivated(active));
chrome.tabs.onUpdated.addListener((id, change, tab) => tabs.onUpdated(id, change, tab));
chrome.tabs.onRemoved.addListener((id) => tabs.onRemoved(id));
chrome.tabs.onReplaced.addListener((added, removed) => tabs.onReplaced(added, removed));

chrome.tabGroups.onRemoved.addListener((group) => groups.onGone(group));

outbox.onFlood((tab) => debuggee.detachFlooding(tab));
sharing.onChange(() => showBadge());
notifications.onChange(() => {
  showBadge();
  groups.arrange();
});
link.onChange(() => showBadge());
wake();

/** Whether a message comes from a page of this extension, not in a frame. All other senders are ignored. */
function isOwnView({ id, url, frameId }) {
  return id === chrome.runtime.id && (url ?? "").startsWith(chrome.runtime.getURL("")) && (frameId ?? 0) === 0;
}

async function wake() {
  await chrome.alarms.create(WAKE_ALARM, { periodInMinutes: WAKE_PERIOD_MINUTES });
  await sharing.load();
  await debuggee.load();
  await showBadge();
  await link.ensure();
}
