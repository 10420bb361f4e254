// The bar at the side: views, sessions with what happens in them, and the state of the daemon.
// @ts-check

import { make, part, say } from "./shared/element.js";
import { icon } from "./shared/icons.js";
import { showList } from "./shared/keyed_list.js";
import { live } from "./live/now.js";
import { verbOf } from "./live/states.js";
import { actingIn } from "./live/wall.js";
import { sizeText } from "./views/files.js";
import { sessionKey } from "./views/entry.js";

/** @typedef {import("./dashboard.js").State} State */
/** @typedef {import("./dashboard.js").View} View */
/** @typedef {import("./dashboard.js").Session} Session */

/** Views that the bar of a narrow window has room for. */
const NEAR = ["live", "questions", "chats", "timeline", "policy"];

/**
 * @param {View[]} views
 * @param {State} state
 * @param {string | undefined} current
 */
export function showViews(views, state, current) {
  const items = views.map((view) => ({ id: view.id, count: view.count?.(state) ?? 0, isCurrent: view.id === current }));
  showList(part("views"), items, ({ id }) => id, ({ id, count, isCurrent }) => {
    const view = /** @type {View} */ (views.find((one) => one.id === id));
    const link = make("a", { href: `#${id}`, ...(isCurrent ? { "aria-current": "page" } : {}) }, icon(view.icon), view.title);
    if (count > 0) link.append(make("span", { look: view.urgent ? "count warning" : "count" }, String(count)));
    return make("li", NEAR.includes(id) ? {} : { look: "far" }, link);
  });
}

/**
 * The sessions that run, and the foot.
 * @param {State} state
 */
export function showSessions(state) {
  const active = state.sessions.filter(({ active: isActive }) => isActive);
  const current = decodeURIComponent(location.hash.match(/^#live\/(.+)$/)?.[1] ?? "");
  const items = active.map((session) => {
    const key = sessionKey(session);
    const count = state.approvals.filter((one) => one.session === key).length;
    return { key, name: session.name, ...doing(session, key), count, isCurrent: key === current };
  });
  showList(part("sessions"), items, ({ key }) => key, ({ key, name, dot, text, count, isCurrent }) => {
    const texts = make("span", { look: "texts" }, make("strong", { look: "cut" }, name), make("span", { look: "small quiet cut" }, text));
    const link = make("a", { href: `#live/${encodeURIComponent(key)}`, ...(isCurrent ? { "aria-current": "true" } : {}) }, make("span", { look: `dot ${dot}` }), texts);
    if (count > 0) link.append(make("span", { look: "count warning", title: "open questions" }, String(count)));
    return make("li", {}, link);
  });
  part("sessions-section").hidden = items.length === 0;
  const memory = active.reduce((sum, { memory_bytes }) => sum + (memory_bytes ?? 0), 0);
  say(part("version"), [state.version, `${active.length} ${active.length === 1 ? "browser" : "browsers"}`, memory > 0 ? sizeText(memory) : ""].filter(Boolean).join(" · "));
}

/**
 * What happens in a session: its dot and a line.
 * @param {Session} session
 * @param {string} key
 */
function doing({ upstream, tabs, shared_tabs, clients, state }, key) {
  const { cards, stage } = live.get();
  const mine = stage?.session === key && stage.isMine;
  const [running] = stage?.session === key ? stage.running : [];
  const card = cards.find(({ session }) => session === key);
  if (mine) return { dot: "you", text: running ? `you · ${running.agent} waits` : "you" };
  if (card?.hold) return { dot: "ask", text: card.hold };
  if (card?.is_taken) return { dot: "you", text: "taken over" };
  const active = running ? [running.agent, running.action] : actingIn(card);
  if (active) return { dot: "drive", text: `${active[0]} · ${verbOf(active[1])}` };
  if (!["ready", "active"].includes(state)) return { dot: "", text: state };
  const where = upstream === "extension" ? `${shared_tabs} ${shared_tabs === 1 ? "tab" : "tabs"} shared` : `${tabs} ${tabs === 1 ? "tab" : "tabs"}`;
  return { dot: "on", text: clients > 1 ? `${clients - 1} connected · ${where}` : `idle · ${where}` };
}
