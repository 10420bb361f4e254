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

/** Tabs that the rules are for. */
const guarded = new Set();
/** One change at a time, the newest state last. */
let last = Promise.resolve();
/** Whether Chrome may have rules of ours: they outlive the worker. */
let hasRules = true;

/** Blocks these tabs from blocked sites; resolves when Chrome does so, and rejects when it does not. */
export function guard(...tabs) {
  for (const tab of tabs) guarded.add(tab);
  return renew();
}

/** Lets a tab load everything again. */
export function release(tab) {
  guarded.delete(tab);
  return renew();
}

/** Has Chrome apply the list as it is now. */
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

/** The rule for driven tabs; and one for workers, which belong to no tab and could fetch for a page. */
function rulesFor({ host, regex }, at) {
  const condition = { regexFilter: regex, resourceTypes: EVERYTHING };
  const inTabs = { ...condition, tabIds: [...guarded] };
  const inWorkers = { ...condition, tabIds: [chrome.tabs.TAB_ID_NONE] };
  // A blocked site's own workers go on for the user.
  if (/^[a-z0-9.-]+$/.test(host)) inWorkers.excludedInitiatorDomains = [host];
  return [inTabs, inWorkers].map((one, which) => ({ id: 2 * at + which + 1, action: { type: "block" }, condition: one }));
}
