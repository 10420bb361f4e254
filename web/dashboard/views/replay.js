// Replay of a session: its actions with their screenshots, as a film with a strip of thumbnails.
// @ts-check

import { button, make } from "../shared/element.js";
import { icon } from "../shared/icons.js";
import { clockTime } from "../shared/time.js";
import { isRefused, rowFacts } from "./entry.js";

/** @typedef {import("../dashboard.js").Row} Row */

/** How long each action is shown. */
const STEP_MS = 1_200;
const MOST_SCREENSHOTS = 40;

/** @param {ReturnType<typeof import("../screenshots.js").createScreenshots>} screenshots */
export function createReplay(screenshots) {
  const title = make("h3", { tabindex: "-1" });
  const screenshot = make("div", { look: "replay-screenshot" });
  const caption = make("p", { look: "line caption", "aria-live": "polite" });
  const details = make("div", {});
  const slider = make("input", { type: "range", min: "0", step: "1", "aria-label": "Action" });
  const strip = make("div", { look: "strip", role: "group", "aria-label": "Screenshots" });
  const play = button([icon("play")], () => toggle(), { look: "only-icon", label: "Play" });
  const back = button([icon("left")], () => step(-1), { look: "plain only-icon", label: "Previous action" });
  const next = button([icon("right")], () => step(1), { look: "plain only-icon", label: "Next action" });
  const close = button([icon("close")], () => shut(), { look: "plain only-icon mini", label: "Close the replay" });
  const controls = make("div", { look: "line" }, play, back, next, slider);
  const element = make("section", { look: "panel replay", "aria-label": "Replay", hidden: "" }, make("header", { look: "line" }, title, make("span", { look: "grow" }), close), screenshot, caption, controls, strip, details);
  /** @type {Row[]} */
  let rows = [];
  let [at, trailless] = [0, false];
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  const show = async () => {
    const row = rows[at];
    if (!row) return;
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", `${at + 1} of ${rows.length}: ${row.action}`);
    caption.replaceChildren(make("time", { look: "quiet small", datetime: row.time }, clockTime(Date.parse(row.time))), make("strong", { look: isRefused(row) ? "bad" : "" }, row.action), make("span", { look: "quiet cut" }, row.origin ?? ""), make("span", { look: "quiet small end" }, `${at + 1} of ${rows.length}`));
    details.replaceChildren(rowFacts(row));
    for (const one of strip.children) one.toggleAttribute("aria-current", one instanceof HTMLElement && one.dataset.at === String(at));
    back.disabled = at === 0;
    next.disabled = at === rows.length - 1;
    const wanted = at;
    const url = row.screenshot ? await screenshots.load(row.number) : "";
    // The screenshot of an earlier step may come late.
    if (wanted !== at) return;
    screenshot.replaceChildren(url ? make("img", { src: url, alt: `The page after ${row.action}` }) : make("div", { look: "empty" }, icon("camera"), make("p", {}, row.screenshot ? "The screenshot is gone." : trailless ? "This session has no screenshots. A session that is opened with --trail keeps them." : "This action has no screenshot.")));
  };
  /** @param {number} to */
  const go = (to) => {
    at = Math.max(0, Math.min(rows.length - 1, to));
    void show();
  };
  /** @param {number} by */
  const step = (by) => {
    stop();
    go(at + by);
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    setPlay("play", "Play");
  };
  /**
   * @param {string} name
   * @param {string} label
   */
  const setPlay = (name, label) => {
    play.replaceChildren(icon(name));
    play.setAttribute("aria-label", label);
    play.title = label;
  };
  const toggle = () => {
    if (timer !== undefined) return stop();
    if (at === rows.length - 1) go(0);
    setPlay("pause", "Pause");
    timer = setInterval(() => (at < rows.length - 1 && element.isConnected ? go(at + 1) : stop()), STEP_MS);
  };
  const shut = () => {
    stop();
    element.hidden = true;
  };
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return shut();
    if (event.target === slider) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(by);
    if (event.key === "Home") go(0);
    if (event.key === "End") go(rows.length - 1);
    if (event.key === " " && !(event.target instanceof HTMLButtonElement)) toggle();
    else if (!by && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
  });
  const fillStrip = () => {
    const shown = rows.map((row, index) => ({ row, index })).filter(({ row }) => row.screenshot).slice(-MOST_SCREENSHOTS);
    strip.replaceChildren(...shown.map(({ row, index }) => {
      const made = button([], () => { stop(); go(index); }, { look: "frame-of-strip", label: `${row.action} at ${clockTime(Date.parse(row.time))}` });
      made.dataset.at = String(index);
      void screenshots.load(row.number).then((url) => url && made.replaceChildren(make("img", { src: url, alt: "" })));
      return made;
    }));
    strip.hidden = shown.length === 0;
  };
  return {
    element,
    /**
     * @param {string} session
     * @param {Row[]} all the oldest first
     * @param {boolean} hasMore whether the log has older ones
     */
    open(session, all, hasMore) {
      stop();
      rows = all;
      const hasScreenshots = rows.some(({ screenshot }) => screenshot);
      title.textContent = `Session ${session}, ${hasMore ? `its last ${rows.length}` : rows.length} ${rows.length === 1 ? "action" : "actions"}`;
      trailless = !hasScreenshots;
      slider.max = String(Math.max(0, rows.length - 1));
      element.hidden = rows.length === 0;
      fillStrip();
      go(0);
      title.focus();
    },
  };
}
