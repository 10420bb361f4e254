// The track below the stage: the latest actions of a session as bars, and a slider that looks back at one of them.
// @ts-check

import { make, say } from "../shared/element.js";
import { clockTime } from "../shared/time.js";
import { kindOf } from "../views/entry.js";

/** @typedef {import("../dashboard.js").Row} Row */
/** @typedef {import("../views/entry.js").Kind} Kind */

const BARS = 40;
/** Shortest and longest time that a bar or a gap stands for. Otherwise a pause of minutes would hide everything else. */
const LENGTHS_MS = [250, 2_000];
const GAPS_MS = [120, 1_200];
const RATE_MS = 1_000;
/** @type {[Kind, string][]} */
const LEGEND = [["read", "read"], ["act", "act"], ["go", "navigate"], ["you", "you"], ["waits", "waits"], ["bad", "failed"]];

/** @param {number} value @param {number[]} bounds */
const within = (value, [low, high]) => Math.max(low, Math.min(high, value));

/**
 * @param {(row: Row | null) => void} look called with the row that the user looks back at, or none for now
 */
export function createTrack(look) {
  const bars = make("span", { look: "bars", "aria-hidden": "true" });
  const slider = make("input", { type: "range", min: "0", max: "0", step: "1", value: "0", "aria-label": "Moment" });
  const [first, last] = [make("time", { look: "quiet" }), make("time", { look: "now-time" }, "now")];
  const numbers = make("span", { look: "numbers quiet" });
  const legend = make("p", { look: "legend" }, ...LEGEND.map(([kind, text]) => make("span", {}, make("i", { look: kind }), text)), make("span", { look: "grow" }), numbers);
  const root = make("div", { look: "scrub", hidden: "" }, make("div", { look: "line" }, first, make("span", { look: "track" }, bars, slider), last), legend);
  /** @type {Row[]} */
  let rows = [];
  let [waits, shown, isBack] = [false, "", false];
  /** @type {{at: number, bytes: number, delay: number}[]} */
  let frames = [];

  const draw = () => {
    /** @type {{kind: Kind, length: number, gap: number}[]} */
    const parts = rows.map((row, at) => {
      const before = rows[at - 1];
      const gap = before ? Date.parse(row.time) - Date.parse(before.time) - before.duration_ms : 0;
      return { kind: kindOf(row), length: within(row.duration_ms, LENGTHS_MS), gap: before ? within(gap, GAPS_MS) : 0 };
    });
    if (waits) parts.push({ kind: "waits", length: LENGTHS_MS[1], gap: GAPS_MS[0] });
    const total = parts.reduce((sum, { length, gap }) => sum + length + gap, 0) || 1;
    let from = 0;
    bars.replaceChildren(...parts.map(({ kind, length, gap }, at) => {
      const bar = make("i", { look: isBack && at === Number(slider.value) ? `${kind} chosen` : kind });
      bar.style.left = `${((from + gap) / total) * 100}%`;
      bar.style.width = `${(length / total) * 100}%`;
      from += gap + length;
      return bar;
    }));
  };
  const showTime = () => {
    const row = isBack ? rows[Number(slider.value)] : null;
    const text = row ? clockTime(Date.parse(row.time)) : "now";
    say(last, text);
    slider.setAttribute("aria-valuetext", row ? `${text}: ${row.action}` : "now");
  };
  const setBack = (/** @type {boolean} */ back) => {
    isBack = back;
    root.classList.toggle("is-back", isBack);
    draw();
    showTime();
    look(isBack ? (rows[Number(slider.value)] ?? null) : null);
  };
  slider.addEventListener("input", () => setBack(Number(slider.value) < rows.length));
  // The bars have widths of their own: a click chooses the one below the pointer.
  slider.addEventListener("click", ({ clientX }) => {
    const at = [...bars.children].findIndex((bar) => bar.getBoundingClientRect().right >= clientX);
    slider.value = String(at < 0 ? rows.length : at);
    setBack(at >= 0 && at < rows.length);
  });
  slider.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isBack) return;
    slider.value = slider.max;
    setBack(false);
  });
  const timer = setInterval(() => {
    const since = Date.now() - RATE_MS;
    frames = frames.filter(({ at }) => at > since);
    const mean = (/** @type {(one: {bytes: number, delay: number}) => number} */ of) => Math.round(frames.reduce((sum, one) => sum + of(one), 0) / frames.length);
    say(numbers, frames.length === 0 ? "no change" : `${frames.length} fps · ${mean(({ bytes }) => bytes / 1024)} KB · ${mean(({ delay }) => delay)} ms`);
  }, RATE_MS);

  return {
    root,
    /**
     * @param {Row[]} all rows of the session, the newest first
     * @param {boolean} isWaiting whether an action waits now
     */
    update(all, isWaiting) {
      const next = all.slice(0, BARS).toReversed();
      const key = `${next[0]?.number} ${next.at(-1)?.number} ${isWaiting}`;
      if (key === shown) return;
      const chosen = isBack ? rows[Number(slider.value)]?.number : null;
      [rows, waits, shown] = [next, isWaiting, key];
      const at = rows.findIndex(({ number }) => number === chosen);
      slider.max = String(rows.length);
      slider.value = String(at >= 0 ? at : rows.length);
      root.hidden = rows.length === 0 && !waits;
      say(first, rows[0] ? clockTime(Date.parse(rows[0].time)).slice(-8) : "");
      if (isBack && at < 0) return setBack(false);
      draw();
      showTime();
    },
    /** A frame was drawn. @param {{bytes: number, time: number}} frame */
    frame({ bytes, time }) {
      frames.push({ at: Date.now(), bytes, delay: Math.max(0, Date.now() - time) });
    },
    /** Back to what happens now. */
    live() {
      slider.value = slider.max;
      if (isBack) setBack(false);
    },
    close: () => clearInterval(timer),
  };
}

