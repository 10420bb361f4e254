// The popup: connection, open approvals, sharing this tab, pausing.

import { button, fill, grantRow, make, denialRow, say } from "../ui/element.js";
import { isBarrierOnly } from "../link/event_barrier.js";
import { countDown, questionCards } from "./question.js";

const part = (id) => document.getElementById(id);
const SECOND_MS = 1_000;
const CANCELLED = "You pressed Cancel on the browser's bar. Those tabs are no longer shared, and automation is paused until you press Resume.";

/** Approvals that were answered here, until a notification shows the outcome. */
const answered = new Map();
let held = false;

async function ask(request) {
  const state = await chrome.runtime.sendMessage(request);
  show(state);
  if (state.failed) showOutcome(state.failed, "warning");
}

function show(state) {
  showConnection(state);
  showQuestions(state);
  showFront(state);
  showTabs(state);
  showGrants(state);
  showRefusals(state);
  const pause = part("pause");
  pause.textContent = state.paused ? "Resume" : "Pause everything";
  pause.onclick = () => ask({ ask: "pause", paused: !state.paused });
}

function showConnection({ connected, paused, host, manual, rejection }) {
  const connection = part("connection");
  const currentState = part("standing");
  const isPaired = host === "found" || manual;
  const away = rejection || (isPaired ? "Tabwire is not running. Any `tabwire` command starts it." : "Run `tabwire extension install`, or pair by hand in the options.");
  currentState.textContent = paused === "cancelled" ? CANCELLED : connected ? "" : away;
  currentState.hidden = currentState.textContent === "";
  if (paused) say(connection, "paused", "warning");
  else if (connected) say(connection, "connected", "good");
  else say(connection, rejection ? "not connected" : isPaired ? "not running" : "not paired", "warning");
}

function showQuestions({ approvals, decided }) {
  for (const one of decided.filter(({ id }) => answered.has(id))) {
    const chosen = answered.get(one.id);
    answered.delete(one.id);
    if (chosen === one.answer) showOutcome(`${one.site}: ${WORDS.get(one.answer)}.`, "good");
    else showOutcome(`${one.site}: ${WORDS.get(one.answer)}, answered first by ${one.by}.`, "warning");
  }
  part("questions-section").hidden = approvals.length === 0;
  const list = part("questions");
  // An unchanged card stays in place, so that no button moves under the pointer or loses the focus.
  const before = [...list.children].map((one) => one.dataset.question).join();
  if (before === approvals.map((one) => one.id).join()) return;
  list.replaceChildren(...questionCards(approvals, answer));
  approvals.forEach((one, at) => (list.children[at].dataset.question = one.id));
}

const WORDS = new Map([
  ["once", "allowed once"],
  ["session", "allowed for this session"],
  ["always", "allowed from now on"],
  ["no", "not allowed"],
]);

function answer(question, chosen) {
  answered.set(question, chosen);
  ask({ ask: "answer", question, answer: chosen });
}

function showOutcome(text, look) {
  const outcome = part("outcome");
  outcome.hidden = false;
  say(outcome, text, `notice ${look}`);
}

function showFront({ front, mode, paused }) {
  const share = part("share");
  const state = part("front-state");
  share.hidden = mode === "all";
  share.disabled = !front || front.restricted || front.blocked;
  share.textContent = front?.shared ? "Stop sharing this tab" : "Share this tab";
  share.onclick = () => ask({ ask: front.shared ? "unshare" : "share", tab: front.tab });
  say(state, frontSentence(front, mode, paused));
}

function frontSentence(front, mode, paused) {
  if (!front) return "No tab.";
  if (front.restricted) return restrictedSentence(front.url);
  if (front.blocked) return "You block this site; see the options.";
  if (paused) return "Everything is paused: agents cannot see it.";
  if (mode === "all") return "Every ordinary tab is shared; see the options.";
  if (front.shared === "agent") return `Opened for ${front.agent ?? "the agent"}.`;
  return front.shared ? "Shared: agents can read and use it." : "Not shared with agents.";
}

function restrictedSentence(url) {
  if (url.startsWith("file:")) return "A file: switch on “Allow access to file URLs” at chrome://extensions to share it.";
  return "Chrome keeps extensions out of this page.";
}

function showTabs({ tabs, paused, mode }) {
  const sentence = paused ? "Everything is paused." : "No tab is shared.";
  fill(part("tabs"), tabs.map((tab) => tabRow(tab, mode)), part("no-tabs"), sentence);
}

function tabRow({ tab, title, url, driven, restricted, drivers }, mode) {
  const name = title || url;
  const who = drivers.length > 0 ? drivers.join(", ") : "driven";
  const [text, look] = restricted ? ["off limits", "warning"] : driven ? [who, "good"] : ["idle", "quiet"];
  const item = make("li", { look: "row" }, make("span", { look: "title", title: url }, name), make("span", { look: `state ${look}`, title: text }, text));
  if (mode === "shared") item.append(button("Stop", () => ask({ ask: "unshare", tab }), { look: "small", label: `Stop sharing ${name}` }));
  return item;
}

function showGrants({ grants, connected }) {
  part("grant-count").textContent = grants.length > 0 ? String(grants.length) : "";
  const sentence = connected ? "Nothing is granted." : "Not connected.";
  const revoke = (grant) => ask({ ask: "revoke", grant });
  fill(part("grants"), grants.map((grant) => grantRow(grant, revoke)), part("no-grants"), sentence);
}

function showRefusals({ refusals }) {
  part("refusal-count").textContent = refusals.length > 0 ? String(refusals.length) : "";
  fill(part("refusals"), refusals.slice(0, 10).map(denialRow), part("no-refusals"), "Nothing was refused.");
}

/** The popup shows the worker's stored state: one refresh for several changes at once. */
chrome.storage.onChanged.addListener(async (changes) => {
  if (held || isBarrierOnly(changes)) return;
  held = true;
  await new Promise((resolve) => setTimeout(resolve, 30));
  held = false;
  ask({ ask: "state" });
});
setInterval(() => countDown(part("questions")), SECOND_MS);
ask({ ask: "state" });
