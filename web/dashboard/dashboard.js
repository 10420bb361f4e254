// The dashboard: what runs, what happens, what agents ask, and what they may do.
// @ts-check

import "./icons.js";
import { button, make, part, say } from "./shared/element.js";
import { notice } from "./shared/components.js";
import { brandIcon, icon } from "./shared/icons.js";
import { countDown } from "./shared/question.js";
import { createStore } from "./shared/store.js";
import { createActivity } from "./activity.js";
import { connect } from "./connection.js";
import { live } from "./live/now.js";
import { createRequests } from "./requests.js";
import { chats } from "./views/chats.js";
import { createSearch } from "./search.js";
import { showSessions, showViews } from "./sidebar.js";
import { clients } from "./views/clients.js";
import { files, recordings } from "./views/files.js";
import { health } from "./views/health.js";
import { policy } from "./views/policy.js";
import { questions } from "./views/questions.js";
import { sessions } from "./views/sessions.js";
import { timeline } from "./views/timeline.js";

const SECOND_MS = 1_000;
const MOST_ROWS = 1_000;

/** @typedef {import("../shared/question.js").OpenQuestion} OpenQuestion */
/** @typedef {import("../shared/wire.d.ts").Grant} Grant */
/** @typedef {{tab: string, shared?: boolean, current?: boolean, client?: string}} Tab */
/** @typedef {{name: string, project: string, active: boolean, state: string, upstream: string, policy: string, headed: boolean, browser_version?: string | null, memory_bytes?: number | null, tabs: number, shared_tabs: number, tab_list?: Tab[], crashed_tabs?: string[], clients: number, pending: number, events_dropped: number}} Session */
/** @typedef {{number: number, time: string, duration_ms: number, action: string, effect: string, decision: string, decided_by: string, reason?: string, result: string, origin?: string, message?: string, params?: unknown, changes?: unknown, tab?: string, run?: string, times?: number, screenshot?: boolean, session: {name: string, project?: string}, client: {name?: string, program?: string, transport?: string}}} Row */
/** @typedef {{asks_about_unlisted: boolean, rules: {site: string, allow: string[], ask: string[], deny: string[]}[], file: string, fault?: string | null}} PolicyState */
/** @typedef {{version: string, pid: number, port: number, started: number, lost_log_lines: number, sessions: Session[], approvals: OpenQuestion[], decided: import("../shared/wire.d.ts").DecidedQuestion[], grants: Grant[], policy: PolicyState}} State */
/** @typedef {{on: boolean, bytes: number, lost_rows: number}} Log */
/** @typedef {{state: State | null, rows: Row[], logFault: string, log: Log | null}} Shown */
/** @typedef {{send: (message: Record<string, unknown>) => unknown, answer: (approval: string, chosen: string) => unknown, request: (name: string, params?: Record<string, unknown>) => Promise<any>}} Actions */
/** @typedef {{id: string, title: string, icon: string, count?: (state: State) => number, urgent?: boolean, create: (body: HTMLElement, tools: HTMLElement, actions: Actions) => (shown: Shown & {state: State}) => void, close?: () => void}} View */

/** @type {View[]} */
const VIEWS = [sessions, questions, chats, timeline, policy, clients, files, recordings, health];

const shown = createStore(/** @type {Shown} */ ({ state: null, rows: [], logFault: "", log: null }));
const requests = createRequests((message) => actions.send(message));
/** @type {Actions} */
const actions = { send: () => false, answer: (approval, answer) => actions.send({ type: "answer", approval, answer }), request: requests.request };
/** @type {{id: string, update: (shown: Shown & {state: State}) => void} | null} */
let current = null;

const showActivity = createActivity(actions);
const openSearch = createSearch(VIEWS, () => shown.get().state);

/** @param {any} message */
function receive(message) {
  const now = shown.get();
  if (message.type === "response") requests.receive(message);
  if (message.type === "log") shown.set({ ...now, logFault: message.fault ?? "" });
  // A new log has begun.
  if (message.type === "reset") shown.set({ ...now, rows: [] });
  if (message.type === "entries") shown.set({ ...now, rows: [...message.rows.toReversed(), ...now.rows].slice(0, MOST_ROWS) });
  if (message.type === "state") {
    const until = (/** @type {OpenQuestion} */ one) => Date.now() + one.seconds_left * SECOND_MS;
    const approvals = message.state.approvals.map((/** @type {OpenQuestion} */ one) => ({ ...one, until: until(one) }));
    notify(approvals, now.state?.approvals ?? []);
    shown.set({ ...now, state: { ...message.state, approvals } });
    if (message.state.holds) live.set({ ...live.get(), holds: message.state.holds });
  }
}

/** @param {Shown} now */
function show(now) {
  const { state, rows, logFault, log } = now;
  if (!state) return;
  const { approvals } = state;
  say(part("no-latest"), logFault ? "The log cannot be read." : log?.on === false ? "The audit log is off." : "Nothing happened yet.");
  document.title = approvals.length > 0 ? `(${approvals.length}) Tabwire` : "Tabwire";
  showViews(VIEWS, state, current?.id);
  showSessions(state);
  showBanner(now);
  showActivity({ state, rows });
  current?.update({ ...now, state });
}

/**
 * What is wrong with the daemon as a whole, above every view.
 * @param {Shown} now
 */
function showBanner({ state, logFault, log }) {
  const fault = state?.policy.fault;
  const lost = log?.lost_rows ?? 0;
  const texts = [
    fault && current?.id !== "policy" ? { icon: "shield", title: "The policy file has a fault. Guarded sessions are refused until it is corrected.", text: fault } : null,
    logFault ? { icon: "list", title: `The log cannot be read: ${logFault}.`, text: "Agents continue, but their actions are not shown here." } : null,
    log && !log.on ? { icon: "list", title: "The audit log is off.", text: "The timeline and the activity stay empty. The environment variable TABWIRE_AUDIT_LOG turns it off." } : null,
    lost > 0 ? { icon: "list", title: `The log is behind: ${lost} ${lost === 1 ? "row was" : "rows were"} lost.`, text: "The disk was too slow for them." } : null,
  ].filter((text) => text !== null);
  const key = JSON.stringify(texts);
  const banner = part("banner");
  if (banner.dataset.shown === key) return;
  banner.dataset.shown = key;
  banner.replaceChildren(...texts.map((text) => notice({ look: "warning", ...text })));
}

/** Shows the view that the address names. */
function open() {
  const view = VIEWS.find(({ id }) => id === location.hash.slice(1).split("/")[0]) ?? VIEWS[0];
  if (current?.id === view.id) return;
  const isFirst = current === null;
  VIEWS.find(({ id }) => id === current?.id)?.close?.();
  const [body, tools] = [part("view-body"), part("view-tools")];
  body.replaceChildren();
  tools.replaceChildren();
  part("view-tags").replaceChildren();
  part("view").className = view.id === "live" ? "is-live" : "";
  say(part("view-title"), view.title);
  current = { id: view.id, update: view.create(body, tools, actions) };
  show(shown.get());
  if (!isFirst) part("view-title").focus();
}

/**
 * Shows a desktop notification for each new question while the page is hidden, if the user has allowed that.
 * @param {OpenQuestion[]} now
 * @param {OpenQuestion[]} before
 */
function notify(now, before) {
  if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  const known = new Set(before.map(({ id }) => id));
  for (const { id, agent, site } of now.filter((one) => !known.has(one.id))) {
    new Notification(`${agent} waits for your answer`, { body: site, tag: id });
  }
}

/** @param {import("./connection.js").LineState} line */
function report({ connected, locked, ended }) {
  if (connected) requests.request("health").then(({ log }) => shown.set({ ...shown.get(), log }), () => {});
  else requests.fail();
  part("connection-dot").className = `dot ${connected ? "on" : "ask"}`;
  say(part("connection"), connected ? "connected" : locked ? "locked" : "connection lost", connected ? "screen-reader" : "");
  part("view").hidden = locked;
  part("activity").hidden = locked;
  part("locked").hidden = !locked;
  part("search").hidden = locked;
  document.body.classList.toggle("is-stale", !connected && !locked);
  part("stale").hidden = connected || locked;
  const title = ended ? "The key of this page has ended." : "The dashboard is locked.";
  const text = ended ? "A key ends with the daemon, after 12 hours, and a minute after its page was closed. This command opens the dashboard again:" : "Its URL works once, and ends with the daemon. This command opens it again:";
  if (locked) part("locked").replaceChildren(notice({ icon: "lock", title, text, command: "tabwire dashboard" }));
  else if (!connected) part("stale").replaceChildren(notice({ look: "warning", icon: "plug", title: "The connection to the daemon is lost.", text: "What you see is as it was then. The page connects again by itself." }));
}

part("brand").append(brandIcon());
part("log-icon").append(icon("list"));
const search = button([icon("search"), make("span", { look: "only-narrow" }, "More")], openSearch, { look: "plain only-icon mini", label: "Search (Ctrl K)" });
part("search").append(search);
shown.subscribe(show);
live.subscribe(() => {
  const { state } = shown.get();
  if (state) showSessions(state);
});
setInterval(() => {
  countDown(part("questions"));
  countDown(part("view-body"));
}, SECOND_MS);
actions.send = await connect(receive, report);
addEventListener("hashchange", () => {
  open();
  const { state, rows } = shown.get();
  if (!state) return;
  showSessions(state);
  showActivity({ state, rows });
});
open();
