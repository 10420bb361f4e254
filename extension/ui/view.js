// Requests of the popup and the options page to the worker, one row each.

import * as debuggee from "../tabs/debuggee.js";
import * as groups from "../tabs/groups.js";
import * as link from "../link/link.js";
import { note, recentLines } from "./log.js";
import * as notifications from "../link/notifications.js";
import * as pairing from "../link/pairing.js";
import { hostState, setManual } from "../link/pairing_state.js";
import * as pointing from "../tabs/pointing.js";
import { recentDenials } from "../policy/denials.js";
import * as sharing from "../tabs/sharing.js";
import * as sites from "../policy/sites.js";
import { describeTabs } from "./tab_state.js";
import * as tabs from "../tabs/tabs.js";

/** The most unshared tabs of the window that the popup lists. */
const MOST_OTHERS = 60;

const REQUESTS = {
  state: () => ({}),
  share: async ({ tab }) => {
    note(`You shared ${await nameOf(tab)}.`);
    await sharing.share(tab, "user");
    await tabs.sendTab(tab);
  },
  // The element that the user picks is in the response.
  point: async ({ tab }) => ({ pointed: await pointing.point(tab) }),
  end_pointing: () => pointing.end(),
  unshare: async ({ tab }) => {
    pointing.onGone(tab);
    note(`You stopped sharing ${await nameOf(tab)}.`);
    await sharing.unshare(tab);
    await groups.release(tab);
    await tabs.withdraw(tab, "unshared");
    await tabs.sendTab(tab);
  },
  pause: async ({ paused }) => {
    note(paused ? "You paused automation." : "You resumed automation.");
    await pointing.end();
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
    await setManual(manual);
    await link.renew();
  },
  connect: () => link.renew(),
  // Not awaited: the view shows the state now, and the outcome as soon as it is there.
  dial: () => void link.ensure(),
  answer: (wanted) => notifications.answer(wanted),
  revoke: (wanted) => notifications.revoke(wanted),
};

/** The title of a tab, for the log. */
async function nameOf(tab) {
  const { title, url } = await chrome.tabs.get(tab).catch(() => ({}));
  return `“${(title || url || `tab ${tab}`).slice(0, 80)}”`;
}

async function withdrawAll(reason) {
  for (const tab of debuggee.attachedTabs()) await tabs.withdraw(tab, reason);
  await link.sendState();
}

/** Executes a request of a view; returns the new state. */
export async function handleView(message) {
  await Promise.all([sharing.load(), debuggee.load(), notifications.load(), groups.load()]);
  try {
    const result = Object.hasOwn(REQUESTS, message?.ask) ? await REQUESTS[message.ask](message) : undefined;
    return { ...(await currentState()), pointed: result?.pointed ?? null };
  } catch (error) {
    return { ...(await currentState()), failed: String(error?.message ?? error) };
  }
}

async function currentState() {
  const readAt = performance.timeOrigin + performance.now();
  const tabs = await describeTabs();
  const current = notifications.now();
  notifications.showStandings(tabs.filter((one) => one.shared && !one.restricted && !one.blocked).map((one) => one.url));
  return {
    readAt,
    connected: link.isOpen(),
    daemon: link.daemon(),
    paused: sharing.paused(),
    mode: sharing.mode(),
    front: tabs.find((one) => one.isFront) ?? null,
    tabs: tabs.filter((one) => one.shared),
    others: tabs.filter((one) => !one.shared && one.isInFrontWindow && !one.isFront).slice(0, MOST_OTHERS),
    approvals: current.approvals,
    decided: current.decided,
    grants: current.grants,
    policy: current.policy,
    open: current.open,
    blocked: sites.list(),
    files: sharing.mayEnterFiles(),
    incognito: await chrome.extension.isAllowedIncognitoAccess(),
    rejection: (await chrome.storage.session.get({ rejection: null })).rejection,
    host: await hostState(),
    manual: "manual" in (await chrome.storage.local.get("manual")),
    install: await pairing.installId(),
    refusals: await allRefusals(current.refused),
    log: await recentLines(),
    droppedEvents: link.droppedEvents(),
  };
}

/** Denials of this extension and of the daemon's policy, newest first. */
async function allRefusals(refused) {
  const here = (await recentDenials()).map(({ when, what, message }) => ({ when, what, agent: "", message, by: "this browser" }));
  const there = refused.map(({ when, agent, action, message }) => ({ when: when * 1000, what: action, agent, message, by: "the policy" }));
  return [...here, ...there].sort((one, other) => other.when - one.when);
}
