// A question of the policy, as a card with its answers and the time that is left.
// @ts-check

import { button, make } from "./element.js";
import { icon } from "./icons.js";

/** A card that has just appeared under the pointer ignores clicks for so long. */
const DELAY_MS = 700;

/** The name of a session that was made for one MCP client or chat. It means nothing to its user. */
const TEMPORARY = /(^|\/)(mcp|chat)-[0-9a-f]{12}$/;

/** How the policy writes every site. */
const EVERY_SITE = "*";

/** The answer whose meaning is shown until the user points at another one. */
const FIRST_ANSWER = "once";

/** @type {Map<string, [string, string]>} */
const CAPABILITIES = new Map([
  ["read", ["see and open", "pages of"]],
  ["act", ["click and type", "on"]],
  ["eval", ["run code", "in pages of"]],
  ["download", ["save files", "from"]],
  ["upload", ["give files of this machine", "to"]],
  ["carry", ["bring long texts", "to"]],
  ["cdp", ["drive by bare CDP", "pages of"]],
]);

/** What an answer means, for messages and lists. */
export const ANSWER_TEXTS = new Map([
  ["once", "allowed once"],
  ["session", "allowed for this session"],
  ["agent", "always allowed for this agent"],
  ["always", "always allowed for every agent"],
  ["no", "not allowed"],
]);

/**
 * What each answer permits, and for how long.
 * @param {string} word
 * @param {OpenQuestion} question
 */
function meaning(word, { agent, site, session, capability }) {
  const [verb, where] = CAPABILITIES.get(capability) ?? [capability, "on"];
  const what = `${verb} ${where} ${site === EVERY_SITE ? "every site" : site}`;
  switch (word) {
    case "once":
      return "Permits this one action. The next one asks again.";
    case "session":
      return `Permits agents to ${what} while ${TEMPORARY.test(session) ? "its session" : `session ${session}`} runs.`;
    case "agent":
      return `Permits ${agent} to ${what} in every session, until you revoke it.`;
    case "always":
      return `Permits every agent to ${what}, until you revoke it.`;
    default:
      return "This action fails. Nothing is stored.";
  }
}

/**
 * The capability in plain words.
 * @param {string} capability
 */
export const capabilityText = (capability) => CAPABILITIES.get(capability)?.[0] ?? capability;

/**
 * When each question was first shown.
 * @type {Map<string, number>}
 */
const shown = new Map();

/** Cards so far. A question can have several on one page, each with ids of its own. */
let cards = 0;

/** @typedef {import("./wire.d.ts").Question & {until: number}} OpenQuestion */

/**
 * The card of a question.
 * @param {OpenQuestion} question
 * @param {(id: string, answer: string) => void} answer
 */
export function questionCard(question, answer) {
  const { id, agent, site, capability, until } = question;
  if (!shown.has(id)) shown.set(id, Date.now());
  const [verb, where] = CAPABILITIES.get(capability) ?? [capability, "on"];
  cards += 1;
  const name = `question-${id}-${cards}`;
  const title = make("p", { id: name, look: "grow wrap" }, make("strong", {}, agent), " wants to ", make("strong", {}, verb), ` ${where} `, make("span", { look: "site" }, site === EVERY_SITE ? "every site" : site));
  const reason = make("p", { look: "reason wrap" }, question.why);
  const means = make("p", { look: "meaning", "aria-hidden": "true" }, meaning(FIRST_ANSWER, question));
  const buttons = answerButtons(question, (word) => {
    for (const one of buttons) one.disabled = true;
    answer(id, word);
  }, (text) => (means.textContent = text));
  const left = make("p", { look: "time-left" }, make("progress", { max: String(question.seconds_total), "aria-hidden": "true" }), make("span", {}));
  const card = make("li", { look: "question", role: "group", "aria-labelledby": name }, make("header", {}, icon("shield"), make("div", { look: "grow" }, title, reason)), details(question), make("div", { look: "answers" }, ...buttons), means, left);
  card.dataset.until = String(until);
  countDownCard(card);
  holdBack(buttons, shown.get(id) ?? 0);
  return card;
}

/**
 * Forgets questions that are gone.
 * @param {OpenQuestion[]} questions
 */
export function keepOnly(questions) {
  for (const id of [...shown.keys()]) if (!questions.some((one) => one.id === id)) shown.delete(id);
}

/**
 * @param {OpenQuestion} question
 * @param {(word: string) => void} choose
 * @param {(meaning: string) => void} explain called with the meaning of the answer that the user looks at
 */
function answerButtons(question, choose, explain) {
  /** @type {[string, string, string][]} */
  const answers = [
    ["once", "Once", ""],
    ["session", "This session", ""],
    ["no", "No", "strong"],
    ["agent", `Always for ${question.agent}`, "half"],
    ["always", "Always for every agent", "half"],
  ];
  return answers.map(([word, text, look]) => {
    const made = button([make("span", {}, text)], () => choose(word), { look });
    const means = meaning(word, question);
    made.title = `${text}: ${means}`;
    made.setAttribute("aria-description", means);
    for (const name of ["pointerenter", "focus"]) made.addEventListener(name, () => explain(means));
    return made;
  });
}

/** @param {OpenQuestion} question */
function details({ action, session, who }) {
  const facts = [
    ["Action", action],
    ["Session", session],
    ["Sent by", who],
  ];
  const list = make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
  const summary = make("summary", {}, icon("right"), `${action} in ${TEMPORARY.test(session) ? "a session of its own" : `session ${session}`}`);
  return make("details", {}, summary, list);
}

/**
 * Disables the answers of a card that has just appeared: a click was meant for what was there before.
 * @param {HTMLButtonElement[]} buttons
 * @param {number} since when it was first shown
 */
export function holdBack(buttons, since) {
  const wait = since + DELAY_MS - Date.now();
  if (wait <= 0) return;
  for (const one of buttons) one.disabled = true;
  setTimeout(() => buttons.forEach((one) => (one.disabled = false)), wait);
}

/**
 * Updates the time that is left on every card of a list.
 * @param {HTMLElement} list
 */
export function countDown(list) {
  for (const card of list.children) if (card instanceof HTMLElement) countDownCard(card);
}

/** @param {HTMLElement} card */
function countDownCard(card) {
  const seconds = Math.max(0, Math.round((Number(card.dataset.until) - Date.now()) / 1000));
  const [bar, text] = [card.querySelector("progress"), card.querySelector(".time-left span")];
  if (bar) bar.value = seconds;
  if (text) text.textContent = `${seconds} s, then no`;
}
