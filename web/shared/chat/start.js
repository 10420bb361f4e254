// Before the first message: which agent, and what one could ask.
// @ts-check

import { button, make } from "../element.js";
import { commandLine } from "../components.js";
import { icon } from "../icons.js";
import { showList } from "../keyed_list.js";
import { commandIn } from "./transcript.js";

/** @typedef {import("./model.js").Agent} Agent */

/** @type {[string, string][]} */
const EXAMPLES = [
  ["eye", "What is on this tab, in three sentences?"],
  ["search", "Compare what I have open in these tabs"],
  ["keyboard", "Fill in this form, and stop before sending"],
];

/**
 * @param {{choose: (agent: string) => void, example: (text: string) => void, again: () => void}} actions
 */
export function createStart({ choose, example, again }) {
  const title = make("h1", {});
  const lead = make("p", { look: "quiet" });
  const list = make("ul", { look: "agents", "aria-label": "Agents" });
  const ideas = make("div", { look: "ideas" }, make("h2", { look: "cap" }, "For example"), ...EXAMPLES.map(([name, text]) => button([icon(name), make("span", { look: "cut" }, text)], () => example(text))));
  const look = button([icon("retry"), "Look again"], again, { look: "mini middle" });
  const missing = make("ul", { look: "agents", "aria-label": "Agents that are not installed" });
  const others = make("details", { look: "others" }, make("summary", {}, icon("right"), "Other agents"), missing);
  const element = make("div", { look: "start" }, make("div", {}, title, lead), list, ideas, others, look);
  return {
    element,
    /**
     * @param {Agent[] | null} agents
     * @param {string | null} chosen
     */
    update(agents, chosen) {
      const all = agents ?? [];
      const found = all.filter(({ program }) => program);
      const none = agents !== null && found.length === 0;
      title.textContent = none ? "No agent is installed" : "Choose an agent";
      lead.textContent = none ? "Install one of these with its command, then look again." : agents === null ? "Looking for agents on this computer…" : "It sees the tabs that you share, and asks before each new site.";
      look.hidden = found.length === all.length && !found.some(needsSignIn);
      ideas.hidden = found.length === 0;
      const rows = all.map((agent) => ({ agent, isChosen: agent.id === chosen }));
      const rest = rows.filter(({ agent }) => !agent.program);
      const show = (/** @type {HTMLElement} */ where, /** @type {typeof rows} */ items) => showList(where, items, ({ agent }) => agent.id, ({ agent, isChosen }) => row(agent, isChosen, choose));
      show(list, none ? rest : rows.filter(({ agent }) => agent.program));
      show(missing, none ? [] : rest);
      others.hidden = none || rest.length === 0;
    },
  };
}

/** @param {Agent} agent */
export const needsSignIn = (agent) => agent.signed_in === "needed";

/**
 * @param {Agent} agent
 * @param {boolean} isChosen
 * @param {(agent: string) => void} choose
 */
function row(agent, isChosen, choose) {
  const facts = agent.program ? [agent.version, agent.signed_in === "signed_in" ? "signed in" : needsSignIn(agent) ? "needs you to sign in" : "", needsSignIn(agent) ? agent.sign_in.replaceAll("\x60", "") : agent.note] : [agent.own_program ? (agent.missing ?? "") : "not installed"];
  const texts = make("span", { look: "texts" }, make("strong", {}, agent.name), make("span", { look: "quiet small" }, facts.filter(Boolean).join(" · ")));
  if (!agent.program) {
    return make("li", { look: "agent is-missing" }, make("div", { look: "line" }, avatar(agent.id, "plus"), texts), commandLine(agent.install));
  }
  const pick = button([avatar(agent.id), texts, ...(isChosen ? [icon("check")] : [])], () => choose(agent.id), { look: "pick" });
  pick.setAttribute("aria-pressed", String(isChosen));
  const made = make("li", { look: isChosen ? "agent is-chosen" : "agent" }, pick);
  const command = needsSignIn(agent) ? commandIn(agent.sign_in) : "";
  if (command) made.append(commandLine(command));
  return made;
}

/**
 * The sign of an agent.
 * @param {string} agent
 * @param {string} [name]
 */
export function avatar(agent, name = "agent") {
  const tint = [...agent].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 3;
  return make("span", { look: name === "agent" ? `avatar tint-${"abc"[tint]}` : "avatar", "aria-hidden": "true" }, icon(name));
}
