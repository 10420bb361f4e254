// A group of steps: actions in the browser as the daemon ran them, and tools of the agent's own.
// @ts-check

import { make } from "../element.js";
import { icon } from "../icons.js";

/** @typedef {import("./model.js").Item} Item */

/** Actions by icon. @type {[string, RegExp][]} */
const ICONS = [
  ["click", /^(click|tap|hover|double_click|check|uncheck|select|drag|press_on)/],
  ["keyboard", /^(fill|type|press|keyboard|insert|paste)/],
  ["camera", /^(screenshot|record|pdf)/],
  ["globe", /^(navigate|open|go_|back|forward|reload|tab)/],
  ["terminal", /^(eval|execute|run)/],
  ["download", /^(download|upload|save)/],
  ["eye", /^(snapshot|read|get|find|list|console|network|wait|is_|query|count)/],
];

/**
 * @param {Item[]} items
 * @param {{isRunning: boolean, isOpen: boolean | undefined, onToggle: (isOpen: boolean) => void, screenshot: (number: number) => HTMLElement}} options
 */
export function workBlock(items, { isRunning, isOpen, onToggle, screenshot }) {
  const last = items[items.length - 1];
  const isBusy = isRunning && endOf(last) === null;
  const failed = items.filter((one) => endOf(one) === false).length;
  const mark = isBusy ? make("span", { look: "spin", "aria-hidden": "true" }) : icon(failed === items.length ? "ban" : "check");
  const time = items.reduce((sum, one) => sum + (one.milliseconds ?? 0), 0);
  const summary = make("summary", {}, mark, make("span", { look: "grow cut" }, isBusy ? textOf(last) : titleOf(items, failed)), make("time", {}, isBusy || time === 0 ? "" : timeText(time)), icon("right"));
  const made = make("details", { look: !isBusy && failed === items.length ? "work has-failed" : "work" }, summary, make("ol", { look: "steps" }, ...items.flatMap((one) => stepRows(one, screenshot))));
  made.open = isOpen ?? (isRunning && items.length > 1);
  summary.addEventListener("click", () => onToggle(!made.open));
  return made;
}

/** Whether a step succeeded; `null` while it runs. @param {Item} item */
function endOf(item) {
  if (item.item === "step") return item.succeeded ?? null;
  return item.status === "completed" ? true : item.status === "failed" ? false : null;
}

/**
 * @param {Item[]} items
 * @param {number} failed
 */
function titleOf(items, failed) {
  if (items.length === 1) return textOf(items[0]);
  const sites = new Set(items.map((one) => one.site).filter(Boolean));
  const where = sites.size === 1 ? ` on ${hostText([...sites][0])}` : "";
  return `${items.length} steps${where}${failed > 0 ? `, ${failed} failed` : ""}`;
}

/** @param {string} site */
const hostText = (site) => site.replace(/^https?:\/\//, "");

/** @param {Item} item */
function textOf(item) {
  if (item.item === "tool") return item.title ?? "A tool of the agent";
  const words = item.action.replaceAll("_", " ");
  return `${words[0].toUpperCase()}${words.slice(1)}${item.label ? ` “${item.label}”` : ""}`;
}

/**
 * @param {Item} item
 * @param {(number: number) => HTMLElement} screenshot
 */
function stepRows(item, screenshot) {
  const end = endOf(item);
  const name = item.item === "tool" ? "terminal" : (ICONS.find(([, fits]) => fits.test(item.action))?.[0] ?? "pulse");
  const text = make("span", { look: "cut", title: textOf(item) }, textOf(item), item.site && make("span", { look: "quiet" }, ` ${hostText(item.site)}`));
  const error = end === false && make("span", { look: "bad small" }, item.error ?? "failed");
  const rows = [make("li", {}, icon(end === false ? "ban" : name), text, error, make("time", {}, end === null ? "…" : item.milliseconds ? timeText(item.milliseconds) : ""))];
  if (item.screenshot) rows.push(make("li", { look: "shot" }, screenshot(item.screenshot)));
  return rows;
}

/** @param {number} milliseconds */
export function timeText(milliseconds) {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
