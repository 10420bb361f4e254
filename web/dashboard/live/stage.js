// The stage: one session with its tabs, the live page, who drives, and the user's controls.
// @ts-check

import { button, make, say } from "../shared/element.js";
import { commandLine, hostOf, siteIcon } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { clockTime } from "../shared/time.js";
import { saveFile } from "../requests.js";
import { clientOf, isAction, sessionKey } from "../views/entry.js";
import { listen } from "./input.js";
import { holdOf, live } from "./now.js";
import { createFrameView } from "./frame_view.js";
import { chooserForm, dialogForm } from "./requests.js";
import { openSocket } from "./socket.js";
import { stateText, verbOf } from "./states.js";
import { createTrack } from "./track.js";
import { watchScreen } from "./visibility.js";

const FAILED_MS = 6_000;
/** How long the border says who drives after an action has ended, so that it does not flash. */
const DRIVEN_MS = 1_500;
const WITH_FRAMES = ["shown", "hidden", "crashed"];

/** @typedef {{tab: string, title: string | null, url: string, shared: boolean}} StageTab */
/** @typedef {{state: string, refused: string | null, tab: string | null, tabs: StageTab[], policy: string | null, dialog: import("./requests.js").Dialog | null, chooser: boolean | null, taken: "you" | "other" | null, hold: "paused" | "stopped" | null, running: {agent: string, action: string, is_waiting: boolean}[], mark: import("./frame_view.js").Mark | null, driver?: {who: string, agent: string | null, action: string | null} | null}} StageState */

/** @type {StageState} */
const NOTHING = { state: "connecting", refused: null, tab: null, tabs: [], policy: null, dialog: null, chooser: null, taken: null, hold: null, running: [], mark: null };

/**
 * Creates the stage of a session.
 * @param {string} session
 * @param {HTMLElement} tools where the controls go
 * @param {HTMLElement} tags where its browser and policy are named
 * @param {ReturnType<typeof import("../screenshots.js").createScreenshots>} screenshots
 */
export function createStage(session, tools, tags, screenshots) {
  let state = NOTHING;
  let [isConnected, isLost, isClosed] = [false, false, false];
  let latest = ["", ""];
  let drivenUntil = 0;
  /** @type {import("../dashboard.js").Row | null} */
  let past = null;
  const isMine = () => state.taken === "you" && isConnected;
  const give = () => socket.send({ type: "give" });
  const steer = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ to) => button([icon(name)], () => socket.send({ type: "go", to }), { look: "plain only-icon mini", label });

  const strip = make("ul", { look: "tab-strip", role: "tablist", "aria-label": "Tabs of this session" });
  const steering = [steer("left", "Back", "back"), steer("right", "Forward", "forward"), steer("retry", "Reload", "reload")];
  const [place, path, scheme] = [make("span", {}), make("span", { look: "quiet" }), make("span", { look: "line" })];
  const address = make("span", { look: "url" }, scheme, make("span", { look: "cut" }, place, path));
  const [version, rules] = [make("span", { look: "tag", hidden: "" }), make("span", { look: "tag", hidden: "" })];
  tags.append(version, rules);
  const shoot = button([icon("camera")], () => saveImage(), { look: "plain only-icon mini", label: "Save a screenshot" });
  const full = button([icon("full")], () => void (document.fullscreenElement ? document.exitFullscreen() : browser.requestFullscreen()).catch(() => {}), { look: "plain only-icon mini", label: "Full screen" });
  const frameView = createFrameView((seq) => socket.send({ type: "drawn", seq }));
  const field = make("textarea", { look: "keyboard", "aria-label": "Keyboard of the page. Press Escape twice to give it back.", tabindex: "-1", autocapitalize: "off", autocomplete: "off", spellcheck: "false" });
  const [cover, requests, doing, now] = [make("div", { look: "cover" }), make("div", { look: "requests", hidden: "" }), make("p", { look: "doing" }), make("p", { look: "now" })];
  const lookBack = make("div", { look: "past", hidden: "" });
  const screen = make("div", { look: "screen" }, frameView.canvas, cover, lookBack, requests, doing, now, field);
  frameView.canvas.after(frameView.overlay);
  const status = make("p", { look: "screen-reader", role: "status" });
  const failed = make("p", { look: "notice warning", role: "alert", hidden: "" });
  screen.append(failed);
  const browser = make("div", { look: "browser" }, strip, make("div", { look: "address" }, ...steering, address, shoot, full), screen);
  const track = createTrack((row) => void showPast(row));
  const root = make("section", { look: "stage", "aria-label": `Session ${session}` }, browser, track.root, status);

  const waiting = make("span", { look: "line" });
  const holdsAll = () => live.get().holds.some(([scope]) => scope === "all");
  const pause = button([icon("pause"), "Pause"], () => socket.command(state.hold ? { type: "resume", scope: holdsAll() ? "all" : { session } } : { type: "pause", scope: { session } }), { look: "pause" });
  const stop = button([icon("stop"), "Stop"], () => socket.command({ type: "stop", scope: { session } }), { look: "stop" });
  const take = button([icon("hand"), "Take over"], () => (isMine() ? give() : socket.send({ type: "take" })), { look: "strong" });
  tools.append(waiting, pause, stop, take);

  const socket = openSocket({ session }, {
    connected(connected) {
      [isConnected, isLost] = [connected, !connected];
      if (connected) {
        frameView.restart();
        watching.report();
      }
      show();
    },
    message(message) {
      if (message.type === "failed") return fail(message.message);
      if (message.type === "view") receive({ ...NOTHING, ...message });
    },
    image: (image) => void frameView.draw(image).then(() => {
      track.frame({ bytes: image.image.byteLength, time: image.time });
      showCover();
    }, () => {}),
  });

  const saveImage = () => frameView.canvas.toBlob((image) => image && saveFile([image], `${session.replace("/", "-")}.png`, "image/png"), "image/png");

  const showPast = async (/** @type {import("../dashboard.js").Row | null} */ row) => {
    past = row;
    const url = row?.screenshot ? await screenshots.load(row.number) : "";
    // The image of an earlier choice may come late.
    if (past !== row) return;
    lookBack.hidden = row === null;
    if (row) lookBack.replaceChildren(url ? make("img", { src: url, alt: `The page after ${row.action}` }) : make("p", { look: "cover" }, icon("camera"), make("strong", {}, `${clientOf(row)} ${verbOf(row.action)}`), make("span", { look: "small" }, "This action has no screenshot. A session that is opened with --trail keeps them.")));
    show();
  };

  const receive = (/** @type {StageState} */ next) => {
    const before = state;
    state = next;
    if (state.running.some((one) => !one.is_waiting)) {
      drivenUntil = Date.now() + DRIVEN_MS;
      setTimeout(show, DRIVEN_MS);
    }
    if (state.taken === "you") track.live();
    if (before.tab !== state.tab || !WITH_FRAMES.includes(state.state)) frameView.clear();
    show();
    if (before.taken !== "you" && state.taken === "you" && requests.hidden) field.focus({ preventScroll: true });
    if (before.taken === "you" && state.taken !== "you" && (document.activeElement === field || document.activeElement === document.body)) take.focus();
  };

  const fail = (/** @type {string} */ text) => {
    say(failed, text);
    failed.hidden = false;
    setTimeout(() => (failed.hidden = true), FAILED_MS);
  };

  const show = () => {
    if (isClosed) return;
    const mine = isMine();
    root.dataset.driver = mine ? "you" : state.taken === "other" ? "other" : (state.driver?.who === "agent" || Date.now() < drivenUntil) && WITH_FRAMES.includes(state.state) ? "agent" : "";
    live.set({ ...live.get(), stage: { session, isMine: mine, running: state.running } });
    root.classList.toggle("is-lost", isLost);
    root.classList.toggle("is-held", state.hold !== null);
    showTabs();
    showCover();
    showRequests(mine);
    showDoing(mine);
    showControls(mine);
    frameView.point(mine ? null : state.mark);
    field.tabIndex = mine ? 0 : -1;
  };

  const showTabs = () => {
    const items = state.tabs.map((one, at) => ({ ...one, isShown: one.tab === state.tab, isStop: one.tab === state.tab || (at === 0 && state.tab === null), driver: root.dataset.driver }));
    showList(strip, items, ({ tab }) => tab, tabItem);
    const url = state.tabs.find(({ tab }) => tab === state.tab)?.url ?? "";
    const isWeb = /^https?:/.test(url);
    const host = isWeb ? hostOf(url) : url;
    say(place, host);
    say(path, isWeb ? url.slice(url.indexOf(host) + host.length) : "", "quiet");
    address.title = url;
    redraw(scheme, url && (url.startsWith("https:") ? "lock" : "globe"), () => [icon(url.startsWith("https:") ? "lock" : "globe")]);
    redraw(rules, state.policy, () => [icon("shield"), state.policy ?? ""]);
    rules.className = state.policy === "guarded" ? "tag good" : "tag warning";
  };

  const moveInTabs = (/** @type {KeyboardEvent} */ event) => {
    const all = [...strip.querySelectorAll("button")];
    const at = all.findIndex((one) => one === document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  };
  strip.addEventListener("keydown", moveInTabs);

  const tabItem = (/** @type {StageTab & {isShown: boolean, isStop: boolean, driver?: string}} */ { tab, title, url, isShown, isStop, driver }) => {
    const name = title || url || "Empty page";
    const choose = button([siteIcon(url, null), make("span", { look: "cut" }, name)], () => socket.send({ type: "tab", tab }), { look: "plain" });
    if (isShown && driver) choose.append(make("span", { look: driver === "agent" ? "dot drive" : "dot you" }));
    choose.tabIndex = isStop ? 0 : -1;
    choose.title = name;
    choose.setAttribute("role", "tab");
    choose.setAttribute("aria-selected", String(isShown));
    return make("li", { role: "presentation" }, choose);
  };

  const showCover = () => {
    const hasFrame = !frameView.isEmpty();
    const isShown = state.state === "shown" && hasFrame;
    const text = isShown || (isLost && hasFrame) ? null : stateText(state.state === "shown" ? "connecting" : state.state, { session, refused: state.refused });
    redraw(cover, text, () => (text ? [icon(text.icon), make("strong", {}, text.title), make("p", { look: "small" }, text.text), ...(text.command ? [commandLine(text.command)] : [])] : []));
    shoot.disabled = !isShown;
    const word = past ? clockTime(Date.parse(past.time)) : isLost ? "Connection lost" : state.hold === "stopped" ? "Stopped" : state.hold ? "Paused" : isShown ? "Live" : "";
    redraw(now, word, () => (word ? [make("i", {}), word] : []));
  };

  const showRequests = (/** @type {boolean} */ mine) => {
    const { dialog, chooser } = state;
    const isChanged = redraw(requests, dialog || (mine && chooser !== null) ? [dialog, chooser, mine] : null, () => {
      if (dialog) return [dialogForm(dialog, mine, socket)];
      return chooser !== null && mine ? [chooserForm(chooser, socket)] : [];
    });
    if (!mine || !isChanged) return;
    const first = requests.querySelector("input, button");
    (first instanceof HTMLElement ? first : field).focus({ preventScroll: true });
  };

  const showDoing = (/** @type {boolean} */ mine) => {
    const { agent, action } = state.driver ?? {};
    const active = state.running.find((one) => !one.is_waiting) ?? (agent && action ? { agent, action } : null);
    const element = state.mark?.name ? ` “${state.mark.name}”` : "";
    const [who, what] = past ? [clientOf(past), ` ${verbOf(past.action)}`]
      : mine
      ? ["You", " have mouse and keyboard. Esc Esc gives them back."]
      : state.hold === "stopped" ? ["Stopped.", " Actions fail until you press Resume."]
      : state.hold ? ["Paused.", " Actions wait until you press Resume."]
      : active ? [active.agent, ` ${element && /click|tap|hover|check|focus/.test(active.action) ? `${verbOf(active.action).split(" ")[0]}${element}` : verbOf(active.action)}`]
      : latest;
    const text = who + what;
    redraw(doing, text === "" || state.state === "no_session" ? null : text, () => [make("span", { look: "avatar" }, icon(mine ? "hand" : state.hold ? "pause" : "agent")), make("span", { look: "cut" }, make("strong", {}, who), what)]);
    say(status, mine ? "You have taken over this tab." : state.taken === "other" ? "Another dashboard has taken over this tab." : state.hold ? "Automation is paused." : isLost ? "The connection is lost." : "");
  };

  const showControls = (/** @type {boolean} */ mine) => {
    const names = [...new Set(state.running.filter((one) => one.is_waiting).map(({ agent }) => agent))].slice(0, 2).map((agent) => ({ agent, hold: holdOf(live.get().holds, agent) }));
    redraw(waiting, names.length > 0 ? names : null, () => names.map(waitingTag));
    relabel(pause, state.hold ? "play" : "pause", state.hold ? "Resume" : "Pause");
    relabel(take, mine ? "agent" : "hand", mine ? "Give it back" : "Take over");
    // While the user drives, agents wait anyway.
    pause.hidden = mine;
    stop.hidden = mine;
    pause.disabled = !isConnected;
    stop.disabled = !isConnected || state.hold === "stopped";
    take.disabled = !isConnected || (!mine && !WITH_FRAMES.includes(state.state));
    for (const one of steering) one.disabled = !mine;
  };

  /** An agent that waits, and the buttons that hold it alone. */
  const waitingTag = (/** @type {{agent: string, hold: string | null}} */ { agent, hold }) => {
    const to = (/** @type {string} */ type, /** @type {string} */ name, /** @type {string} */ label) => button([icon(name)], () => socket.command({ type, scope: { agent } }), { look: "plain only-icon mini", label: `${label} ${agent}` });
    return make("span", { look: "tag warning who" }, make("span", { look: "cut" }, `${agent} ${hold ?? "waits"}`), hold ? to("resume", "play", "Resume") : to("pause", "pause", "Pause"), hold !== "stopped" && to("stop", "stop", "Stop"));
  };

  const watching = watchScreen(screen, (message) => socket.send(message));
  listen({ screen, field, pointOf: frameView.pointOf, isActive: () => isMine() && requests.hidden === true, send: (input) => socket.send({ type: "input", input }), giveBack: give });
  show();

  return {
    root,
    /** @param {import("../dashboard.js").Shown & {state: import("../dashboard.js").State}} shown */
    update({ state: { sessions }, rows }) {
      const own = rows.filter((row) => sessionKey(row.session) === session || row.session.name === session);
      const row = own.find(isAction);
      latest = row ? [row.client.name ?? (row.client.transport === "socket" ? "Command line" : clientOf(row)), ` ${verbOf(row.action)}`] : ["", ""];
      const found = sessions.find((one) => sessionKey(one) === session)?.browser_version ?? "";
      say(version, browserName(found));
      version.hidden = found === "";
      track.update(own, state.running.some((one) => one.is_waiting));
      showDoing(isMine());
      showControls(isMine());
    },
    close() {
      if (isMine()) give();
      isClosed = true;
      watching.end();
      track.close();
      socket.close();
      live.set({ ...live.get(), stage: null });
    },
  };
}

/**
 * A browser's name and main version.
 * @param {string} product such as `HeadlessChrome/156.0.1.2`
 */
export function browserName(product) {
  const [, name, version] = product.match(/^(?:Headless)?([A-Za-z ]+)\/(\d+)/) ?? [];
  return name ? `${name === "Chrome" ? "Chromium" : name} ${version}` : product;
}

/**
 * Makes the content of an element again if its key has changed; hides the element without a key.
 * @param {HTMLElement} element
 * @param {unknown} key
 * @param {() => (Node | string)[]} create
 */
function redraw(element, key, create) {
  const shown = key === null || key === "" ? "" : JSON.stringify(key);
  if (element.dataset.shown === shown) return false;
  element.dataset.shown = shown;
  element.replaceChildren(...(shown === "" ? [] : create()));
  element.hidden = shown === "";
  return true;
}

/**
 * @param {HTMLButtonElement} control
 * @param {string} name
 * @param {string} text
 */
function relabel(control, name, text) {
  if (control.textContent !== text) control.replaceChildren(icon(name), text);
}
