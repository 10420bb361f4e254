// An open approval, as a card with four answers.

import { button, make } from "../ui/element.js";

/** A card that has just appeared under the pointer ignores clicks, which were meant for something else. */
const DELAY_MS = 700;

const CAPABILITIES = new Map([
  ["read", "see and open pages of"],
  ["act", "click and type on"],
  ["eval", "run code in pages of"],
  ["download", "save files from"],
  ["upload", "give files of this machine to"],
  ["carry", "bring long texts to"],
  ["cdp", "drive by bare CDP"],
]);

const ANSWERS = [
  ["once", "Once"],
  ["session", "This session"],
  ["always", "Always"],
  ["no", "No"],
];

/** When each approval was first shown. */
const shown = new Map();

/** Cards for these approvals; `answer` is called with an approval's id and the answer. */
export function questionCards(questions, answer) {
  for (const id of [...shown.keys()]) if (!questions.some((one) => one.id === id)) shown.delete(id);
  return questions.map((question) => card(question, answer));
}

function card({ id, who, client, session, action, site, capability, why, until }, answer) {
  if (!shown.has(id)) shown.set(id, Date.now());
  const title = make(
    "p",
    { id: `question-${id}` },
    make("strong", {}, client || who),
    ` wants to ${CAPABILITIES.get(capability) ?? capability} `,
    make("strong", { look: "site" }, site),
  );
  const details = make("p", { look: "quiet" }, `${action} in session ${session}${client ? `, ${who}` : ""}. ${why}`);
  const left = make("p", { look: "quiet left" }, leftSentence(until));
  const buttons = ANSWERS.map(([word, text]) => button(text, () => choose(word), { look: word === "no" ? "strong" : "" }));
  const choose = (word) => {
    for (const one of buttons) one.disabled = true;
    answer(id, word);
  };
  const made = make("li", { look: "card", role: "group", "aria-labelledby": `question-${id}` }, title, details, make("div", { look: "answers" }, ...buttons), left);
  made.dataset.until = String(until);
  holdBack(buttons, shown.get(id) + DELAY_MS - Date.now());
  return made;
}

function holdBack(buttons, wait) {
  if (wait <= 0) return;
  for (const one of buttons) one.disabled = true;
  setTimeout(() => buttons.forEach((one) => (one.disabled = false)), wait);
}

/** Updates the remaining time. */
export function countDown(list) {
  for (const one of list.children) one.querySelector(".left").textContent = leftSentence(Number(one.dataset.until));
}

function leftSentence(until) {
  const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
  return `Denied in ${seconds} s without an answer.`;
}
