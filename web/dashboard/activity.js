// The column beside every view: open questions, what the user drives, and what happened lately.
// @ts-check

import { make, part, say } from "./shared/element.js";
import { icon } from "./shared/icons.js";
import { showList } from "./shared/keyed_list.js";
import { keepOnly } from "./shared/question.js";
import { clockTime } from "./shared/time.js";
import { live } from "./live/now.js";
import { createScreenshots } from "./screenshots.js";
import { actionIcon, entryFrame, entryRow, sessionKey } from "./views/entry.js";
import { showQuestions } from "./views/questions.js";

/** @typedef {import("./dashboard.js").Row} Row */
/** @typedef {import("./dashboard.js").State} State */
/** @typedef {{key: string, action: string, effect: string, text: string, time: string}} Waiting */

/** Rows that are shown at least, and rows after which the oldest are dropped. */
const ROWS = 30;
const MOST_ROWS = 60;
const WITH_SCREENSHOT = /^(screenshot|navigate|open)$/;

/** @param {import("./dashboard.js").Actions} actions */
export function createActivity(actions) {
  const [taken, waiting, list] = [part("taken"), part("waiting"), part("latest")];
  const screenshots = createScreenshots(actions.request);
  taken.append(icon("hand"), make("div", { look: "texts" }, make("strong", {}, "You have taken over this tab."), make("p", { look: "small" }, "What agents want of it waits until you give it back. Your keys and clicks are not logged.")));
  /** @type {{state: State, rows: Row[]} | null} */
  let last = null;
  /** The oldest row that is shown. */
  let oldest = 0;
  let newest = 0;
  let isOnlyStage = true;
  let [hasNewRows, dropsRows] = [false, false];

  /** Drops the oldest rows, in a frame without new ones: both in one frame would move the rows between them. */
  const dropRows = () => {
    if (hasNewRows) {
      hasNewRows = false;
      requestAnimationFrame(dropRows);
      return;
    }
    [dropsRows, oldest] = [false, 0];
    show();
  };

  /**
   * Shows the rows since the oldest.
   * @param {Row[]} rows
   */
  const showRows = (rows) => {
    if (!rows.some(({ number }) => number === oldest) || rows.length < ROWS) oldest = rows[Math.min(ROWS, rows.length) - 1]?.number ?? 0;
    const shown = rows.filter(({ number }) => number >= oldest);
    showList(list, shown, ({ number }) => String(number), (row) => entryRow(row, { screenshotOf: (one) => (WITH_SCREENSHOT.test(one.action) ? screenshots.thumbnail(one) : null) }));
    const [first, latest] = [shown.at(-1)?.number, shown[0]?.number];
    hasNewRows ||= latest !== newest;
    newest = latest ?? 0;
    if (shown.length > MOST_ROWS && !dropsRows) {
      dropsRows = true;
      requestAnimationFrame(dropRows);
    }
    say(part("shown-rows"), first === undefined ? "Audit log" : `Audit log · rows ${first.toLocaleString("en")}–${newest.toLocaleString("en")}`);
    part("no-latest").hidden = rows.length > 0 || !waiting.hidden;
  };

  const show = () => {
    if (!last) return;
    const { state, rows } = last;
    const { stage } = live.get();
    const session = stage && isOnlyStage ? stage.session : null;
    keepOnly(state.approvals);
    // The view of the questions has the same cards.
    const asked = location.hash.startsWith("#questions") ? [] : state.approvals;
    showQuestions(part("questions"), asked, actions);
    part("questions-section").hidden = asked.length === 0;
    taken.hidden = !stage?.isMine;
    part("scopes").hidden = stage === null;
    for (const one of part("scopes").querySelectorAll("button")) {
      one.setAttribute("aria-pressed", String((one.id === "scope-session") === isOnlyStage));
    }
    const waits = waitingRows(state, session);
    showList(waiting, waits, ({ key }) => key, ({ action, effect, text, time }) => entryFrame("waits", actionIcon(action, effect), [make("code", {}, action)], text, time ? make("time", {}, time) : null));
    waiting.hidden = waits.length === 0;
    showRows(session ? rows.filter((row) => sessionKey(row.session) === session || row.session.name === session) : rows);
  };
  for (const one of part("scopes").querySelectorAll("button")) {
    one.addEventListener("click", () => {
      isOnlyStage = one.id === "scope-session";
      show();
    });
  }
  live.subscribe(show);
  return (/** @type {{state: State, rows: Row[]}} */ shown) => {
    last = shown;
    show();
  };
}

/**
 * Actions that wait: for an answer, or for the user who drives the tab.
 * @param {State} state
 * @param {string | null} session
 * @returns {Waiting[]}
 */
function waitingRows({ approvals }, session) {
  const { stage } = live.get();
  const asked = approvals.filter((one) => !session || one.session === session);
  const rows = asked.map(({ id, agent, action, site, until, seconds_total }) => ({ key: id, action, effect: "navigate", text: `${agent} waits for an answer · ${site.replace(/^https?:\/\//, "")}`, time: clockTime(until - seconds_total * 1_000) }));
  // An action that asks is in the list already.
  const held = (stage?.running ?? []).filter((one) => one.is_waiting && !asked.some(({ action, agent }) => action === one.action && agent === one.agent));
  return [...rows, ...held.map(({ agent, action }, at) => ({ key: `${at} ${agent} ${action}`, action, effect: "act", text: stage?.isMine ? `${agent} waits for you` : `${agent} waits`, time: "" }))];
}
