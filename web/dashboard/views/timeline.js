// What happened, the latest first: filters over the whole log, a filmstrip, replay and export.
// @ts-check

import { button, make } from "../shared/element.js";
import { notice } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { failureText, saveFile } from "../requests.js";
import { createScreenshots } from "../screenshots.js";
import { clientOf, entryRow, isRefused } from "./entry.js";
import { createReplay } from "./replay.js";

/** @typedef {import("../dashboard.js").Row} Row */

const ALL = "";
const REFUSED = "refused";
const PAGE_ROWS = 100;
const MOST_ROWS = 3_000;
/** Rows of a replay. */
const REPLAYED = 200;
const TYPING_MS = 250;

/** End what the view has started. */
let [stop, forget] = [() => {}, () => {}];

/** @type {import("../dashboard.js").View} */
export const timeline = {
  id: "timeline",
  title: "Timeline",
  icon: "list",
  create(body, tools, { request }) {
    const [session, client, kind] = [choice("Session"), choice("Client"), choice("Kind")];
    const text = make("input", { type: "search", placeholder: "Site or action", "aria-label": "Site or action" });
    const fault = make("div", { role: "status" });
    const list = make("ul", { look: "panel entries" });
    const [none, empty] = [make("p", {}), make("div", { look: "empty", hidden: "" }, icon("list"))];
    empty.append(none);
    const more = button("Older rows", () => void older(), { look: "wide" });
    const screenshots = createScreenshots(request);
    const replay = createReplay(screenshots);
    forget = screenshots.clear;
    const play = button([icon("play"), "Replay"], () => void openReplay(), { look: "mini" });
    const save = button([icon("download"), "Export"], () => void exportSession(), { look: "mini" });
    tools.append(play, save);
    body.append(make("div", { look: "filters", role: "search", "aria-label": "Filters" }, session, client, kind, text), replay.element, fault, list, empty, more);
    /** @type {Row[]} */
    let rows = [];
    let hasMore = false;
    let [logFault, isOff] = ["", false];
    let readings = 0;
    const filters = () => ({ session: session.value, client: client.value, kind: kind.value === REFUSED ? "" : kind.value, text: text.value.trim(), refused: kind.value === REFUSED || null });
    /** @param {string} message */
    const warn = (message) => fault.replaceChildren(...(message === "" ? [] : [notice({ look: "warning", icon: "info", title: message })]));
    const draw = () => {
      showList(list, rows, ({ number }) => String(number), (row) => entryRow(row, { screenshotOf: screenshots.thumbnail, withDetails: true }));
      list.hidden = rows.length === 0;
      empty.hidden = rows.length > 0 || logFault !== "";
      none.textContent = Object.values(filters()).some(Boolean) ? "No row fits the filters." : isOff ? "The audit log is off." : "Nothing happened yet.";
      more.hidden = !hasMore || rows.length >= MOST_ROWS;
      for (const one of [play, save]) one.disabled = rows.length === 0;
      const name = chosenSession();
      play.title = name && `Replay the last ${REPLAYED} actions of session ${name}`;
      save.title = name && `Export session ${name}`;
    };
    const names = () =>
      request("row_names").then((found) => {
        offer(session, "every session", found.sessions);
        offer(client, "every client", found.clients);
        offer(kind, "every kind", [REFUSED, ...found.kinds]);
      }, () => {});
    /** Reads the first page again. */
    const reload = async () => {
      readings += 1;
      const reading = readings;
      try {
        const page = await request("rows", { ...filters(), limit: PAGE_ROWS });
        if (reading !== readings) return;
        [rows, hasMore] = [page.rows, page.more];
        warn(logFault);
      } catch (error) {
        warn(failureText(error));
      }
      draw();
    };
    const older = async () => {
      more.disabled = true;
      try {
        const page = await request("rows", { ...filters(), before: rows.at(-1)?.number, limit: PAGE_ROWS });
        [rows, hasMore] = [[...rows, ...page.rows], page.more];
      } catch (error) {
        warn(failureText(error));
      }
      more.disabled = false;
      draw();
    };
    /** The session that is chosen, or that of the latest row. */
    const chosenSession = () => session.value || rows.find(({ screenshot }) => screenshot)?.session.name || rows[0]?.session.name || "";
    const openReplay = async () => {
      try {
        const page = await request("rows", { session: chosenSession(), limit: REPLAYED });
        replay.open(chosenSession(), page.rows.toReversed(), page.more);
      } catch (error) {
        warn(failureText(error));
      }
    };
    const exportSession = async () => {
      try {
        const { file, html } = await request("export", { session: chosenSession() });
        saveFile([html], file, "text/html");
      } catch (error) {
        warn(failureText(error));
      }
    };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let typing;
    for (const control of [session, client, kind]) control.addEventListener("input", () => void reload());
    text.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => void reload(), TYPING_MS);
    });
    // The search opens the view with a text.
    const read = () => {
      const [view, given] = location.hash.slice(1).split("/");
      if (view !== "timeline" || given === undefined) return;
      text.value = decodeURIComponent(given);
      void reload();
    };
    addEventListener("hashchange", read);
    stop = () => removeEventListener("hashchange", read);
    void names();
    if (location.hash.includes("/")) read();
    else void reload();
    return (shown) => {
      if (isOff !== (shown.log?.on === false)) {
        isOff = !isOff;
        draw();
      }
      if (shown.logFault !== logFault) {
        logFault = shown.logFault;
        warn(logFault && `The log cannot be read: ${logFault}.`);
      }
      const newest = rows[0]?.number ?? 0;
      const added = shown.rows.filter((row) => row.number > newest && fits(row, filters()));
      if (added.length === 0 || readings === 0) return;
      if (added.some((row) => ![...session.options].some(({ value }) => value === row.session.name))) void names();
      rows = [...added, ...rows].slice(0, MOST_ROWS);
      draw();
    };
  },
  close() {
    stop();
    forget();
  },
};

/** @param {string} label */
const choice = (label) => make("select", { "aria-label": label });

/**
 * Makes a choice offer the given values, and keeps what is chosen.
 * @param {HTMLSelectElement} select
 * @param {string} all
 * @param {string[]} values
 */
function offer(select, all, values) {
  const wanted = [...new Set(values)];
  const chosen = select.value;
  select.replaceChildren(make("option", { value: ALL }, all), ...wanted.map((value) => make("option", { value }, value)));
  select.value = wanted.includes(chosen) ? chosen : ALL;
}

/**
 * Whether a new row fits the filters, as the daemon judges it.
 * @param {Row} row
 * @param {{session: string, client: string, kind: string, text: string, refused: boolean | null}} filters
 */
function fits(row, { session, client, kind, text, refused }) {
  if (session !== ALL && row.session.name !== session) return false;
  if (client !== ALL && clientOf(row) !== client) return false;
  if (kind !== ALL && row.effect !== kind) return false;
  if (refused && !isRefused(row)) return false;
  return `${row.origin ?? ""} ${row.action}`.toLowerCase().includes(text.toLowerCase());
}
