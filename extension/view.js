// What the popup and the options page ask of the worker: one row each. Knows nothing of how they look.

import * as debuggee from "./debuggee.js";
import * as groups from "./groups.js";
import * as link from "./link.js";
import { note, recentLines } from "./log.js";
import * as news from "./news.js";
import * as pairing from "./pairing.js";
import { recentRefusals } from "./refusals.js";
import * as sharing from "./sharing.js";
import * as sites from "./sites.js";
import * as tabs from "./tabs.js";

const REQUESTS = {
  state: () => ({}),
  share: async ({ tab }) => {
    note(`You shared tab ${tab}.`);
    await sharing.share(tab, "user");
    await tabs.tell(tab);
  },
  unshare: async ({ tab }) => {
    note(`You stopped sharing tab ${tab}.`);
    await sharing.unshare(tab);
    await groups.release(tab);
    await tabs.withdraw(tab, "unshared");
    await tabs.tell(tab);
  },
  pause: async ({ paused }) => {
    note(paused ? "You paused everything." : "You let it go on.");
    if (paused) await debuggee.detachAll("paused");
    await sharing.setPaused(paused ? "asked" : false);
    await link.tellPresent();
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
  answer: (wanted) => news.answer(wanted),
  revoke: (wanted) => news.revoke(wanted),
};

async function withdrawAll(reason) {
  for (const tab of debuggee.attachedTabs()) await tabs.withdraw(tab, reason);
  await link.tellPresent();
}

/** Does what a view asks for, and says how everything stands after it. */
export async function answerView(message) {
  await Promise.all([sharing.load(), debuggee.load(), news.load(), groups.load()]);
  try {
    if (Object.hasOwn(REQUESTS, message?.ask)) await REQUESTS[message.ask](message);
    return await standing();
  } catch (error) {
    return { ...(await standing()), failed: String(error?.message ?? error) };
  }
}

async function standing() {
  const [front] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const attached = new Set(debuggee.attachedTabs());
  const listed = sharing.isPaused() ? [] : await tabs.list();
  const told = news.now();
  return {
    connected: link.isOpen(),
    daemon: link.daemon(),
    paused: sharing.paused(),
    mode: sharing.mode(),
    front: front && describeFront(front),
    tabs: listed.map((one) => ({ ...one, driven: attached.has(one.tab), drivers: news.driversOf(one.target) })),
    approvals: told.approvals,
    decided: told.decided,
    grants: told.grants,
    policy: told.policy,
    blocked: sites.list(),
    files: sharing.mayEnterFiles(),
    incognito: await chrome.extension.isAllowedIncognitoAccess(),
    goodbye: (await chrome.storage.session.get({ goodbye: null })).goodbye,
    host: await pairing.hostState(),
    manual: "manual" in (await chrome.storage.local.get("manual")),
    install: await pairing.installId(),
    refusals: await allRefusals(told.refused),
    log: await recentLines(),
    leftOut: link.leftOut(),
  };
}

/** What was refused here, and what was refused by the policy, the newest first. */
async function allRefusals(refused) {
  const here = (await recentRefusals()).map(({ when, what, message }) => ({ when, what, message, by: "this browser" }));
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
