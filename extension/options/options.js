// The options page: pairing, shared tabs, blocked sites, policy, denials, log.
// @ts-check

import { make, onlyUser, part, say } from "../shared/element.js";
import { commandLine } from "../shared/components.js";
import { brandIcon, icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { ANSWER_TEXTS, capabilityText } from "../shared/question.js";
import { createStore } from "../shared/store.js";
import { clockTime } from "../shared/time.js";
import { isBarrierOnly } from "../link/event_barrier.js";
import { connectionWords } from "../ui/connection.js";
import { createRequests } from "../ui/requests.js";
import { denialRow, grantRow } from "../ui/rows.js";

/** @typedef {import("../ui/connection.js").ConnectionState} ConnectionState */
/** @typedef {import("../shared/wire.d.ts").PolicySummary} PolicySummary */
/** @typedef {import("../shared/wire.d.ts").RuleSummary} RuleSummary */
/** @typedef {import("../shared/wire.d.ts").DecidedQuestion} DecidedQuestion */
/** @typedef {{when: number, sentence: string}} LogLine */
/**
 * @typedef {object} Rest
 * @property {{version?: string} | null} daemon
 * @property {"shared" | "all"} mode
 * @property {string[]} blocked
 * @property {boolean} files
 * @property {boolean} incognito
 * @property {PolicySummary | null} policy
 * @property {import("../ui/rows.js").Grant[]} grants
 * @property {DecidedQuestion[]} decided
 * @property {import("../ui/rows.js").Denial[]} refusals
 * @property {LogLine[]} log
 * @property {string} install
 * @property {number} droppedEvents
 */
/** @typedef {ConnectionState & Rest} OptionsState */

const modes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[name=mode]")]);
const sitesField = /** @type {HTMLTextAreaElement} */ (part("blocked"));
const store = createStore(/** @type {OptionsState | null} */ (null));
/** While Tabwire is not connected, an open page looks for it this often. */
const DIAL_MS = 2_000;
/** The list of sites as last shown. */
let shownSites = "";

const ask = createRequests((/** @type {OptionsState} */ state) => store.set(state));

/** @param {OptionsState | null} state */
function show(state) {
  if (!state) return;
  showConnection(state);
  for (const mode of modes) mode.checked = mode.value === state.mode;
  showAccess(state);
  showSites(state.blocked.join("\n"));
  showPolicy(state);
  fill("refusals", "refusal-count", state.refusals, (one) => `${one.when} ${one.what} ${one.message}`, denialRow);
  fill("log", "", state.log, (one) => `${one.when} ${one.sentence}`, logRow);
  part("version").textContent = chrome.runtime.getManifest().version;
  part("install").textContent = state.install.slice(0, 12);
  part("install").title = state.install;
  part("left-out").textContent = state.droppedEvents > 0 ? `, ${state.droppedEvents} events dropped` : "";
}

/**
 * Fills a list, its count, and the sentence of an empty one.
 * @template T
 * @param {string} name
 * @param {string} count
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 */
function fill(name, count, items, keyOf, create) {
  showList(part(name), items, keyOf, create);
  part(`no-${name}`).hidden = items.length > 0;
  if (count) part(count).textContent = items.length > 0 ? String(items.length) : "";
}

/** @param {OptionsState} state */
function showConnection(state) {
  const { connected, daemon, paused } = state;
  const words = connectionWords(state);
  part("connection").className = `tag ${words.look}`.trim();
  part("connection-word").textContent = words.word;
  const version = `Connected to Tabwire ${daemon?.version ?? ""}.`;
  say(part("pairing"), paused ? `${connected ? version : "Not connected."} Automation is paused; resume it in the popup.` : connected ? version : words.title || "Connecting…");
  part("host").textContent = connected ? hostSentence(state) : words.text;
  const command = part("command");
  if (command.dataset.shown !== words.command) {
    command.dataset.shown = words.command;
    command.replaceChildren(...(words.command ? [commandLine(words.command)] : []));
  }
  const connect = part("connect");
  const text = connected ? "Reconnect" : "Connect now";
  if (connect.textContent !== text) connect.replaceChildren(icon("retry"), text);
}

/** @param {ConnectionState} state */
function hostSentence({ host, manual }) {
  if (host.state === "found") return "Port and key come from the native host.";
  return manual ? "Paired by hand." : "";
}

/**
 * Shows the list of sites, unless the user has edited it.
 * @param {string} list
 */
function showSites(list) {
  if (document.activeElement !== sitesField && sitesField.value === shownSites) sitesField.value = list;
  if (sitesField.value === list) shownSites = list;
}

/** @param {OptionsState} state */
function showAccess({ files, incognito }) {
  part("files").textContent = files
    ? "Files can be shared: Chrome's “Allow access to file URLs” is on."
    : "Pages of files cannot be shared, and no file can be uploaded: Chrome's “Allow access to file URLs” is off.";
  part("incognito").textContent = incognito
    ? "Chrome allows private windows, but the extension does not run in them."
    : "The extension does not run in private windows.";
}

/** @param {OptionsState} state */
function showPolicy({ policy, grants, decided, connected }) {
  say(part("policy"), connected ? policySentence(policy) : "Not connected: Tabwire stores the policy.", policy?.fault ? "warning wrap" : "");
  part("policy-file").textContent = connected && policy ? `Rules are in ${policy.file}` : "";
  showList(part("rules"), policy?.rules ?? [], (rule) => JSON.stringify(rule), ruleRow);
  const revoke = (/** @type {string} */ grant) => void ask({ ask: "revoke", grant });
  fill("grants", "grant-count", grants, ({ id }) => id, (grant) => grantRow(grant, revoke));
  fill("decided", "decided-count", decided, ({ id }) => id, decidedRow);
}

/** @param {PolicySummary | null} policy */
function policySentence(policy) {
  if (!policy) return "";
  if (policy.fault) return policy.fault;
  const [asked, refused] = ["You are asked about every site that has no rule and no grant.", "Sites without a rule or a grant are refused."];
  return policy.asks_about_unlisted ? asked : refused;
}

/** @param {RuleSummary} rule */
function ruleRow({ site, allow, ask: asked, deny }) {
  /** @type {[string, string[]][]} */
  const lists = [["allow", allow], ["ask", asked], ["deny", deny]];
  const words = lists.filter(([, list]) => list.length > 0).map(([word, list]) => `${word} ${list.join(", ")}`);
  return make("li", { look: "row" }, make("span", { look: "texts" }, make("strong", { look: "wrap" }, site), make("span", { look: "quiet" }, words.join("; "))));
}

/** @param {DecidedQuestion} one */
function decidedRow({ agent, site, capability, answer, by, when }) {
  const title = make("span", { look: "line" }, make("strong", { look: "cut" }, site), make("time", { look: "quiet small" }, clockTime(when * 1000)));
  const text = `${agent}: ${capabilityText(capability)}, ${ANSWER_TEXTS.get(answer) ?? answer}, by ${by}`;
  return make("li", { look: "row" }, make("span", { look: "texts" }, title, make("span", { look: "quiet wrap" }, text)));
}

/** @param {LogLine} line */
function logRow({ when, sentence }) {
  return make("li", {}, make("time", { look: "quiet" }, clockTime(when)), make("span", {}, sentence));
}

async function keepOut() {
  const wanted = sitesField.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  part("keep-out").focus();
  // The saved list replaces the text.
  shownSites = sitesField.value;
  const { blocked } = await ask({ ask: "sites", blocked: wanted });
  const lost = wanted.length - blocked.length;
  say(part("sites-state"), lost > 0 ? `Saved ${blocked.length}; ${lost} lines are not a host, duplicates, or over the limit.` : `Saved ${blocked.length}.`, lost > 0 ? "warning" : "good");
}

/** @param {SubmitEvent} event */
function pair(event) {
  event.preventDefault();
  const value = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (part(id)).value;
  const manual = { port: Number(value("port")), key: value("key") };
  /** @type {HTMLFormElement} */ (part("manual")).reset();
  ask({ ask: "pair", manual });
}

part("brand").append(brandIcon());
for (const id of ["by-hand-icon", "limits-icon"]) part(id).append(icon("right"));
for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("nav a"))) link.prepend(icon(link.dataset.icon ?? ""));
part("connect").addEventListener("click", onlyUser(() => ask({ ask: "connect" })));
part("keep-out").addEventListener("click", onlyUser(keepOut));
part("forget").addEventListener("click", onlyUser(() => ask({ ask: "pair", manual: null })));
part("manual").addEventListener("submit", pair);
for (const mode of modes) mode.addEventListener("change", onlyUser(() => ask({ ask: "mode", mode: mode.value })));
store.subscribe(show);
chrome.storage.onChanged.addListener((changes) => void (isBarrierOnly(changes) || ask({ ask: "state" })));
setInterval(() => store.get()?.connected === false && ask({ ask: "dial" }), DIAL_MS);
ask({ ask: "dial" });
