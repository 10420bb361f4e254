// The popup: connection, open questions, sharing tabs, pausing.
// @ts-check

import { onlyUser, part } from "../shared/element.js";
import { notice } from "../shared/components.js";
import { brandIcon, icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { ANSWER_TEXTS, countDown, keepOnly, questionCard } from "../shared/question.js";
import { createStore } from "../shared/store.js";
import { isBarrierOnly } from "../link/event_barrier.js";
import { connectionWords } from "../ui/connection.js";
import { createRequests } from "../ui/requests.js";
import { denialRow, grantRow } from "../ui/rows.js";
import { showTabs } from "./tab_lists.js";

const SECOND_MS = 1_000;
/** Several changes at once are shown together. */
const GATHER_MS = 30;
const MOST_REFUSALS = 10;
const FIT_MS = 250;
/** While Tabwire is not connected, an open popup looks for it this often. */
const DIAL_MS = 2_000;

/** @typedef {import("../shared/question.js").OpenQuestion} OpenQuestion */
/** @typedef {import("../shared/wire.d.ts").DecidedQuestion} DecidedQuestion */
/** @typedef {import("../ui/connection.js").ConnectionState} ConnectionState */
/** @typedef {import("./tab_lists.js").TabsState} TabsState */
/** @typedef {{approvals: OpenQuestion[], decided: DecidedQuestion[], grants: import("../ui/rows.js").Grant[], refusals: import("../ui/rows.js").Denial[], failed?: string}} PolicyState */
/** @typedef {ConnectionState & TabsState & PolicyState} PopupState */

const store = createStore(/** @type {PopupState | null} */ (null));
/**
 * Questions that were answered here, until a notification shows the outcome.
 * @type {Map<string, string>}
 */
const answered = new Map();
let isGathering = false;
let fitting = 0;
/** @type {number | undefined} */
let windowId;

const send = createRequests((/** @type {PopupState} */ state) => store.set(state));

/** @param {Record<string, unknown>} request */
async function ask(request) {
  const state = await send(request);
  if (state.failed) showOutcome(state.failed, "warning");
}

/** @param {PopupState | null} state */
function show(state) {
  if (!state) return;
  showConnection(state);
  showQuestions(state);
  showTabs(state, ask);
  showGrants(state);
  showRefusals(state);
  showPause(state.paused);
  fitRoom();
}

/** @param {ConnectionState} state */
function showConnection(state) {
  const words = connectionWords(state);
  part("connection").className = `tag ${words.look}`.trim();
  const word = part("connection-word");
  if (word.textContent !== words.word) word.textContent = words.word;
  const standing = part("standing");
  standing.hidden = words.title === "";
  const shown = JSON.stringify(words);
  if (standing.hidden || standing.dataset.shown === shown) return;
  standing.dataset.shown = shown;
  standing.replaceChildren(notice({ look: words.look, icon: state.paused ? "pause" : "plug", ...pick(words) }));
}

/** @param {import("../ui/connection.js").ConnectionWords} words */
const pick = ({ title, text, command }) => ({ title, text, command });

/** @param {PolicyState} state */
function showQuestions({ approvals, decided }) {
  for (const one of decided) {
    const chosen = answered.get(one.id);
    if (chosen === undefined) continue;
    answered.delete(one.id);
    const outcome = `${one.site}: ${ANSWER_TEXTS.get(one.answer)}`;
    if (chosen === one.answer) showOutcome(`${outcome}.`, one.answer === "no" ? "" : "good");
    else showOutcome(`${outcome}, answered first by ${one.by}.`, "warning");
  }
  keepOnly(approvals);
  part("questions-section").hidden = approvals.length === 0;
  part("questions-title").textContent = approvals.length === 1 ? "1 question" : `${approvals.length} questions`;
  // The time left differs in every notification and must not make a card again.
  const items = approvals.map((one) => ({ ...one, seconds_left: 0, until: 0 }));
  const until = new Map(approvals.map((one) => [one.id, one.until]));
  showList(part("questions"), items, ({ id }) => id, (one) => questionCard({ ...one, until: until.get(one.id) ?? 0 }, answer));
}

/**
 * @param {string} question
 * @param {string} chosen
 */
function answer(question, chosen) {
  answered.set(question, chosen);
  ask({ ask: "answer", question, answer: chosen });
}

/**
 * @param {string} title
 * @param {string} look
 */
function showOutcome(title, look) {
  const outcome = part("outcome");
  outcome.hidden = false;
  outcome.replaceChildren(notice({ look, icon: look === "good" ? "check" : "info", title }));
}

/** @param {PolicyState & {connected: boolean}} state */
function showGrants({ grants, connected }) {
  part("grant-count").textContent = grants.length > 0 ? String(grants.length) : "";
  const revoke = (/** @type {string} */ grant) => ask({ ask: "revoke", grant });
  showList(part("grants"), grants, ({ id }) => id, (grant) => grantRow(grant, revoke));
  part("no-grants").hidden = grants.length > 0;
  part("no-grants").textContent = connected ? "Nothing is granted." : "Not connected.";
}

/** @param {PolicyState} state */
function showRefusals({ refusals }) {
  const shown = refusals.slice(0, MOST_REFUSALS);
  part("refusal-count").textContent = refusals.length > 0 ? String(refusals.length) : "";
  showList(part("refusals"), shown, (one) => `${one.when} ${one.what} ${one.message}`, denialRow);
  part("no-refusals").hidden = shown.length > 0;
}

/** Opens the side panel. Chrome allows it only in the click itself, so the window is known before. */
function openPanel() {
  if (windowId === undefined) return;
  chrome.sidePanel.open({ windowId }).then(() => window.close(), (error) => showOutcome(String(error?.message ?? error), "warning"));
}

/** @param {string | false} paused */
function showPause(paused) {
  const pause = part("pause");
  // At rest the strong button is "Share this tab"; while paused it is "Resume".
  pause.className = paused ? "strong" : "plain";
  const shown = paused ? "Resume" : "Pause everything";
  if (pause.textContent === shown) return;
  pause.replaceChildren(icon(paused ? "play" : "pause"), shown);
}

/**
 * On a small screen Chrome gives the popup less room than it wants. Then the middle scrolls, and the footer stays in sight.
 * Chrome grows a popup a moment after its content, so the room is taken only when it has not changed for a while.
 */
function fitRoom() {
  clearTimeout(fitting);
  fitting = setTimeout(() => {
    if (document.documentElement.scrollHeight > innerHeight) document.body.style.maxHeight = `${innerHeight}px`;
  }, FIT_MS);
}

part("brand").append(brandIcon());
part("options").append(icon("gear"), "Options");
part("chat").append(icon("chat"), "Chat");
part("chat").addEventListener("click", onlyUser(openPanel));
part("pause").addEventListener("click", onlyUser(() => ask({ ask: "pause", paused: !store.get()?.paused })));
store.subscribe(show);
addEventListener("resize", fitRoom);
for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", fitRoom);

/** The popup shows the worker's stored state: one refresh for several changes at once. */
chrome.storage.onChanged.addListener(async (changes) => {
  if (isGathering || isBarrierOnly(changes)) return;
  isGathering = true;
  await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  isGathering = false;
  ask({ ask: "state" });
});
for (const event of [chrome.tabs.onUpdated, chrome.tabs.onRemoved, chrome.tabs.onActivated]) {
  /** @type {chrome.events.Event<() => void>} */ (/** @type {unknown} */ (event)).addListener(() => ask({ ask: "state" }));
}
setInterval(() => countDown(part("questions")), SECOND_MS);
setInterval(() => store.get()?.connected === false && ask({ ask: "dial" }), DIAL_MS);
// A click before the window is known would open nothing.
chrome.windows.getCurrent().then(({ id }) => {
  windowId = id;
  part("chat").removeAttribute("disabled");
});
ask({ ask: "dial" });
