// A row of the audit log: its icon, what was done to what, who did it, and how it ended.
// @ts-check

import { make } from "../shared/element.js";
import { icon } from "../shared/icons.js";
import { ago, clockTime } from "../shared/time.js";

/** @typedef {import("../dashboard.js").Row} Row */
/** @typedef {"read" | "act" | "go" | "you" | "waits" | "bad"} Kind */

/** Results that come from the policy. */
const BY_POLICY = ["POLICY_DENIED", "APPROVAL_DENIED", "APPROVAL_TIMEOUT"];

/** Icons by parts of an action's name; the first that fits. */
const ICONS = /** @type {[RegExp, string][]} */ ([
  [/screenshot|pdf|record/, "camera"],
  [/fill|type|press|select_option|insert|keyboard/, "keyboard"],
  [/^(eval|execute|raw)|script/, "code"],
  [/download|upload|file|har|trace|state/, "download"],
  [/click|hover|drag|tap|check|mouse|scroll|focus/, "click"],
  [/connect|cdp/, "plug"],
  [/^(tab|session|close|context)/, "tabs"],
]);

/** What the user did, in words. */
const BY_USER = new Map([
  ["take_over", "took over the tab"],
  ["give_back", "gave the tab back"],
  ["pause", "paused agents"],
  ["stop", "stopped agents"],
  ["resume", "let agents go on"],
  ["approval_answer", "answered a question"],
  ["policy_allow", "allowed a site"],
  ["policy_deny", "denied a site"],
  ["policy_revoke", "revoked a grant"],
  ["client_disconnect", "disconnected a client"],
]);

/** What happened without a request, in words; the client or the page did it. */
const EVENTS = new Map([
  ["mcp_connect", "connected by MCP"],
  ["mcp_disconnect", "has left"],
  ["cdp_connect", "connected by CDP"],
  ["cdp_disconnect", "has left"],
  ["chrome_connect", "connected as a Chrome launcher"],
  ["extension_connect", "The extension connected"],
  ["extension_disconnect", "The extension disconnected"],
  ["question_asked", "A question was asked"],
  ["question_expired", "A question ended without an answer"],
  ["tab_opened", "A tab was opened"],
  ["tab_closed", "A tab was closed"],
  ["navigated", "The page changed"],
  ["download_began", "A download began"],
  ["tab_crashed", "A page crashed"],
  ["browser_lost", "The browser is gone"],
  ["events_dropped", "Events were dropped"],
]);

const USER_ICONS = new Map([["pause", "pause"], ["stop", "stop"], ["resume", "play"], ["client_disconnect", "plug"]]);

/** @param {Row} row */
export const isRefused = ({ result }) => result !== "ok";

/** @param {Row} row */
export const clientOf = ({ client }) => client.name ?? client.program ?? "";

/** A chat names its agent with its own id, which means nothing to its user. */
const CHAT_ID = /:[0-9a-f]{12}$/;

/** @param {Row} row */
const shownClient = (row) => clientOf(row).replace(CHAT_ID, "");

/**
 * The name of a session as addresses have it: the project is left out for global ones.
 * @param {{name: string, project?: string}} session
 */
export const sessionKey = ({ name, project }) => (project && project !== "global" ? `${project}/${name}` : name);

/** @param {Row} row */
const isByUser = ({ effect, action }) => (effect === "user" || effect === "policy") && BY_USER.has(action);

/** Effects of rows that no action of an agent wrote. */
const NO_ACTIONS = ["connect", "policy", "user", "page", "fault"];

/**
 * Whether a row is an action of an agent.
 * @param {Row} row
 */
export const isAction = ({ effect }) => !NO_ACTIONS.includes(effect);

/**
 * @param {Row} row
 * @returns {Kind}
 */
export function kindOf(row) {
  if (isRefused(row) || row.effect === "fault") return "bad";
  if (isByUser(row)) return "you";
  if (row.effect === "navigate" || row.effect === "page") return "go";
  return row.effect === "act" || row.effect === "eval" ? "act" : "read";
}

/**
 * @param {string} action
 * @param {string} effect
 */
export function actionIcon(action, effect) {
  if (effect === "navigate") return "globe";
  if (effect === "policy") return "shield";
  if (effect === "fault") return "ban";
  return ICONS.find(([name]) => name.test(action))?.[1] ?? (effect === "read" ? "eye" : effect === "act" ? "click" : "agent");
}

/** @param {Row} row */
function iconOf(row) {
  if (isRefused(row)) return "ban";
  if (row.effect === "policy" && isByUser(row)) return USER_ICONS.get(row.action) ?? "shield";
  if (row.effect === "user") return USER_ICONS.get(row.action) ?? "hand";
  return actionIcon(row.action, row.effect);
}

/** @param {unknown} value */
const textIn = (value) => (typeof value === "string" && value !== "…" ? value : "");

/**
 * What an action was done to: an element with its reference, or an address.
 * @param {Row} row
 */
function objectOf({ params, changes, origin, effect }) {
  const given = /** @type {Record<string, unknown>} */ (params ?? {});
  const found = /** @type {Record<string, unknown>} */ (changes ?? {});
  const [target, url, name] = [textIn(given.target), textIn(given.url), textIn(found.name)];
  if (name) return { quoted: name, plain: "", detail: [textIn(found.role), target].filter(Boolean).join(" · ") };
  if (url) return { quoted: "", plain: placeText(url, effect === "navigate" ? "" : origin), detail: "" };
  if (/^[a-z]*\d*e\d+$/.test(target)) return { quoted: "", plain: target, detail: "" };
  return { quoted: target, plain: "", detail: "" };
}

/**
 * The path of a URL of this origin, else the URL without its scheme.
 * @param {string} url
 * @param {string} [origin]
 */
function placeText(url, origin) {
  if (origin && url.startsWith(`${origin}/`)) return url.slice(origin.length);
  return url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

/** @param {Row} row */
function detailOf(row) {
  const { message, origin, action, effect, params, session, result } = row;
  const given = /** @type {Record<string, unknown>} */ (params ?? {});
  if (BY_POLICY.includes(result)) return refusalOf(row);
  if (isByUser(row)) return [textIn(given.answer), textIn(given.site), textIn(given.agent), session.name === "default" && action !== "take_over" ? "" : session.name].filter(Boolean).join(" · ");
  if (message) return [shownClient(row), message].filter(Boolean).join(": ");
  const place = (origin ?? "").replace(/^https?:\/\//, "");
  return [shownClient(row), objectOf(row).detail, effect === "navigate" ? session.name : place || session.name].filter(Boolean).join(" · ");
}

/**
 * Why the policy refused, and the way to the grant that would allow it.
 * @param {Row} row
 */
function refusalOf(row) {
  const given = /** @type {Record<string, unknown>} */ (row.params ?? {});
  const site = row.origin || originOf(textIn(given.url));
  if (!site || !row.reason) return row.message ?? "";
  const href = `#policy/${[site, row.reason, row.client.name ?? ""].map(encodeURIComponent).join("/")}`;
  return [make("span", {}, "no grant allows "), make("strong", {}, row.reason), ` on ${site.replace(/^https?:\/\//, "")} · `, make("a", { href }, "allow…")];
}

/** @param {string} url */
function originOf(url) {
  try {
    return new URL(url).origin;
  } catch {
    return "";
  }
}

/** @param {number} duration */
export const durationText = (duration) => (duration < 1_000 ? `${Math.round(duration)} ms` : `${(duration / 1_000).toFixed(1)} s`);

/**
 * The frame of a row: icon, two lines, and a time.
 * @param {Kind} kind
 * @param {string} image
 * @param {(Node | string | null)[]} title
 * @param {string | (Node | string)[]} detail
 * @param {Node | null} end
 */
export function entryFrame(kind, image, title, detail, end) {
  const tile = make("span", { look: "tile" }, icon(image));
  const texts = make("div", { look: "texts" }, make("p", { look: "what" }, ...title), make("p", { look: "detail" }, ...(typeof detail === "string" ? [detail] : detail)));
  return make("li", { look: `entry ${kind}` }, tile, texts, end);
}

/**
 * @param {Row} row
 * @param {{screenshotOf?: (row: Row) => HTMLElement | null, withDetails?: boolean}} [options]
 */
export function entryRow(row, { screenshotOf, withDetails = false } = {}) {
  const { time, duration_ms, action } = row;
  const kind = kindOf(row);
  const { quoted, plain } = objectOf(row);
  const at = clockTime(Date.parse(time));
  const shown = !isAction(row) || withDetails ? at : durationText(duration_ms);
  const event = isAction(row) ? undefined : EVENTS.get(action);
  const title = isByUser(row) && !isRefused(row)
    ? [make("strong", {}, "You"), ` ${BY_USER.get(action)}`]
    : event && (!isRefused(row) || row.effect === "fault")
    ? [/^[a-z]/.test(event) ? make("strong", {}, `${shownClient(row)} `) : null, event, plain ? ` · ${plain}` : null]
    : [make("code", {}, action), kind === "bad" ? make("span", { look: "bad" }, BY_POLICY.includes(row.result) ? " refused" : " failed") : null, " ", quoted ? make("q", {}, quoted) : plain];
  const made = entryFrame(kind, iconOf(row), title, detailOf(row), make("time", { datetime: time, title: `${at}, ${ago(Date.parse(time))}, ${durationText(duration_ms)}` }, shown));
  const screenshot = row.screenshot ? screenshotOf?.(row) : null;
  if (screenshot) made.querySelector(".texts")?.append(screenshot);
  if (withDetails) made.querySelector(".texts")?.append(details(row));
  return made;
}

/**
 * Everything that the log has of a row.
 * @param {Row} row
 */
export function rowFacts(row) {
  const { number, decision, decided_by, reason, effect, duration_ms, result, message, params, changes, tab, run, times } = row;
  /** @type {[string, string][]} */
  const facts = [
    ["Row", String(number)],
    ["Session", sessionKey(row.session)],
    ["Client", clientOf(row)],
    ["Kind", effect],
    ["Decision", `${decision} by ${decided_by}${reason ? ` (${reason})` : ""}`],
    ["Result", result],
    ["Duration", `${Math.round(duration_ms * 10) / 10} ms${times && times > 1 ? `, ${times} times` : ""}`],
    ["Tab", tab ?? ""],
    ["Run", run ?? ""],
    ["Message", message ?? ""],
    ["Parameters", textOf(params)],
    ["Changes", textOf(changes)],
  ];
  return make("dl", { look: "table facts-of-row" }, ...facts.filter(([, text]) => text !== "").flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
}

/** @param {unknown} value */
const textOf = (value) => (value === undefined || value === null ? "" : JSON.stringify(value, null, 2));

/** @param {Row} row */
function details(row) {
  const made = make("details", {}, make("summary", { look: "quiet" }, "Details"));
  // Made when it is opened: a list has hundreds of rows.
  made.addEventListener("toggle", () => made.open && made.childElementCount === 1 && made.append(rowFacts(row)), { once: false });
  return made;
}
