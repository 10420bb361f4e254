// Open questions of the policy, and the latest answers.
// @ts-check

import { button, make } from "../shared/element.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { ANSWER_TEXTS, questionCard } from "../shared/question.js";

/** @typedef {import("../dashboard.js").OpenQuestion} OpenQuestion */

/**
 * Shows the open questions as cards.
 * @param {HTMLElement} list
 * @param {OpenQuestion[]} approvals
 * @param {import("../dashboard.js").Actions} actions
 */
export function showQuestions(list, approvals, actions) {
  // The time left is no part of the item: a card keeps its element, and counts down by itself.
  const until = new Map(approvals.map((one) => [one.id, one.until]));
  const items = approvals.map((one) => ({ ...one, seconds_left: 0, until: 0 }));
  showList(list, items, ({ id }) => id, (one) => questionCard({ ...one, until: until.get(one.id) ?? 0 }, actions.answer));
}

/** @type {import("../dashboard.js").View} */
export const questions = {
  id: "questions",
  title: "Questions",
  icon: "shield",
  urgent: true,
  count: ({ approvals }) => approvals.length,
  create(body, tools, actions) {
    const open = make("ul", { look: "cards" });
    const empty = make("div", { look: "empty" }, icon("shield"), make("p", {}, "No agent waits for an answer."));
    const decided = make("ul", {});
    const answers = make("div", { look: "panel" }, make("h3", {}, "Answered"), decided);
    body.append(open, empty, answers);
    if ("Notification" in window && Notification.permission === "default") {
      const ask = button("Notify me", () => void Notification.requestPermission().then(() => ask.remove()), { look: "mini" });
      tools.append(ask);
    }
    return ({ state }) => {
      showQuestions(open, state.approvals, actions);
      empty.hidden = state.approvals.length > 0;
      answers.hidden = state.decided.length === 0;
      showList(decided, state.decided, ({ id }) => id, decidedRow);
    };
  },
};

/** @param {import("../../shared/wire.d.ts").DecidedQuestion} one */
function decidedRow({ agent, site, answer, by }) {
  const texts = make("span", { look: "texts" }, make("strong", { look: "wrap" }, site), make("span", { look: "quiet" }, `${agent} · ${ANSWER_TEXTS.get(answer) ?? answer} · ${by}`));
  return make("li", { look: "row" }, texts);
}
