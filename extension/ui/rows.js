// Rows of lists that popup and options share: grants and denials of commands.
// @ts-check

import { button, make } from "../shared/element.js";
import { ago, clockTime, duration } from "../shared/time.js";

/** @typedef {import("../shared/wire.d.ts").Grant} Grant */
/** @typedef {{when: number, what: string, agent: string, message: string, by: string}} Denial */

/**
 * A grant or denial, with a button to revoke it.
 * @param {Grant} grant
 * @param {(id: string) => void} revoke
 */
export function grantRow(grant, revoke) {
  const { id, site } = grant;
  const texts = make("span", { look: "texts" }, make("strong", { look: "wrap" }, site), make("span", { look: "quiet" }, grantText(grant)));
  return make("li", { look: "row" }, texts, button("Revoke", () => revoke(id), { look: "mini", label: `Revoke ${site}` }));
}

/** @param {Grant} grant */
function grantText({ stance, capabilities, term, given_at, agent }) {
  const parts = [stance === "deny" ? "denied to every agent" : `${capabilities.join(", ")} for ${agent ?? "every agent"}`];
  if (typeof term === "object" && "session" in term) parts.push(`session ${term.session}`);
  if (typeof term === "object" && "seconds_left" in term) parts.push(`${duration(term.seconds_left)} left`);
  parts.push(ago(given_at * 1000));
  return parts.join(" · ");
}

/**
 * A denied command: when, who and what, why.
 * @param {Denial} denial
 */
export function denialRow({ when, what, agent, message, by }) {
  const title = make("span", { look: "line" }, make("strong", { look: "cut" }, agent ? `${agent}: ${what}` : what), make("time", { look: "quiet small" }, clockTime(when)));
  return make("li", { look: "row" }, make("span", { look: "texts" }, title, make("span", { look: "quiet wrap" }, `Refused by ${by}: ${message}`)));
}
