// The user points at an element of a shared tab, for an agent: Chrome's own inspect mode marks the element under the pointer,
// and the next click picks it without reaching the page.

import * as debuggee from "./debuggee.js";
import * as sharing from "./sharing.js";

const DEADLINE_MS = 60_000;
const MOST_LETTERS = 200;
const colour = (r, g, b, a) => ({ r, g, b, a });
const HIGHLIGHT = { showInfo: true, showAccessibilityInfo: false, contentColor: colour(122, 63, 184, 0.25), borderColor: colour(122, 63, 184, 0.9) };

/** The tab at which the user points now, and whether the debugger is attached for that alone. */
let current = null;

/** Waits until the user has picked an element of a tab; `null` when there is none. */
export async function point(tab) {
  await end();
  const denial = sharing.denial(tab);
  if (denial) throw denial;
  const own = { tab, isAttachedForThis: !debuggee.attachedTabs().includes(tab), finish: () => {} };
  current = own;
  const picked = new Promise((resolve) => (own.finish = resolve));
  const timer = setTimeout(own.finish, DEADLINE_MS, null);
  try {
    if (own.isAttachedForThis) await debuggee.attach(tab);
    await ask(tab, "DOM.enable");
    await ask(tab, "Overlay.enable");
    await ask(tab, "Overlay.setInspectMode", { mode: "searchForNode", highlightConfig: HIGHLIGHT });
    await chrome.tabs.update(tab, { active: true });
    const node = await picked;
    return node === null ? null : await describe(tab, node);
  } finally {
    clearTimeout(timer);
    await ask(tab, "Overlay.setInspectMode", { mode: "none", highlightConfig: HIGHLIGHT }).catch(() => {});
    if (own.isAttachedForThis) await debuggee.detach(tab);
    if (current === own) current = null;
  }
}

/** Ends pointing without an element. */
export async function end() {
  current?.finish(null);
}

/** A client attaches to the tab: the debugger stays after pointing. */
export function keepAttached(tab) {
  if (current?.tab === tab) current.isAttachedForThis = false;
}

/** Whether a debugger event is about pointing; no other reader gets it. */
export function onEvent({ tabId }, method, params) {
  if (current === null || tabId !== current.tab) return false;
  if (method === "Overlay.inspectNodeRequested") current.finish(params.backendNodeId);
  else if (method === "Overlay.inspectModeCanceled") current.finish(null);
  else return false;
  return true;
}

/** The user stopped sharing the tab, or the debugger is gone. */
export function onGone(tab) {
  if (current?.tab === tab) current.finish(null);
}

const ask = (tab, method, params) => chrome.debugger.sendCommand({ tabId: tab }, method, params);

/** What the agent gets of an element. Role, name and selector come from the page. */
async function describe(tab, backendNodeId) {
  const [{ node }, { nodes }, { url }] = await Promise.all([
    ask(tab, "DOM.describeNode", { backendNodeId }),
    ask(tab, "Accessibility.getPartialAXTree", { backendNodeId, fetchRelatives: false }).catch(() => ({ nodes: [] })),
    chrome.tabs.get(tab),
  ]);
  const text = (value) => String(value ?? "").replace(/\s+/g, " ").trim().slice(0, MOST_LETTERS);
  const of = (name) => {
    const at = (node.attributes ?? []).indexOf(name);
    return at >= 0 && at % 2 === 0 ? node.attributes[at + 1] : "";
  };
  const tag = text(node.localName || node.nodeName.toLowerCase());
  const classes = of("class").split(/\s+/).filter(Boolean).slice(0, 3);
  const selector = of("id") ? `${tag}#${escaped(of("id"))}` : [tag, ...classes.map(escaped)].join(".");
  const found = nodes.find((one) => !one.ignored) ?? {};
  return { role: text(found.role?.value) || tag, name: text(found.name?.value), selector: text(selector), url: url ?? "" };
}

/** Workers have no `CSS.escape`. */
const escaped = (name) => name.replace(/[^\w-]/gu, (letter) => `\\${letter}`);
