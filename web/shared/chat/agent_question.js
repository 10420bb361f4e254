// A question of the agent itself: a permission, or a form. Tabwire's policy does not decide it.
// @ts-check

import { button, make } from "../element.js";
import { icon } from "../icons.js";
import { holdBack } from "../question.js";

/** @typedef {import("./model.js").Item} Item */
/** @typedef {{choice?: string, values?: Record<string, unknown>, decline?: boolean}} Answer */

/** When each question was first shown. @type {WeakMap<Item, number>} */
const shown = new WeakMap();

/**
 * @param {Item} item
 * @param {string} agent
 * @param {(answer: Answer) => void} answer
 * @returns {HTMLElement}
 */
export function agentQuestion(item, agent, answer) {
  if (item.outcome) return outcome(item);
  const once = (/** @type {Answer} */ given) => {
    for (const one of made.querySelectorAll("button")) one.disabled = true;
    answer(given);
  };
  const made = item.kind === "form" ? form(item, agent, once) : permission(item, agent, once);
  if (!shown.has(item)) shown.set(item, Date.now());
  holdBack([...made.querySelectorAll("button")], shown.get(item) ?? 0);
  return made;
}

/**
 * @param {Item} item
 * @param {string} agent
 * @param {(answer: Answer) => void} answer
 */
function permission(item, agent, answer) {
  const { tool, choices } = item;
  const input = tool.input && tool.input !== tool.title && make("details", {}, make("summary", {}, icon("right"), "Details"), make("pre", { tabindex: "0" }, tool.input));
  const buttons = choices.map((/** @type {{id: string, name: string, kind: string}} */ one) => button([make("span", {}, one.name)], () => answer({ choice: one.id }), { look: one.kind.startsWith("reject") ? "strong" : "" }));
  const note = make("p", { look: "small" }, "This is outside the tabs: Tabwire’s policy does not cover it.");
  return card(item, "terminal", [make("strong", {}, agent), " asks to run ", make("code", { look: "site" }, nameOf(tool))], input, note, make("div", { look: "answers free" }, ...buttons));
}

/**
 * @param {Item} item
 * @param {string} agent
 * @param {(answer: Answer) => void} answer
 */
function form(item, agent, answer) {
  const fields = item.fields.map(field);
  const send = () => {
    const given = fields.map((/** @type {ReturnType<typeof field>} */ one) => [one.name, one.read()]).filter((/** @type {[string, unknown]} */ [, value]) => value !== undefined);
    answer({ values: Object.fromEntries(given) });
  };
  return card(item, "info", [make("strong", {}, agent), `: ${item.message}`], ...fields.map((/** @type {ReturnType<typeof field>} */ one) => one.element), make("div", { look: "answers free" }, button("Send", send), button("Decline", () => answer({ decline: true }), { look: "strong" })));
}

/** @param {{title?: string}} tool */
const nameOf = (tool) => tool.title ?? "a tool of its own";

/**
 * @param {Item} item
 * @param {string} name
 * @param {(Node | string)[]} title
 * @param {(Node | string | null | false)[]} content
 */
function card({ question }, name, title, ...content) {
  const id = `asked-${question}`;
  return make("section", { look: "question", role: "group", "aria-labelledby": id }, make("header", {}, icon(name), make("p", { id, look: "grow wrap" }, ...title)), ...content);
}

/** @param {any} one */
function field(one) {
  const options = (/** @type {string[]} */ values) => values.map((value) => make("option", { value }, value));
  const input = one.type === "choice" ? make("select", {}, ...options(one.choices)) : make("input", { type: one.type === "boolean" ? "checkbox" : one.type === "text" ? "text" : "number" });
  const read = () => {
    if (one.type === "boolean") return /** @type {HTMLInputElement} */ (input).checked;
    if (input.value === "") return one.required ? "" : undefined;
    return one.type === "number" || one.type === "integer" ? Number(input.value) : input.value;
  };
  return { name: one.name, read, element: make("label", { look: "field small" }, make("span", {}, one.title || one.name), input) };
}

/** @param {Item} item */
function outcome({ outcome: end, kind, tool, choices, message }) {
  const chosen = end.answered === undefined ? null : (choices ?? []).find((/** @type {{id: string}} */ one) => one.id === end.answered);
  const isYes = chosen ? !chosen.kind.startsWith("reject") : end.answered === "submitted";
  const words = end.answered === undefined ? "No longer asked" : chosen?.name ?? end.answered;
  const what = kind === "form" ? message : nameOf(tool);
  return make("p", { look: `outcome small ${isYes ? "good" : ""}` }, icon(isYes ? "check" : "ban"), make("span", { look: "wrap" }, `${words}: ${what}`));
}
