// The daemon's state for the user: open approvals, clients by tab, grants, denials. Stored in session storage, so that the
// popup and the options page can follow it.

import * as link from "./link.js";

const EMPTY = { approvals: [], decided: [], grants: [], policy: null, drivers: [], open: [], standings: [], refused: [] };
const ANSWERS = ["once", "session", "agent", "always", "no"];
/** The most tabs whose standing is requested. */
const MOST_URLS = 60;
const URL_LETTERS = 1_000;

let current = EMPTY;
let loading = null;
/** The URLs whose standing was last requested on this connection. */
let shownUrls = "";
const watchers = [];

export function load() {
  loading ??= chrome.storage.session.get({ notifications: EMPTY }).then((kept) => (current = kept.notifications));
  return loading;
}

export const now = () => current;

/** Calls back after each change. */
export function onChange(watcher) {
  watchers.push(watcher);
}

/** Stores a notification of the daemon. */
export async function take(data) {
  await load();
  const list = (name) => (Array.isArray(data?.[name]) ? data[name] : []);
  // The clocks of daemon and browser differ, so the remaining time counts from here.
  const until = (one) => Date.now() + Number(one.seconds_left ?? 0) * 1000;
  await keep({
    approvals: list("approvals").map((one) => ({ ...one, until: until(one) })),
    decided: list("decided"),
    grants: list("grants"),
    policy: data?.policy ?? null,
    drivers: list("drivers"),
    open: list("open"),
    standings: list("standings"),
    refused: list("refused"),
  });
}

/** The daemon is disconnected: its approvals cannot be answered. */
export async function forget() {
  await load();
  shownUrls = "";
  await keep(EMPTY);
}

async function keep(notifications) {
  current = notifications;
  await chrome.storage.session.set({ notifications });
  for (const watcher of watchers) watcher();
}

/** Answers an approval. The next notification shows the outcome. */
export function answer({ question, answer: chosen }) {
  if (!ANSWERS.includes(chosen)) throw new Error("Unknown answer.");
  sendUserEvent({ type: "answer", approval: String(question), answer: chosen });
}

/** Revokes a grant. */
export function revoke({ grant }) {
  sendUserEvent({ type: "revoke", grant: String(grant) });
}

/** Requests what the policy allows in these shared tabs. The next notification has it. */
export function showStandings(urls) {
  const wanted = [...new Set(urls)].filter((url) => url.length <= URL_LETTERS).slice(0, MOST_URLS);
  if (!link.isOpen() || JSON.stringify(wanted) === shownUrls) return;
  shownUrls = JSON.stringify(wanted);
  sendUserEvent({ type: "show", urls: wanted });
}

/** What the policy allows at the URL of a shared tab; undefined when it is not known. */
export const standingOf = (url) => current.standings.find((one) => one.url === url);

function sendUserEvent(data) {
  if (!link.isOpen()) throw new Error("Tabwire is not connected.");
  link.sendEvent({ event: "user", data });
}

/** The first client of a target: its name, and what its tab group stands for. */
export const firstDriverOf = (target) => {
  const driver = current.drivers.find((one) => one.target === target);
  return driver?.who[0] ? { name: driver.who[0], group: driver.group || driver.who[0] } : null;
};

/** Names of the clients that use a target. */
export const driversOf = (target) => current.drivers.find((driver) => driver.target === target)?.who ?? [];
