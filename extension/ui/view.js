// Requests of the popup and the options page to the worker, one row each.

import * as debuggee from "../tabs/debuggee.js";
import * as groups from "../tabs/groups.js";
import * as link from "../link/link.js";
import { note, recentLines } from "./log.js";
import * as notifications from "../link/notifications.js";
import * as pairing from "../link/pairing.js";
import { recentDenials } from "../policy/denials.js";
import * as sharing from "../tabs/sharing.js";
import * as sites from "../policy/sites.js";
import * as tabs from "../tabs/tabs.js";

const REQUESTS = {
  state: () => ({}),
  share: async ({ tab }) => {
    note(`You shared tab ${tab}.`);
    await sharing.share(tab, "user");
    await tabs.sendTab(tab);
  },
  unshare: async ({ tab }) => {
    note(`You stopped sharing tab ${tab}.`);
    await sharing.unshare(tab);
    await groups.release(tab);
    await tabs.withdraw(tab, "unshared");
    await tabs.sendTab(tab);
  },
  pause: async ({ paused }) => {
    note(paused ? "You paused automation." : "You resumed automation.");
    if (paused) await debuggee.detachAll("paused");
    await sharing.setPaused(paused ? "asked" : false);
    await link.sendState();
  },
  mode: async ({ mode }) => {
    await sharing.setMode(mode);
    await withdrawAll("unshared");
  },
  sites: async ({ blocked }) => {
    await sites.setBlocked(blocked);
    await debuggee.applySites();
    await withdrawAll("blocked");
  },
  pair: async ({ manual }) => {
    await pairing.setManual(manual);
    await link.renew();
  },
  connect: () => link.renew(),
  answer: (wanted) => notifications.answer(wanted),
  revoke: (wanted) => notifications.revoke(wanted),
};

async function withdrawAll(reason) {
  for (const tab of debuggee.attachedTabs()) await tabs.withdraw(tab, reason);
  await link.sendState();
}

/** Executes a request of a view; returns the new state. */
export async function handleView(message) {
  await Promise.all([sharing.load(), debuggee.load(), notifications.load(), groups.load()]);
  try {
    if (Object.hasOwn(REQUESTS, message?.ask)) await REQUESTS[message.ask](message);
    return await currentState();
  } catch (error) {
    return { ...(await currentState()), failed: String(error?.message ?? error) };
  }
}

async function currentState() {
  const [front] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const attached = new Set(debuggee.attachedTabs());
  const listed = sharing.isPaused() ? [] : await tabs.list();
  const current = notifications.now();
  return {
    connected: link.isOpen(),
    daemon: link.daemon(),
    paused: sharing.paused(),
    mode: sharing.mode(),
    front: front && describeFront(front),
    tabs: listed.map((one) => ({ ...one, driven: attached.has(one.tab), drivers: notifications.driversOf(one.target) })),
    approvals: current.approvals,
    decided: current.decided,
    grants: current.grants,
    policy: current.policy,
    blocked: sites.list(),
    files: sharing.mayEnterFiles(),
    incognito: await chrome.extension.isAllowedIncognitoAccess(),
    rejection: (await chrome.storage.session.get({ rejection: null })).rejection,
    host: await pairing.hostState(),
    manual: "manual" in (await chrome.storage.local.get("manual")),
    install: await pairing.installId(),
    refusals: await allRefusals(current.refused),
    log: await recentLines(),
    droppedEvents: link.droppedEvents(),
  };
}

/** Denials of this extension and of the daemon's policy, newest first. */
async function allRefusals(refused) {
  const here = (await recentDenials()).map(({ when, what, message }) => ({ when, what, message, by: "this browser" }));
  const there = refused.map(({ when, who, action, message }) => ({ when: when * 1000, what: action, who, message, by: "the policy" }));
  return [...here, ...there].sort((one, other) => other.when - one.when);
}

function describeFront(tab) {
  const url = tab.url || tab.pendingUrl || "";
  return {
    tab: tab.id,
    title: tab.title,
    url,
    shared: sharing.sharedBy(tab.id),
    restricted: sharing.isRestricted(url),
    blocked: sites.isBlocked(url),
    agent: groups.agentOf(tab.id),
  };
}
