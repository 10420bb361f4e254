// Grants and denials, a check of what would be allowed, and the policy file with its fault.
// @ts-check

import { button, make } from "../shared/element.js";
import { notice, tag } from "../shared/components.js";
import { showList } from "../shared/keyed_list.js";
import { ago, duration } from "../shared/time.js";
import { failureText } from "../requests.js";

/** @typedef {import("../../shared/wire.d.ts").Grant} Grant */
/** @typedef {{capability: string, place: string, decision: string, decided_by: string, why?: string | null, remedy?: string | null}} Decided */

const SECOND_MS = 1_000;
const CAPABILITIES = ["act", "eval", "download", "upload", "carry", "cdp"];
const LOOKS = new Map([["allow", "good"], ["ask", "warning"], ["deny", "bad"]]);
const HOURS = [["", "always"], ["3600", "for one hour"], ["28800", "for 8 hours"], ["604800", "for a week"]];
const SESSION_END = "session";

/** @type {import("../dashboard.js").View} */
export const policy = {
  id: "policy",
  title: "Policy",
  icon: "rules",
  count: ({ policy: { fault } }) => (fault ? 1 : 0),
  urgent: true,
  create(body, _tools, { send, request }) {
    const fault = make("div", { role: "status" });
    const grants = make("ul", {});
    const none = make("p", { look: "quiet" }, "Nothing is granted.");
    const file = make("div", {});
    const granting = grantForm(request);
    const checking = checkForm(request);
    body.append(
      fault,
      make("div", { look: "panel" }, make("h3", {}, "Grants and denials"), grants, none, granting.element),
      make("div", { look: "panel" }, make("h3", {}, "What would be allowed?"), checking.element),
      make("div", { look: "panel" }, make("h3", {}, "Policy file"), file),
    );
    /** @param {Grant} grant */
    const grantRow = ({ id, site, stance, capabilities, agent, given_at, given_by, term }) => {
      const what = stance === "deny" ? "denied to every agent" : `${capabilities.join(", ")} for ${agent ?? "every agent"}${termText(term)}`;
      const texts = make("span", { look: "texts" }, make("strong", { look: "wrap" }, site), make("span", { look: "quiet wrap" }, `${what} · ${ago(given_at * SECOND_MS)} at ${given_by}`));
      return make("li", { look: "row" }, texts, stance === "deny" ? tag("denied", "bad") : null, button("Revoke", () => send({ type: "revoke", grant: id }), { look: "mini", label: `Revoke ${site}` }));
    };
    // A refused row leads here with what would have to be granted.
    const [, site, capability, agent] = location.hash.slice(1).split("/").map(decodeURIComponent);
    if (site) granting.fill(site, capability ?? "", agent ?? "");
    /** The policy as the file was last read for. */
    let readFor = "";
    return ({ state }) => {
      const { policy: summary } = state;
      const broken = summary.fault ?? "";
      if (fault.dataset.shown !== broken) {
        fault.dataset.shown = broken;
        fault.replaceChildren(...(broken ? [notice({ look: "warning", icon: "shield", title: "The policy file has a fault. Guarded sessions are refused until it is corrected.", text: broken })] : []));
      }
      // The seconds that are left change all the time, and are rounded for the list.
      showList(grants, state.grants.map(rounded), ({ id }) => id, grantRow);
      none.hidden = state.grants.length > 0;
      const names = state.sessions.map(({ project, name }) => (project && project !== "global" ? `${project}/${name}` : name));
      granting.offer(names);
      checking.offer(names);
      const now = JSON.stringify(summary);
      if (now === readFor) return;
      readFor = now;
      request("policy_file").then((found) => showFile(file, summary, found), (error) => file.replaceChildren(notice({ look: "warning", icon: "info", title: failureText(error) })));
    };
  },
};

/** @param {Grant} grant */
const rounded = (grant) => (typeof grant.term === "object" && "seconds_left" in grant.term ? { ...grant, term: { seconds_left: Math.ceil(grant.term.seconds_left / 60) * 60 } } : grant);

/** @param {import("../../shared/wire.d.ts").Term} term */
function termText(term) {
  if (term === "always") return "";
  return "session" in term ? ` in session ${term.session}` : ` for ${duration(term.seconds_left)} more`;
}

/**
 * A field with its label.
 * @param {string} label
 * @param {HTMLElement} control
 */
const field = (label, control) => make("label", { look: "field" }, make("span", { look: "small quiet" }, label), control);

/** @param {[string, string][] | string[][]} options */
const select = (options) => make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));

/** @param {import("../dashboard.js").Actions["request"]} request */
function grantForm(request) {
  const site = make("input", { required: "", placeholder: "https://example.com", autocomplete: "off", spellcheck: "false" });
  const agent = make("input", { placeholder: "every agent", autocomplete: "off" });
  const term = select(HOURS);
  const boxes = CAPABILITIES.map((name) => make("input", { type: "checkbox", value: name }));
  const what = make("fieldset", { look: "choices" }, make("legend", { look: "small quiet" }, "Beside reading"), ...boxes.map((box) => make("label", { look: "line" }, box, box.value)));
  const result = make("p", { role: "status", look: "small" });
  /** @param {Promise<any>} change */
  const report = (change) => change.then((entry) => { result.className = "small good"; result.textContent = entry.stance === "deny" ? `Everything is denied on ${entry.site}.` : `${entry.capabilities.join(", ")} is allowed on ${entry.site}.`; site.value = ""; }, (error) => { result.className = "small bad"; result.textContent = failureText(error); });
  const allow = () => {
    if (!site.reportValidity()) return;
    const ends = term.value.startsWith(`${SESSION_END} `) ? { session: term.value.slice(SESSION_END.length + 1) } : { seconds: term.value ? Number(term.value) : null };
    void report(request("policy_allow", { site: site.value, capabilities: boxes.filter((box) => box.checked).map((box) => box.value), agent: agent.value, ...ends }));
  };
  const deny = () => site.reportValidity() && void report(request("policy_deny", { site: site.value }));
  const element = make("form", { look: "form" }, field("Site", site), field("Agent", agent), field("How long", term), what, make("div", { look: "line" }, button("Allow", allow, { look: "strong" }), button("Deny to every agent", deny), result));
  element.addEventListener("submit", (event) => event.preventDefault());
  const fill = (/** @type {string} */ wanted, /** @type {string} */ capability, /** @type {string} */ who) => {
    [site.value, agent.value] = [wanted, who];
    for (const box of boxes) box.checked = box.value === capability;
    setTimeout(() => site.focus());
  };
  return { element, fill, offer: (/** @type {string[]} */ names) => offerSessions(term, names, HOURS, (name) => [`${SESSION_END} ${name}`, `while session ${name} runs`]) };
}

/**
 * Offers sessions after the fixed options, and keeps what is chosen.
 * @param {HTMLSelectElement} select
 * @param {string[]} names
 * @param {string[][]} fixed
 * @param {(name: string) => string[]} option
 */
function offerSessions(select, names, fixed, option) {
  const wanted = [...fixed, ...names.map(option)];
  if ([...select.options].map(({ value }) => value).join("\n") === wanted.map(([value]) => value).join("\n")) return;
  const chosen = select.value;
  select.replaceChildren(...wanted.map(([value, text]) => make("option", { value }, text)));
  select.value = wanted.some(([value]) => value === chosen) ? chosen : fixed[0][0];
}

/** @param {import("../dashboard.js").Actions["request"]} request */
function checkForm(request) {
  const url = make("input", { required: "", placeholder: "https://example.com/page", autocomplete: "off", spellcheck: "false" });
  const action = make("input", { required: "", value: "click", autocomplete: "off", spellcheck: "false" });
  const agent = make("input", { placeholder: "any", autocomplete: "off" });
  const profiles = [["guarded", "guarded session"], ["open", "open session"]];
  const where = select(profiles);
  const result = make("div", { role: "status" });
  const check = async () => {
    if (!url.reportValidity() || !action.reportValidity()) return;
    const place = where.value.startsWith(`${SESSION_END} `) ? { session: where.value.slice(SESSION_END.length + 1) } : { policy: where.value };
    try {
      const found = await request("policy_check", { url: url.value, action: action.value, agent: agent.value, ...place });
      result.replaceChildren(make("p", { look: "line" }, tag(found.decision, LOOKS.get(found.decision)), make("strong", { look: "wrap" }, `${found.action} on ${found.place}, ${found.policy} session`)), make("ul", {}, ...found.decisions.map(decidedRow)));
    } catch (error) {
      result.replaceChildren(notice({ look: "warning", icon: "info", title: failureText(error) }));
    }
  };
  const element = make("form", { look: "form" }, field("URL", url), field("Action or kind", action), field("Agent", agent), field("Session", where), make("div", { look: "line" }, button("Check", () => void check(), { look: "strong" })), result);
  element.addEventListener("submit", (event) => event.preventDefault());
  return { element, offer: (/** @type {string[]} */ names) => offerSessions(where, names, profiles, (name) => [`${SESSION_END} ${name}`, `session ${name}`]) };
}

/** @param {Decided} decided */
function decidedRow({ capability, decision, decided_by, why, remedy }) {
  const texts = make("span", { look: "texts" }, make("strong", {}, `${capability}: ${decision}, by ${decided_by}`), why ? make("span", { look: "quiet wrap" }, why) : null, remedy ? make("code", {}, remedy) : null);
  return make("li", { look: "row" }, texts);
}

/**
 * @param {HTMLElement} place
 * @param {import("../dashboard.js").PolicyState} summary
 * @param {{path: string, text?: string | null, fault?: string | null, fault_line?: number | null}} found
 */
function showFile(place, summary, { path, text, fault, fault_line }) {
  const facts = make("dl", { look: "table" }, make("dt", {}, "File"), make("dd", {}, make("code", {}, path)), make("dt", {}, "Other sites"), make("dd", {}, summary.asks_about_unlisted ? "the user is asked" : "refused"), make("dt", {}, "Rules"), make("dd", {}, summary.rules.length > 0 ? String(summary.rules.length) : "none"));
  const rules = make("ul", {}, ...summary.rules.map(({ site, allow, ask, deny }) => {
    const parts = [["allow", allow], ["ask", ask], ["deny", deny]].filter(([, list]) => list.length > 0).map(([word, list]) => `${word} ${/** @type {string[]} */ (list).join(", ")}`);
    return make("li", { look: "row" }, make("span", { look: "texts" }, make("strong", { look: "wrap" }, site), make("span", { look: "quiet wrap" }, parts.join(" · "))));
  }));
  const lines = (text ?? "").split("\n").map((line, index) => {
    const isFault = index + 1 === fault_line;
    const made = make("li", { look: isFault ? "fault" : "" }, make("code", {}, line || " "));
    if (isFault) made.append(make("span", { look: "small bad" }, `line ${fault_line}: ${fault}`));
    return made;
  });
  place.replaceChildren(facts, rules, text ? make("ol", { look: "source", tabindex: "0", "aria-label": "policy.toml" }, ...lines) : make("p", { look: "quiet small" }, fault ?? "There is no policy file. Its rules would be added to the grants."));
}
