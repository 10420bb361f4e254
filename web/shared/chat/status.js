// The agent's plan, and the fill of its context with the cost.
// @ts-check

import { make } from "../element.js";
import { icon } from "../icons.js";

/** From here on a notice says that the context is nearly full. */
const NEARLY_FULL = 0.85;

/** @typedef {import("./model.js").Chat} Chat */

let isPlanOpen = false;

/**
 * The latest plan, above the composer while there is something left of it.
 * @param {Chat | null} chat
 */
export function planBlock(chat) {
  const plan = chat?.items.findLast(({ item }) => item === "plan");
  const entries = /** @type {{text: string, status: string}[]} */ (plan?.entries ?? []);
  const done = entries.filter(({ status }) => status === "completed").length;
  if (entries.length === 0 || done === entries.length || chat?.state === "offline") return [];
  const now = entries.find(({ status }) => status === "in_progress") ?? entries.find(({ status }) => status !== "completed");
  const summary = make("summary", {}, icon("list"), make("span", { look: "grow cut" }, make("strong", {}, `${done} of ${entries.length}`), ` ${now?.text ?? ""}`), icon("right"));
  const rows = entries.map(({ text, status }) => make("li", { look: status === "completed" ? "quiet" : "" }, icon(status === "completed" ? "check" : status === "in_progress" ? "right" : "more"), make("span", { look: "wrap" }, text)));
  const made = make("details", { look: "plan" }, summary, make("ol", { look: "steps" }, ...rows));
  made.open = isPlanOpen;
  made.addEventListener("toggle", () => (isPlanOpen = made.open));
  return [made];
}

/**
 * @param {Chat | null} chat
 * @returns {(Node | string)[]}
 */
export function usageLine(chat) {
  if (!chat) return [make("span", { look: "grow" }), "Enter sends, Shift+Enter is a new line"];
  const { usage } = chat;
  if (!usage || !(usage.size > 0)) return ["Context: unavailable", make("span", { look: "grow" }), ...costOf(usage)];
  const share = Math.min(1, usage.used / usage.size);
  const isFull = share > NEARLY_FULL;
  const gauge = make("meter", { min: "0", max: "1", high: String(NEARLY_FULL), value: String(share), "aria-label": "Context" });
  const text = isFull ? `Context ${Math.round(share * 100)} % full: begin a new chat soon` : `${short(usage.used)} of ${short(usage.size)} tokens`;
  return [gauge, make("span", { look: isFull ? "warning" : "" }, text), make("span", { look: "grow" }), ...costOf(usage)];
}

/** @param {import("./model.js").Usage | null | undefined} usage */
function costOf(usage) {
  if (!usage?.cost) return [];
  const { amount, currency } = usage.cost;
  try {
    return [new Intl.NumberFormat("en", { style: "currency", currency }).format(amount)];
  } catch {
    return [`${amount.toFixed(2)} ${currency}`];
  }
}

/** @param {number} count */
const short = (count) => (count < 1000 ? String(count) : count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`);
