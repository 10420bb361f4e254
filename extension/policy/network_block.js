// Network rules (`declarativeNetRequest`) that keep attached tabs from loading anything from blocked sites. Chrome applies
// them before a request is sent, so neither a page nor a slow worker can get around them.

import * as sites from "./sites.js";

const EVERYTHING = [
  "main_frame",
  "sub_frame",
  "stylesheet",
  "script",
  "image",
  "font",
  "object",
  "xmlhttprequest",
  "ping",
  "csp_report",
  "media",
  "websocket",
  "webtransport",
  "webbundle",
  "other",
];

/** The tabs that the rules apply to. */
const guarded = new Set();
/** Changes run one at a time; the last one applies the newest state. */
let last = Promise.resolve();
/** Whether Chrome may still have rules: they outlive the worker. */
let hasRules = true;

/** Blocks these tabs from blocked sites; resolves when Chrome applies the rules, and rejects when it refuses them. */
export function guard(...tabs) {
  for (const tab of tabs) guarded.add(tab);
  return renew();
}

/** Removes the block from a tab. */
export function release(tab) {
  guarded.delete(tab);
  return renew();
}

/** Applies the current list in Chrome. */
export function renew() {
  last = last.catch(() => {}).then(apply);
  return last;
}

async function apply() {
  if (!hasRules && (guarded.size === 0 || !sites.hasAny())) return;
  const before = await chrome.declarativeNetRequest.getSessionRules();
  const addRules = guarded.size === 0 ? [] : sites.patterns().flatMap(rulesFor);
  await chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: before.map(({ id }) => id), addRules });
  hasRules = addRules.length > 0;
}

/** The rule for attached tabs, and one for workers, which belong to no tab and could fetch for a page. */
function rulesFor({ host, regex }, at) {
  const condition = { regexFilter: regex, resourceTypes: EVERYTHING };
  const inTabs = { ...condition, tabIds: [...guarded] };
  const inWorkers = { ...condition, tabIds: [chrome.tabs.TAB_ID_NONE] };
  // A blocked site's own workers keep working for the user.
  if (/^[a-z0-9.-]+$/.test(host)) inWorkers.excludedInitiatorDomains = [host];
  return [inTabs, inWorkers].map((one, which) => ({ id: 2 * at + which + 1, action: { type: "block" }, condition: one }));
}
