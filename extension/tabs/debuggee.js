// Tabs with the debugger attached: attaching, commands, events, detaching. `cdp_rules.js` decides which commands reach Chrome.

import { allowedParams } from "../policy/blocked_cookies.js";
import { allowedResult, isSkipped, denialOf, denialOfDelete } from "../policy/cdp_rules.js";
import * as groups from "./groups.js";
import * as link from "../link/link.js";
import { note } from "../ui/log.js";
import * as networkBlock from "../policy/network_block.js";
import { recordDenial } from "../policy/denials.js";
import { inheritsBlocked, protect, protectChild } from "../policy/tab_protection.js";
import { waitForEvents } from "../link/event_barrier.js";
import * as sharing from "./sharing.js";
import * as sites from "../policy/sites.js";
import * as tabs from "./tabs.js";

const PROTOCOL = "1.3";

/** Events that may be dropped when the connection is full: clients keep no state from them. */
const DROPPABLE = new Set(["Network.dataReceived", "Network.resourceChangedPriority"]);

/** How often, and how long apart, a discarded tab is polled while it reloads. */
const WAKE_POLLS = 100;
const WAKE_PAUSE_MS = 50;

/** The pause before a tab is attached again, and the shortest time between two such attempts. */
const REATTACH_PAUSE_MS = 150;
const REATTACH_COOLDOWN_MS = 3_000;

/** Attached tabs. Stored, because Chrome keeps the debugger attached when it stops the worker. */
let attached = null;
let loading = null;

export function load() {
  loading ??= read();
  return loading;
}

async function read() {
  const kept = await chrome.storage.session.get({ attached: [] });
  await sharing.load();
  attached = new Set(kept.attached);
  // Rules of an earlier worker may be for other tabs, or for another list.
  await networkBlock.guard(...attached).catch(() => {});
}

export const attachedTabs = () => [...attached];

/** Attaches to a tab, or adopts the attachment of an earlier worker. */
export async function attach(tab) {
  const denial = sharing.denial(tab) ?? (await restriction(tab));
  if (denial) throw recordDenial("attach", tab, denial);
  await wake(tab);
  try {
    await enter(tab);
  } catch (failure) {
    if (!attached.has(tab)) await networkBlock.release(tab).catch(() => {});
    throw recordDenial("attach", tab, failure);
  }
  await keep(() => attached.add(tab));
  const ask = (method, params) => chrome.debugger.sendCommand({ tabId: tab }, method, params);
  // `Page.enable` first: no frame change after the tree is missed.
  const [, { frameTree }] = await Promise.all([
    ask("Page.enable"),
    ask("Page.getFrameTree"),
    ask("Inspector.enable").catch(() => {}),
    // Resumes a tab that started paused; no effect on others.
    ask("Runtime.runIfWaitingForDebugger").catch(() => {}),
    // Chrome draws no background tab without this, and `requestAnimationFrame` would never fire.
    ask("Emulation.setFocusEmulationEnabled", { enabled: true }).catch(() => {}),
  ]);
  return { frameTree };
}

/** Attaches the debugger to a tab that shows no blocked site, and blocks later loads of blocked sites. */
async function enter(tab) {
  await networkBlock.guard(tab);
  try {
    await chrome.debugger.attach({ tabId: tab }, PROTOCOL);
  } catch (error) {
    if (!(await isOurs(tab))) throw attachFailure(error);
  }
  const denial = await protect(tab);
  if (denial === null) return;
  await chrome.debugger.detach({ tabId: tab }).catch(() => {});
  throw denial;
}

/** Reloads a discarded tab: it has no page to attach to. */
async function wake(tab) {
  if (!(await chrome.tabs.get(tab)).discarded) return;
  await chrome.tabs.reload(tab);
  for (let poll = 0; poll < WAKE_POLLS; poll += 1) {
    const { discarded, status } = await chrome.tabs.get(tab);
    if (!discarded && status === "complete") return;
    await new Promise((resolve) => setTimeout(resolve, WAKE_PAUSE_MS));
  }
}

async function restriction(tab) {
  const found = await chrome.tabs.get(tab).catch(() => null);
  if (!found) return { code: "TAB_NOT_FOUND", message: "This tab is gone." };
  if (sites.isBlocked(found.url ?? "") || sites.isBlocked(found.pendingUrl ?? "")) return sharing.BLOCKED_TAB;
  if (!sharing.isRestricted(found.url || found.pendingUrl || "")) return null;
  return { code: "POLICY_DENIED", message: "Chrome keeps extensions out of this page." };
}

/** Whether the attached debugger is this extension's: only then do commands succeed. */
async function isOurs(tab) {
  return chrome.debugger.sendCommand({ tabId: tab }, "Runtime.runIfWaitingForDebugger").then(
    () => true,
    () => false,
  );
}

/** Chrome refuses and detaches debuggers while a page has a frame of another extension. */
const BESIDE = {
  code: "DETACHED",
  message:
    "Another extension has a frame in this page, and Chrome lets no debugger in beside it. Close what that extension " +
    "shows there, or switch it off for this site, and try again.",
};
const isBeside = (message) => /of different extension/i.test(message);

function attachFailure(error) {
  const message = String(error?.message ?? error);
  if (isBeside(message)) return BESIDE;
  if (/already attached/i.test(message)) {
    return { code: "DEVTOOLS_OPEN", message: "Another debugger is attached to this tab." };
  }
  return { code: "DETACHED", message };
}

/** Detaches a tab. Chrome fires no `onDetach` for this extension's own detach, so the event is sent here. */
export async function detach(tab) {
  await chrome.debugger.detach({ tabId: tab }).catch(() => {});
  await forget(tab);
  return {};
}

/** The debugger is detached: removes the tab's network rules. */
async function forget(tab) {
  await keep(() => attached.delete(tab));
  await networkBlock.release(tab).catch(() => {});
}

/** Detaches a tab because of a blocked site. */
export async function detachBlocked(tab) {
  if (!attached?.has(tab)) return;
  await detach(tab);
  note(`Tab ${tab} was detached because of a site that you block.`);
  link.sendEvent({ event: "detached", data: { tab, reason: "blocked" } });
}

/** Applies the list of blocked sites to attached tabs. */
export async function applySites() {
  await networkBlock.renew();
  for (const tab of attachedTabs()) {
    const isSafe = await protect(tab).then((denial) => denial === null, () => false);
    if (!isSafe) await detachBlocked(tab);
  }
}

/** Detaches every tab. */
export async function detachAll(reason) {
  for (const tab of attachedTabs()) {
    await detach(tab);
    link.sendEvent({ event: "detached", data: { tab, reason } });
  }
}

/** Tabs that are being detached because they flood the connection; their remaining events are dropped. */
const flooding = new Set();

/** Detaches a tab that floods the connection: its clients get a detach event instead of a gap in their events. */
export async function detachFlooding(tab) {
  if (!attached?.has(tab) || flooding.has(tab)) return;
  flooding.add(tab);
  await detach(tab);
  await waitForEvents();
  flooding.delete(tab);
  note(`Tab ${tab} sent more events than the connection can carry and was detached.`);
  link.sendEvent({ event: "detached", data: { tab, reason: "flood" } });
}

/** Sends one command. The checks are synchronous, so that commands keep their order. */
export function send({ tab, session, method, params: given }) {
  const params = given ?? {};
  const denial = sharing.denial(tab) ?? malformed(session, method, params) ?? detached(tab) ?? denialOf(method, params);
  if (denial) return Promise.reject(recordDenial(String(method), tab, denial));
  if (isSkipped(method)) return Promise.resolve({});
  if (method === "Page.bringToFront") sharing.expectActivation(tab);
  const source = session === undefined ? { tabId: tab } : { tabId: tab, sessionId: session };
  return carry(source, method, params).then(
    (result) => allowedOf(tab, method, result ?? {}),
    (error) => Promise.reject(failureOf(method, error)),
  );
}

/** The filtered result; an error when the tab went to a blocked site meanwhile. */
function allowedOf(tab, method, result) {
  const denial = sharing.siteDenial(tab);
  if (denial) throw denial;
  return allowedResult(method, result);
}

/** The error for a malformed command, or null. The checked values must be the ones that Chrome gets. */
function malformed(session, method, params) {
  const isCommand = typeof method === "string" && typeof params === "object" && params !== null && !Array.isArray(params);
  if (isCommand && (session === undefined || typeof session === "string")) return null;
  return { code: "BAD_ARGS", message: "A command has a method, and parameters that are an object." };
}

function detached(tab) {
  return attached.has(tab) ? null : { code: "DETACHED", message: "The debugger is not attached to this tab." };
}

/** Sends a command to Chrome. The cookies of a URL are read first when one of them is to be deleted by URL. */
async function carry(source, method, params) {
  if (method === "Network.deleteCookies" && sites.hasAny() && typeof params.url === "string") {
    const { cookies } = await chrome.debugger.sendCommand(source, "Network.getCookies", { urls: [params.url] });
    const denial = denialOfDelete(params, cookies);
    if (denial) throw denial;
  }
  return chrome.debugger.sendCommand(source, method, params);
}

/** Responds after all earlier events of a page, or of all pages; returns the page's frame tree. */
export async function settle({ tab, session }) {
  const response = tab === undefined ? {} : await send({ tab, session, method: "Page.getFrameTree" });
  await waitForEvents();
  return response;
}

/** Chrome lets an extension upload files only with “Allow access to file URLs”. */
const NO_FILES = {
  code: "POLICY_DENIED",
  message:
    "Chrome lets the extension upload no files: “Allow access to file URLs” is off for Tabwire's extension. The user can " +
    "switch it on in its details at chrome://extensions.",
};

/** Chrome puts a CDP error as JSON into the message of an exception. */
function failureOf(method, error) {
  if (typeof error?.code === "string") return error;
  const message = String(error?.message ?? error);
  const { code, message: text } = parsed(message);
  if (method === "DOM.setFileInputFiles" && text === "Not allowed" && !sharing.mayEnterFiles()) return NO_FILES;
  if (typeof text === "string") return { code: "CDP_ERROR", message: text, number: code };
  if (isBeside(message)) return BESIDE;
  return { code: /not attached|detached while/i.test(message) ? "DETACHED" : "CDP_ERROR", message };
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

export function onEvent(source, method, params) {
  // A worker that was just started has to read its stored state first; events keep their order.
  if (attached === null || !sharing.isLoaded()) ready().then(() => forward(source, method, params));
  else forward(source, method, params);
}

function forward(source, method, params) {
  const { tabId: tab, sessionId: session } = source;
  if (tab === undefined || !attached.has(tab) || !sharing.isAccessible(tab) || flooding.has(tab)) return;
  if (isOfBlocked(method, params)) {
    detachBlocked(tab);
    return;
  }
  if (method === "Target.attachedToTarget") protectChild(tab, params);
  if (method === "Page.frameNavigated") inheritsBlocked(tab, params?.frame).then((is) => is && detachBlocked(tab));
  const event = { event: "cdp", tab, session, method, params: allowedParams(method, params) };
  if (DROPPABLE.has(method)) link.sendIfRoom(event);
  else link.sendEvent(event);
}

/** Whether an event concerns a frame or child target at a blocked site. */
function isOfBlocked(method, params) {
  if (!sites.hasAny()) return false;
  if (method === "Page.frameNavigated") return sites.isBlocked(params?.frame?.url ?? "");
  if (method !== "Target.attachedToTarget" && method !== "Target.targetInfoChanged") return false;
  return sites.isBlocked(params?.targetInfo?.url ?? "");
}

export async function onDetach(source, reason) {
  await ready();
  const tab = source.tabId;
  if (tab === undefined || !attached.has(tab)) return;
  if (reason === "canceled_by_user") return withdrawn(tab);
  await forget(tab);
  // Chrome sends `target_closed` also when another target takes over the same tab.
  if (reason === "target_closed" && (await reattach(tab))) return;
  link.sendEvent({ event: "detached", data: { tab, reason } });
}

/** The user pressed Cancel on Chrome's debugging bar: unshares the attached tabs and pauses automation. */
async function withdrawn(tab) {
  const reason = "canceled_by_user";
  // Both take effect in memory at once; storing them may take longer.
  await Promise.all([sharing.unshare(tab), sharing.setPaused("cancelled"), forget(tab)]);
  note(`You pressed Cancel on the browser's bar: tab ${tab} is no longer shared, and automation is paused.`);
  link.sendEvent({ event: "detached", data: { tab, reason } });
  // Chrome's bar is for all tabs, so all remaining ones are detached too.
  await detachAll(reason);
  await groups.release(tab);
  await tabs.sendTab(tab);
  await link.sendState();
}

/** When a tab was last attached again; it is not retried within the cooldown. */
const reattachedAt = new Map();

/** Attaches again to a tab that still exists and may be used; returns whether it worked. */
async function reattach(tab) {
  for (const [one, when] of reattachedAt) if (Date.now() - when > REATTACH_COOLDOWN_MS) reattachedAt.delete(one);
  if (reattachedAt.has(tab)) return false;
  await new Promise((resolve) => setTimeout(resolve, REATTACH_PAUSE_MS));
  if (sharing.denial(tab) ?? (await restriction(tab))) return false;
  reattachedAt.set(tab, Date.now());
  try {
    const { frameTree } = await attach(tab);
    link.sendEvent({ event: "reattached", data: { tab, frameTree } });
    return true;
  } catch {
    return false;
  }
}

const ready = () => Promise.all([load(), sharing.load()]);

async function keep(change) {
  await load();
  change();
  await chrome.storage.session.set({ attached: attachedTabs() });
}
