// One tab group per agent, titled with its name. A tab that the user drags into the group is shared; one that the user drags
// out is unshared.

import * as notifications from "../link/notifications.js";
import * as sharing from "./sharing.js";
import * as tabs from "./tabs.js";

const COLOUR = "cyan";
const NONE = chrome.tabGroups.TAB_GROUP_ID_NONE;
const TITLE_LETTERS = 40;

/** The extension's groups by id, with the agent's name; and the tabs in them. */
let groups = new Map();
let grouped = new Map();
let loading = null;
/** Operations run one at a time: Chrome responds late, and two at once would create two groups. */
let last = Promise.resolve();

export function load() {
  loading ??= chrome.storage.session.get({ groups: {}, grouped: {} }).then((kept) => {
    const byNumber = (one) => new Map(Object.entries(one).map(([number, value]) => [Number(number), value]));
    [groups, grouped] = [byNumber(kept.groups), byNumber(kept.grouped)];
  });
  return loading;
}

/** The agent whose group a tab is in. */
export const agentOf = (tab) => groups.get(grouped.get(tab));

function inTurn(work) {
  last = last.then(load).then(work).catch(() => {});
  return last;
}

/** Puts the tabs that were opened for agents into their groups. */
export function arrange() {
  return inTurn(async () => {
    for (const tab of await tabs.list()) {
      const [agent] = notifications.driversOf(tab.target);
      if (!agent || !tab.agent || grouped.has(tab.tab)) continue;
      await put(tab.tab, agent.slice(0, TITLE_LETTERS)).catch(() => {});
    }
  });
}

async function put(id, agent) {
  const tab = await chrome.tabs.get(id);
  const kept = [...groups.keys()].filter((group) => groups.get(group) === agent);
  const here = await chrome.tabGroups.query({ windowId: tab.windowId });
  const known = here.find((group) => kept.includes(group.id))?.id;
  const group = await chrome.tabs.group(known === undefined ? { tabIds: id } : { tabIds: id, groupId: known });
  groups.set(group, agent);
  grouped.set(id, group);
  await keep();
  if (known === undefined) await chrome.tabGroups.update(group, { title: agent, color: COLOUR });
}

/** A tab was moved into or out of a group, by the user or by this extension. */
export function onMoved(id, group) {
  return inTurn(async () => {
    const before = grouped.get(id);
    if (group !== NONE && groups.has(group)) {
      if (before === group) return;
      grouped.set(id, group);
      await keep();
      await sharing.share(id, "user");
    } else {
      if (before === undefined) return;
      grouped.delete(id);
      await keep();
      await sharing.unshare(id);
      await tabs.withdraw(id, "unshared");
    }
    await tabs.sendTab(id);
  });
}

/** Removes a tab from its group because it is no longer shared. */
export async function release(id) {
  await load();
  if (grouped.has(id)) await chrome.tabs.ungroup(id).catch(() => {});
}

/** A tab is gone. */
export function forget(id) {
  return inTurn(async () => {
    if (!grouped.delete(id)) return;
    await keep();
  });
}

/** A group is gone; its tabs have sent their own events. */
export function onGone({ id }) {
  return inTurn(async () => {
    if (!groups.delete(id)) return;
    await keep();
  });
}

const keep = () => chrome.storage.session.set({ groups: Object.fromEntries(groups), grouped: Object.fromEntries(grouped) });
