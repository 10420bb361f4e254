// Tabs under the debugger: attaching, commands, events, and what ends it. Knows nothing of CDP beyond names: what a
// command means is decided by the daemon, except that some are never passed on here, whoever asks.

import * as link from "./link.js";
import { noteRefusal } from "./refusals.js";
import * as sharing from "./sharing.js";
import * as sites from "./sites.js";
import * as tabs from "./tabs.js";

const PROTOCOL = "1.3";

/** What would change the user's whole profile rather than a page. */
const NEVER = new Set(["Network.clearBrowserCookies", "Network.clearBrowserCache", "Storage.clearCookies", "Storage.clearDataForOrigin", "Storage.clearDataForStorageKey"]);

/** Events that may be left out when the line is full; nothing is built on them. */
const DROPPABLE = new Set(["Network.dataReceived", "Network.resourceChangedPriority"]);

/** Tabs that we are attached to; survives the worker, as the attachments themselves do. */
let attached = null;
let loading = null;

export function load() {
  loading ??= chrome.storage.session.get({ attached: [] }).then((kept) => (attached = new Set(kept.attached)));
  return loading;
}

export const attachedTabs = () => [...attached];

/** Attaches to a tab, or takes over an attachment that outlived an earlier worker. */
export async function attach(tab) {
  const objection = sharing.objection(tab) ?? (await restriction(tab));
  if (objection) throw noteRefusal("attach", tab, objection);
  try {
    await chrome.debugger.attach({ tabId: tab }, PROTOCOL);
  } catch (error) {
    if (!(await isOurs(tab))) throw attachFailure(error);
  }
  await keep(() => attached.add(tab));
  // What came up paused is let run; one that runs already takes no notice.
  await chrome.debugger.sendCommand({ tabId: tab }, "Runtime.runIfWaitingForDebugger").catch(() => {});
  const { frameTree } = await chrome.debugger.sendCommand({ tabId: tab }, "Page.getFrameTree");
  return { frameTree };
}

async function restriction(tab) {
  const found = await chrome.tabs.get(tab).catch(() => null);
  if (!found) return { code: "TAB_NOT_FOUND", message: "This tab is gone." };
  if (!sharing.isRestricted(found.url || found.pendingUrl || "")) return null;
  return { code: "POLICY_DENIED", message: "Chrome lets no extension into this kind of page." };
}

/** Whether the debugger that is attached already is our own: only ours takes our commands. */
async function isOurs(tab) {
  return chrome.debugger.sendCommand({ tabId: tab }, "Runtime.runIfWaitingForDebugger").then(
    () => true,
    () => false,
  );
}

function attachFailure(error) {
  const message = String(error?.message ?? error);
  if (/already attached/i.test(message)) {
    return { code: "DEVTOOLS_OPEN", message: "Another debugger is attached to this tab." };
  }
  return { code: "DETACHED", message };
}

/** Lets go of a tab. Chrome reports no detaching of our own, so the daemon is told here. */
export async function detach(tab) {
  await chrome.debugger.detach({ tabId: tab }).catch(() => {});
  await keep(() => attached.delete(tab));
  return {};
}

/** Lets go of everything. */
export async function detachAll(reason) {
  for (const tab of attachedTabs()) {
    await detach(tab);
    link.tell({ event: "detached", with: { tab, reason } });
  }
}

/** Sends one command. Everything before it happens at once, so that commands keep their order. */
export function send({ tab, session, method, params }) {
  const objection = sharing.objection(tab) ?? neverSent(method) ?? sites.objectionTo(method, params);
  if (objection) return Promise.reject(noteRefusal(method, tab, objection));
  const source = session === undefined ? { tabId: tab } : { tabId: tab, sessionId: session };
  return chrome.debugger.sendCommand(source, method, params ?? {}).then((result) => result ?? {}, protocolFailure);
}

function neverSent(method) {
  if (!NEVER.has(method)) return null;
  return { code: "POLICY_DENIED", message: `${method} would change the user's whole profile.` };
}

/** Chrome gives a protocol error as JSON in the message of an exception. */
function protocolFailure(error) {
  const message = String(error?.message ?? error);
  try {
    const { code, message: text } = JSON.parse(message);
    if (typeof text === "string") throw { code: "CDP_ERROR", message: text, number: code };
  } catch (parsed) {
    if (parsed?.code === "CDP_ERROR") throw parsed;
  }
  throw { code: /not attached/i.test(message) ? "DETACHED" : "CDP_ERROR", message };
}

export async function onEvent(source, method, params) {
  await ready();
  if (source.tabId === undefined || !sharing.isOpenTo(source.tabId)) return;
  const event = { event: "cdp", tab: source.tabId, session: source.sessionId, method, params };
  if (DROPPABLE.has(method)) link.tellIfRoom(event);
  else link.tell(event);
}

export async function onDetach(source, reason) {
  await ready();
  const tab = source.tabId;
  if (tab === undefined || !attached.has(tab)) return;
  await keep(() => attached.delete(tab));
  // The user pressed Cancel on Chrome's bar: what was shared is not shared any more.
  if (reason === "canceled_by_user") await sharing.unshare(tab);
  link.tell({ event: "detached", with: { tab, reason } });
  if (reason === "canceled_by_user") await tabs.tell(tab);
}

async function ready() {
  if (attached === null) await Promise.all([load(), sharing.load()]);
}

async function keep(change) {
  await load();
  change();
  await chrome.storage.session.set({ attached: attachedTabs() });
}
