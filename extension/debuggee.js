// Tabs under the debugger: attaching, commands, events, and what ends it. Knows nothing of CDP beyond names: what a
// command means is decided by the daemon, except for what `cdp_rules.js` keeps from Chrome, whoever asks.

import { allowedParams } from "./blocked_cookies.js";
import { allowedResult, isKeptFromChrome, objectionTo, objectionToDeleting } from "./cdp_rules.js";
import * as groups from "./groups.js";
import * as link from "./link.js";
import { note } from "./log.js";
import * as networkBlock from "./network_block.js";
import { noteRefusal } from "./refusals.js";
import { inheritsBlocked, shield, shieldChild } from "./shield.js";
import { allTold } from "./settled.js";
import * as sharing from "./sharing.js";
import * as sites from "./sites.js";
import * as tabs from "./tabs.js";

const PROTOCOL = "1.3";

/** Events that may be left out when the line is full; nothing is built on them. */
const DROPPABLE = new Set(["Network.dataReceived", "Network.resourceChangedPriority"]);

/** How often, and how long apart, a tab that was asleep is looked at. */
const WAKE_LOOKS = 100;
const WAKE_PAUSE_MS = 50;

/** How long Chrome is given before a tab is taken up again, and how long until that may happen once more. */
const TAKE_UP_PAUSE_MS = 150;
const TAKE_UP_COOLDOWN_MS = 3_000;

/** Tabs that we are attached to; survives the worker, as the attachments themselves do. */
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

/** Attaches to a tab, or takes over an attachment that outlived an earlier worker. */
export async function attach(tab) {
  const objection = sharing.objection(tab) ?? (await restriction(tab));
  if (objection) throw noteRefusal("attach", tab, objection);
  await wake(tab);
  try {
    await enter(tab);
  } catch (failure) {
    if (!attached.has(tab)) await networkBlock.release(tab).catch(() => {});
    throw noteRefusal("attach", tab, failure);
  }
  await keep(() => attached.add(tab));
  const ask = (method, params) => chrome.debugger.sendCommand({ tabId: tab }, method, params);
  // From the moment the frames are told, every change to them is.
  const [, { frameTree }] = await Promise.all([
    ask("Page.enable"),
    ask("Page.getFrameTree"),
    ask("Inspector.enable").catch(() => {}),
    // What came up paused is let run; one that runs already takes no notice.
    ask("Runtime.runIfWaitingForDebugger").catch(() => {}),
    // A tab that is not in front draws nothing, and who waits for it to draw would wait for ever.
    ask("Emulation.setFocusEmulationEnabled", { enabled: true }).catch(() => {}),
  ]);
  return { frameTree };
}

/** Puts the debugger on a tab that loads nothing of blocked sites from here on, and has none of them in it. */
async function enter(tab) {
  await networkBlock.guard(tab);
  try {
    await chrome.debugger.attach({ tabId: tab }, PROTOCOL);
  } catch (error) {
    if (!(await isOurs(tab))) throw attachFailure(error);
  }
  const objection = await shield(tab);
  if (objection === null) return;
  await chrome.debugger.detach({ tabId: tab }).catch(() => {});
  throw objection;
}

/** A tab that Chrome put to sleep has no page to attach to: it is loaded again first. */
async function wake(tab) {
  if (!(await chrome.tabs.get(tab)).discarded) return;
  await chrome.tabs.reload(tab);
  for (let look = 0; look < WAKE_LOOKS; look += 1) {
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
  return { code: "POLICY_DENIED", message: "Chrome lets no extension into this kind of page." };
}

/** Whether the debugger that is attached already is our own: only ours takes our commands. */
async function isOurs(tab) {
  return chrome.debugger.sendCommand({ tabId: tab }, "Runtime.runIfWaitingForDebugger").then(
    () => true,
    () => false,
  );
}

/** Chrome lets no debugger in, and takes ours off, while a frame of another extension is in a page. */
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

/** Lets go of a tab. Chrome reports no detaching of our own, so the daemon is told here. */
export async function detach(tab) {
  await chrome.debugger.detach({ tabId: tab }).catch(() => {});
  await forget(tab);
  return {};
}

/** The debugger is off a tab, which may load everything again. */
async function forget(tab) {
  await keep(() => attached.delete(tab));
  await networkBlock.release(tab).catch(() => {});
}

/** Lets go of a tab because of a blocked site, and says so. */
export async function letGoOfBlocked(tab) {
  if (!attached?.has(tab)) return;
  await detach(tab);
  note(`Tab ${tab} was let go of: a site that you block came up in it.`);
  link.tell({ event: "detached", with: { tab, reason: "blocked" } });
}

/** Applies the list of blocked sites to tabs that are driven already. */
export async function applySites() {
  await networkBlock.renew();
  for (const tab of attachedTabs()) {
    const isSafe = await shield(tab).then((objection) => objection === null, () => false);
    if (!isSafe) await letGoOfBlocked(tab);
  }
}

/** Lets go of everything. */
export async function detachAll(reason) {
  for (const tab of attachedTabs()) {
    await detach(tab);
    link.tell({ event: "detached", with: { tab, reason } });
  }
}

/** Tabs that are being let go of because they flood: what they still tell comes after what was thrown away. */
const flooding = new Set();

/** Lets go of a tab that tells more than the line takes: whoever drives it is told so, rather than miss some of it. */
export async function letGoOfFlood(tab) {
  if (!attached?.has(tab) || flooding.has(tab)) return;
  flooding.add(tab);
  await detach(tab);
  await allTold();
  flooding.delete(tab);
  note(`Tab ${tab} told more than the line takes; it was let go of.`);
  link.tell({ event: "detached", with: { tab, reason: "flood" } });
}

/** Sends one command. Everything before it happens at once, so that commands keep their order. */
export function send({ tab, session, method, params: given }) {
  const params = given ?? {};
  const objection = sharing.objection(tab) ?? malformed(session, method, params) ?? detached(tab) ?? objectionTo(method, params);
  if (objection) return Promise.reject(noteRefusal(String(method), tab, objection));
  if (isKeptFromChrome(method)) return Promise.resolve({});
  const source = session === undefined ? { tabId: tab } : { tabId: tab, sessionId: session };
  return carry(source, method, params).then(
    (result) => allowedOf(tab, method, result ?? {}),
    (error) => Promise.reject(failureOf(method, error)),
  );
}

/** What is passed on of a result; nothing when the tab has gone to a blocked site meanwhile. */
function allowedOf(tab, method, result) {
  const objection = sharing.siteObjection(tab);
  if (objection) throw objection;
  return allowedResult(method, result);
}

/** Why something is no command, or nothing: what is judged has to be what Chrome is given. */
function malformed(session, method, params) {
  const isCommand = typeof method === "string" && typeof params === "object" && params !== null && !Array.isArray(params);
  if (isCommand && (session === undefined || typeof session === "string")) return null;
  return { code: "BAD_ARGS", message: "A command has a method, and parameters that are an object." };
}

function detached(tab) {
  return attached.has(tab) ? null : { code: "DETACHED", message: "The debugger is not attached to this tab." };
}

/** Hands a command to Chrome. Which cookies an address has must be looked up before one of them is deleted by it. */
async function carry(source, method, params) {
  if (method === "Network.deleteCookies" && sites.hasAny() && typeof params.url === "string") {
    const { cookies } = await chrome.debugger.sendCommand(source, "Network.getCookies", { urls: [params.url] });
    const objection = objectionToDeleting(params, cookies);
    if (objection) throw objection;
  }
  return chrome.debugger.sendCommand(source, method, params);
}

/** Answers after everything that a page, or all, had to tell up to now was told; gives the page's frames then. */
export async function settle({ tab, session }) {
  const answer = tab === undefined ? {} : await send({ tab, session, method: "Page.getFrameTree" });
  await allTold();
  return answer;
}

/** Chrome lets an extension give pages files only if the user lets it into files. */
const NO_FILES = {
  code: "POLICY_DENIED",
  message:
    "Chrome lets no file be given to a page here: “Allow access to file URLs” is off for Tabwire's extension. The user can " +
    "switch it on in its details at chrome://extensions.",
};

/** Chrome gives a protocol error as JSON in the message of an exception. */
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
  // A worker that was just woken has to read what it kept; events keep their order all the same.
  if (attached === null || !sharing.isLoaded()) ready().then(() => passOn(source, method, params));
  else passOn(source, method, params);
}

function passOn(source, method, params) {
  const { tabId: tab, sessionId: session } = source;
  if (tab === undefined || !attached.has(tab) || !sharing.isOpenTo(tab) || flooding.has(tab)) return;
  if (isOfBlocked(method, params)) {
    letGoOfBlocked(tab);
    return;
  }
  if (method === "Target.attachedToTarget") shieldChild(tab, params);
  if (method === "Page.frameNavigated") inheritsBlocked(tab, params?.frame).then((is) => is && letGoOfBlocked(tab));
  const event = { event: "cdp", tab, session, method, params: allowedParams(method, params) };
  if (DROPPABLE.has(method)) link.tellIfRoom(event);
  else link.tell(event);
}

/** Whether Chrome tells of a part of the page that a blocked site is in. */
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
  // Chrome says that a target closed when it is another one's turn in the same tab, too.
  if (reason === "target_closed" && (await takeUpAgain(tab))) return;
  link.tell({ event: "detached", with: { tab, reason } });
}

/** The user pressed Cancel on Chrome's bar: what was driven is not shared any more, and nothing is until they say so. */
async function withdrawn(tab) {
  const reason = "canceled_by_user";
  // Both hold from here on; what is kept of them may take a moment.
  await Promise.all([sharing.unshare(tab), sharing.setPaused("cancelled"), forget(tab)]);
  note(`You pressed Cancel on the browser's bar: tab ${tab} is not shared any more, and nothing is driven.`);
  link.tell({ event: "detached", with: { tab, reason } });
  // Chrome's bar is for all tabs at once; what it might have left is let go of, too.
  await detachAll(reason);
  await groups.release(tab);
  await tabs.tell(tab);
  await link.tellPresent();
}

/** When a tab was last taken up again; twice in a row is once too often. */
const takenUp = new Map();

/** Attaches once more to a tab that is still there and may be driven; says whether that worked. */
async function takeUpAgain(tab) {
  for (const [one, when] of takenUp) if (Date.now() - when > TAKE_UP_COOLDOWN_MS) takenUp.delete(one);
  if (takenUp.has(tab)) return false;
  await new Promise((resolve) => setTimeout(resolve, TAKE_UP_PAUSE_MS));
  if (sharing.objection(tab) ?? (await restriction(tab))) return false;
  takenUp.set(tab, Date.now());
  try {
    const { frameTree } = await attach(tab);
    link.tell({ event: "attached_again", with: { tab, frameTree } });
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
