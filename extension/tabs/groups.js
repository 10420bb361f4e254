// One tab group per agent or chat, titled with the agent's name. A tab that the user drags into the group is shared; one that the user drags
// out is unshared.

import * as notifications from "../link/notifications.js";
import * as sharing from "./sharing.js";
import * as tabs from "./tabs.js";

const COLOUR = "cyan";
const NONE = chrome.tabGroups.TAB_GROUP_ID_NONE;
const TITLE_LETTERS = 40;

/** What the extension's groups stand for, by id; their titles; the tabs in them; and what each tab was grouped by. */
let groups = new Map();
let titles = new Map();
let grouped = new Map();
let named = new Map();
let loading = null;
/** Operations run one at a time: Chrome responds late, and two at once would create two groups. */
let last = Promise.resolve();

export function load() {
  loading ??= chrome.storage.session.get({ groups: {}, titles: {}, grouped: {}, named: {} }).then((kept) => {
    const byNumber = (one) => new Map(Object.entries(one).map(([number, value]) => [Number(number), value]));
    [groups, titles, grouped, named] = [byNumber(kept.groups), byNumber(kept.titles), byNumber(kept.grouped), byNumber(kept.named)];
  });
  return loading;
}

/** The agent whose group a tab is in. */
export const agentOf = (tab) => titles.get(grouped.get(tab));

function inTurn(work) {
  last = last.then(load).then(work).catch(() => {});
  return last;
}

/** Puts the tabs that were opened for agents into their groups. */
export function arrange() {
  return inTurn(async () => {
    for (const tab of await tabs.list()) {
      const driver = notifications.firstDriverOf(tab.target);
      // Grouped again only when another agent or chat drives it: the user may have moved it.
      if (!driver || !tab.agent || named.get(tab.tab) === driver.group) continue;
      await put(tab.tab, driver).catch(() => {});
    }
  });
}

async function put(id, { name, group: key }) {
  const title = name.slice(0, TITLE_LETTERS);
  const tab = await chrome.tabs.get(id);
  const kept = [...groups.keys()].filter((group) => groups.get(group) === key);
  const here = await chrome.tabGroups.query({ windowId: tab.windowId });
  const known = here.find((group) => kept.includes(group.id))?.id;
  const group = await chrome.tabs.group(known === undefined ? { tabIds: id } : { tabIds: id, groupId: known });
  groups.set(group, key);
  titles.set(group, title);
  grouped.set(id, group);
  named.set(id, key);
  await keep();
  if (known === undefined) await chrome.tabGroups.update(group, { title, color: COLOUR });
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
    if (![grouped.delete(id), named.delete(id)].some(Boolean)) return;
    await keep();
  });
}

/** A group is gone; its tabs have sent their own events. */
export function onGone({ id }) {
  return inTurn(async () => {
    if (!groups.delete(id)) return;
    titles.delete(id);
    await keep();
  });
}

const keep = () =>
  chrome.storage.session.set({
    groups: Object.fromEntries(groups),
    titles: Object.fromEntries(titles),
    grouped: Object.fromEntries(grouped),
    named: Object.fromEntries(named),
  });
