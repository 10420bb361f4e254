// The service worker: every listener, at top level, so that Chrome can wake it for each. Knows who is to be told, and
// nothing of what is done then. It may be ended at any moment, so nothing here is remembered in memory alone.

import { showBadge } from "./badge.js";
import * as debuggee from "./debuggee.js";
import * as groups from "./groups.js";
import * as link from "./link.js";
import * as news from "./news.js";
import * as outbox from "./outbox.js";
import * as settled from "./settled.js";
import * as sharing from "./sharing.js";
import * as tabs from "./tabs.js";
import { answerView } from "./view.js";

/** The alarm that brings a sleeping worker back; Chrome allows no shorter period. */
const WAKE_ALARM = "wake";
const WAKE_PERIOD_MINUTES = 0.5;

chrome.runtime.onInstalled.addListener(() => wake());
chrome.runtime.onStartup.addListener(() => wake());
chrome.alarms.onAlarm.addListener(() => wake());
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (!isOwnView(sender)) return false;
  answerView(message).then(answer);
  return true;
});

chrome.debugger.onEvent.addListener((source, method, params) => debuggee.onEvent(source, method, params));
chrome.debugger.onDetach.addListener((source, reason) => debuggee.onDetach(source, reason));
chrome.storage.session.onChanged.addListener((changes) => settled.onStored(changes));

chrome.tabs.onCreated.addListener((tab) => tabs.onCreated(tab));
chrome.webNavigation.onCreatedNavigationTarget.addListener((popup) => tabs.onPopup(popup));
chrome.webNavigation.onCommitted.addListener((frame) => tabs.onCommitted(frame));
chrome.webNavigation.onErrorOccurred.addListener((frame) => tabs.onNotLoaded(frame));
chrome.tabs.onUpdated.addListener((id, change, tab) => tabs.onUpdated(id, change, tab));
chrome.tabs.onRemoved.addListener((id) => tabs.onRemoved(id));
chrome.tabs.onReplaced.addListener((added, removed) => tabs.onReplaced(added, removed));

chrome.tabGroups.onRemoved.addListener((group) => groups.onGone(group));

outbox.onFlood((tab) => debuggee.letGoOfFlood(tab));
sharing.onChange(() => showBadge());
news.onChange(() => {
  showBadge();
  groups.arrange();
});
link.onChange(() => showBadge());
wake();

/** Pages of this extension only, and not in a frame; no web page and no other extension is listened to. */
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
