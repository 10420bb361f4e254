// The state of the daemon: versions, memory, queues, dropped events, and what the doctor finds.
// @ts-check

import { button, make } from "../shared/element.js";
import { notice, tag } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { ago } from "../shared/time.js";
import { failureText } from "../requests.js";
import { sizeText } from "./files.js";

/** @typedef {{code: string, verdict: string, sentence: string, remedy?: string | null, fixed: boolean}} Finding */

const REFRESH_MS = 3_000;
const LOOKS = new Map([["ok", "good"], ["wrong", "bad"], ["warning", "warning"]]);

/** @type {import("../dashboard.js").View} */
export const health = {
  id: "health",
  title: "Health",
  icon: "pulse",
  create(body, _tools, { request }) {
    const facts = make("dl", { look: "table" });
    const sessions = make("ul", {});
    const findings = make("ul", {});
    const status = make("p", { look: "quiet", role: "status" }, "The checks of tabwire doctor start and change nothing.");
    const run = button([icon("retry"), "Run the checks"], () => void check(), { look: "mini" });
    body.append(make("div", { look: "panel" }, facts), make("div", { look: "panel" }, make("h3", {}, "Browsers"), sessions), make("div", { look: "panel" }, make("div", { look: "line" }, make("h3", { look: "grow" }, "Doctor"), run), status, findings));
    const check = async () => {
      run.disabled = true;
      status.textContent = "The checks run.";
      try {
        const { findings: all } = await request("doctor");
        const wrong = all.filter((/** @type {Finding} */ { verdict }) => verdict === "wrong").length;
        status.textContent = wrong > 0 ? `${wrong} of ${all.length} checks found something wrong.` : `${all.length} checks found nothing wrong.`;
        findings.replaceChildren(...all.map(findingRow));
      } catch (error) {
        status.replaceChildren(notice({ look: "warning", icon: "info", title: failureText(error) }));
      }
      run.disabled = false;
    };
    /** @type {any} */
    let known = null;
    let asked = 0;
    return ({ state, logFault }) => {
      const active = state.sessions.filter((one) => one.active);
      const sum = (/** @type {(one: import("../dashboard.js").Session) => number} */ of) => active.reduce((total, one) => total + of(one), 0);
      const draw = () => {
        /** @type {[string, string][]} */
        const rows = [
          ["Version", state.version],
          ["Process", `${state.pid}, started ${ago(state.started)}`],
          ["Port", `127.0.0.1:${state.port}`],
          ["Memory of the daemon", known?.memory_bytes ? sizeText(known.memory_bytes) : "unknown"],
          ["Clients", String(known?.clients ?? sum((one) => one.clients))],
          ["Pending commands", String(sum((one) => one.pending))],
          ["Running calls", String(known?.calls ?? 0)],
          ["Dropped events", String(sum((one) => one.events_dropped))],
          ["Event streams", String(known?.event_streams ?? 0)],
          ["Lost log lines", String(state.lost_log_lines)],
          ["Audit log", logText(known?.log, logFault)],
          ["Trail", known ? `${known.trail.screenshots} screenshots, ${sizeText(known.trail.bytes)}` : ""],
        ];
        facts.replaceChildren(...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
      };
      sessions.replaceChildren(...(active.length > 0 ? active.map(browserRow) : [make("li", { look: "quiet" }, "No browser runs.")]), ...(known?.extensions ?? []).map(extensionRow));
      draw();
      if (Date.now() - asked < REFRESH_MS) return;
      asked = Date.now();
      request("health").then((found) => { known = found; draw(); }, () => {});
    };
  },
};

/**
 * @param {{on: boolean, bytes: number, lost_rows: number} | undefined} log
 * @param {string} fault
 */
function logText(log, fault) {
  if (fault) return `cannot be read: ${fault}`;
  if (!log) return "";
  if (!log.on) return "off";
  return log.lost_rows > 0 ? `${sizeText(log.bytes)}, ${log.lost_rows} rows were lost` : sizeText(log.bytes);
}

/** @param {import("../dashboard.js").Session} session */
function browserRow({ name, browser_version, pending, events_dropped, clients }) {
  const facts = [browser_version ?? "browser", `${clients} ${clients === 1 ? "client" : "clients"}`, `${pending} pending`, `${events_dropped} events dropped`];
  return make("li", { look: "row" }, make("span", { look: "texts" }, make("strong", {}, name), make("span", { look: "quiet wrap" }, facts.join(" · "))));
}

/** @param {{browser: string, product: string, version: string, dropped_events: number}} extension */
function extensionRow({ browser, product, version, dropped_events }) {
  return make("li", { look: "row" }, make("span", { look: "texts" }, make("strong", {}, browser), make("span", { look: "quiet wrap" }, `${product} · extension ${version} · ${dropped_events} events dropped`)));
}

/** @param {Finding} finding */
function findingRow({ verdict, sentence, remedy }) {
  const texts = make("span", { look: "texts" }, make("span", { look: "wrap" }, sentence), remedy ? make("span", { look: "quiet wrap" }, remedy) : null);
  return make("li", { look: "row finding" }, tag(verdict, LOOKS.get(verdict)), texts);
}
