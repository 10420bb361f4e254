// What the daemon tells for the user to see: questions that wait, who drives what, what is granted, what was refused.
// Kept in storage, so that views follow it while they are open. Knows nothing of how it is shown.

import * as link from "./link.js";

const NOTHING = { approvals: [], decided: [], grants: [], policy: null, drivers: [], refused: [] };
const ANSWERS = ["once", "session", "always", "no"];

let current = NOTHING;
let loading = null;
const watchers = [];

export function load() {
  loading ??= chrome.storage.session.get({ news: NOTHING }).then((kept) => (current = kept.news));
  return loading;
}

export const now = () => current;

/** Calls back after each change. */
export function onChange(watcher) {
  watchers.push(watcher);
}

/** Takes what the daemon tells. */
export async function take(told) {
  await load();
  const list = (name) => (Array.isArray(told?.[name]) ? told[name] : []);
  // Clocks differ; how long is left is counted from here.
  const until = (one) => Date.now() + Number(one.seconds_left ?? 0) * 1000;
  await keep({
    approvals: list("approvals").map((one) => ({ ...one, until: until(one) })),
    decided: list("decided"),
    grants: list("grants"),
    policy: told?.policy ?? null,
    drivers: list("drivers"),
    refused: list("refused"),
  });
}

/** The daemon is away: what it told cannot be answered any more. */
export async function forget() {
  await load();
  await keep(NOTHING);
}

async function keep(news) {
  current = news;
  await chrome.storage.session.set({ news });
  for (const watcher of watchers) watcher();
}

/** Answers a question. The daemon decides whether it still waits; the news after it tell. */
export function answer({ question, answer: chosen }) {
  if (!ANSWERS.includes(chosen)) throw new Error("There is no such answer.");
  say({ says: "answer", question: String(question), answer: chosen });
}

/** Takes a grant back. */
export function revoke({ grant }) {
  say({ says: "revoke", grant: String(grant) });
}

function say(word) {
  if (!link.isOpen()) throw new Error("Tabwire is not connected; nothing was said.");
  link.tell({ event: "user", with: word });
}

/** Who drives a target. */
export const driversOf = (target) => current.drivers.find((driver) => driver.target === target)?.who ?? [];
