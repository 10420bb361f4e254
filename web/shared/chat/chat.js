// Chats with agents: start page, transcript, composer and earlier chats. The side panel and the dashboard show the same.
// @ts-check

import { make } from "../element.js";
import { notice } from "../components.js";
import { keepOnly } from "../question.js";
import { createComposer } from "./composer.js";
import { createHeader } from "./header.js";
import { createHistory } from "./history.js";
import { EMPTY, apply, isWorking } from "./model.js";
import { createScreenshots } from "./screenshots.js";
import { createStart, needsSignIn } from "./start.js";
import { createTranscript } from "./transcript.js";
import { planBlock, usageLine } from "./status.js";

const SECOND_MS = 1_000;
/** Streamed text is drawn this often. */
const DRAW_MS = 30;

/** @typedef {import("./composer.js").Attachment} Attachment */
/** @typedef {{word: string, look: string, title: string, text: string, command: string, icon?: string, isOpen: boolean}} Line */
/**
 * @typedef {object} Host
 * @property {(name: string, params?: Record<string, unknown>) => Promise<any>} request
 * @property {(chat: string | null) => void} remember keeps which chat is shown
 * @property {() => import("./header.js").MenuItem[]} menu further entries
 * @property {HTMLElement} [tabs] the shared tabs
 * @property {() => Promise<Attachment | null>} [point]
 * @property {() => Attachment | null} [front] the tab in front, if it is shared
 * @property {(name: string, text: string) => void} save
 */

/**
 * @param {HTMLElement} root
 * @param {Host} host
 */
export function createChat(root, host) {
  let model = EMPTY;
  /** @type {"chat" | "start" | "history"} */
  let view = "start";
  /** @type {string | null} */
  let opened = null;
  /** @type {string | null} */
  let agent = null;
  let isDrawing = false;
  /** @type {Line} */
  let line = { word: "connecting", look: "", title: "", text: "", command: "", isOpen: false };

  const talk = make("div", { look: "talk", role: "log", "aria-live": "off", tabindex: "0", "aria-label": "Chat" });
  const screenshots = createScreenshots((number) => host.request("chat.screenshot", { chat: opened, number }));
  const transcript = createTranscript(talk, { answer, retry: () => void run("chat.retry", { chat: opened }), screenshot: screenshots.image });
  const start = createStart({ choose: (id) => { agent = id; draw(); composer.focus(); }, example: (text) => composer.fill(text), again: () => void run("agents", { again: true }) });
  const history = createHistory({
    search: async (text) => (await run("chat.search", { text }))?.chats ?? [],
    open: (id) => void open(id),
    rename: (chat, title) => void run("chat.rename", { chat, title }),
    forget: (chat) => void forget(chat),
  });
  const header = createHeader({
    set: (option, value) => void run("chat.set", { chat: opened, option, value }),
    history: () => { view = view === "history" ? (opened ? "chat" : "start") : "history"; draw(); if (view === "history") history.focus(); },
    fresh: () => { void open(null); composer.focus(); },
    menu: menuItems,
  });
  const standing = make("div", { look: "standing", role: "status" });
  const failure = make("div", { look: "standing", role: "alert" });
  const waiting = make("p", { look: "waiting small quiet" });
  const plan = make("div", { look: "plan-place" });
  const usage = make("p", { look: "use small quiet" });
  const spoken = make("p", { look: "screen-reader", role: "status" });
  const composer = createComposer({ send, stop: () => void run("chat.stop", { chat: opened }), point: host.point, front: host.front });
  const foot = make("footer", { look: "say" }, plan, composer.element, usage);
  const body = make("main", { look: "chat-body" }, start.element, history.element, talk, waiting);
  root.classList.add("chat-root");
  root.append(header.element, ...(host.tabs ? [host.tabs] : []), standing, failure, body, foot, spoken);

  /** Sends a request; a failure is shown. @param {string} name @param {Record<string, unknown>} [params] */
  async function run(name, params = {}) {
    try {
      failure.replaceChildren();
      return (await host.request(name, params)) ?? {};
    } catch (error) {
      const { message = String(error), remedy = "" } = /** @type {{message?: string, remedy?: string}} */ (error ?? {});
      failure.replaceChildren(notice({ look: "warning", icon: "info", title: message, text: remedy }));
      return null;
    }
  }

  /** @param {string | null} id */
  async function open(id) {
    if (id !== opened) screenshots.clear();
    opened = id;
    host.remember(id);
    view = id ? "chat" : "start";
    model = { ...model, chat: null };
    draw();
    if (!id) return void (await run("chat.close"));
    // A chat that is gone leads to the start.
    if ((await run("chat.open", { chat: id })) === null && opened === id && line.isOpen) await open(null);
  }

  /** @param {string} chat */
  async function forget(chat) {
    await run("chat.forget", { chat });
    if (chat !== opened) return;
    opened = null;
    host.remember(null);
    model = { ...model, chat: null };
    if (view === "chat") view = "start";
    draw();
  }

  /** @param {import("./composer.js").Draft} draft */
  async function send({ text, steer, attachments }) {
    if (!opened) {
      const made = await run("chat.new", { agent: chosenAgent() });
      if (!made) return false;
      await open(made.chat);
    }
    /** @type {Record<string, Record<string, unknown>[]>} */
    const more = { images: [], files: [], tabs: [], pointed: [] };
    for (const { kind, label, ...one } of attachments) {
      if (kind === "image") more.images.push(one);
      if (kind === "file") more.files.push({ name: label, ...one });
      if (kind === "tab") more.tabs.push(one);
      if (kind === "point") more.pointed.push(one);
    }
    return (await run(steer ? "chat.steer" : "chat.say", { chat: opened, text, ...more })) !== null;
  }

  /** @param {string} question @param {{choice?: string, values?: Record<string, unknown>, decline?: boolean}} given */
  function answer(question, given) {
    void run("answer", { chat: opened, question, ...given });
  }

  /** Saves the chat that is shown. */
  async function exportChat() {
    const file = await run("chat.export", { chat: opened });
    if (file) host.save(file.name, file.markdown);
  }

  function chosenAgent() {
    const found = (model.agents ?? []).filter(({ program }) => program);
    return (found.find(({ id }) => id === agent) ?? found.find((one) => !needsSignIn(one)) ?? found[0])?.id ?? null;
  }

  function menuItems() {
    const { chat } = model;
    const own = chat === null || view !== "chat" ? [] : [{ text: "Save as Markdown", icon: "download", press: () => void exportChat() }];
    return [...own, ...host.menu()];
  }

  function draw() {
    if (isDrawing) return;
    isDrawing = true;
    setTimeout(() => {
      isDrawing = false;
      show();
    }, DRAW_MS);
  }

  function show() {
    // The list has the newest title.
    const title = model.chats?.find(({ id }) => id === model.chat?.id)?.title;
    const chat = view === "chat" && model.chat ? { ...model.chat, title: title ?? model.chat.title } : null;
    keepOnly(model.questions);
    root.dataset.view = view;
    const known = model.agents?.find(({ id }) => id === chat?.agent);
    header.update(chat, line, known?.note ?? "");
    start.element.hidden = view !== "start" || (model.agents === null && !line.isOpen);
    start.update(model.agents, chosenAgent());
    history.element.hidden = view !== "history";
    history.update(model.chats);
    talk.hidden = view !== "chat";
    showStanding();
    const words = chat ? waitingText(chat) : "";
    if (waiting.textContent !== words) waiting.replaceChildren(...(words ? [make("span", { look: "spin", "aria-hidden": "true" }), words] : []));
    waiting.hidden = words === "";
    plan.replaceChildren(...planBlock(chat));
    usage.replaceChildren(...usageLine(chat));
    foot.hidden = view === "history";
    showComposer(chat);
    // Last, because the parts below it take room.
    if (chat) transcript.update({ ...model, chat });
    announce(chat);
  }

  function showStanding() {
    const shown = JSON.stringify(line);
    if (standing.dataset.shown === shown) return;
    standing.dataset.shown = shown;
    standing.replaceChildren(...(line.title ? [notice({ look: line.look, icon: line.icon ?? "plug", title: line.title, text: line.text, command: line.command })] : []));
  }

  /** @param {import("./model.js").Chat | null} chat */
  function showComposer(chat) {
    const name = chat?.agent_name ?? model.agents?.find(({ id }) => id === chosenAgent())?.name;
    const working = isWorking(chat);
    const idle = chat?.state === "offline" ? `Message ${name} to go on` : chat ? `Message ${name}` : `Ask ${name} to do something in your tabs`;
    const placeholder = !line.isOpen ? "Not connected" : name === undefined ? "Install an agent first" : working ? "Add to what it is doing…" : idle;
    composer.update({ placeholder, isOff: !line.isOpen || name === undefined, isWorking: working, isStopping: chat?.state === "stopping" });
  }

  let announced = "";
  /** Says for screen readers what needs the user. @param {import("./model.js").Chat | null} chat */
  function announce(chat) {
    const asks = chat?.items.some(({ item, outcome }) => (item === "question" || item === "approval") && !outcome);
    const words = !chat ? "" : asks ? `${chat.agent_name} asks you something.` : isWorking(chat) ? `${chat.agent_name} works.` : `${chat.agent_name} waits for you.`;
    if (words === announced) return;
    announced = words;
    spoken.textContent = words;
  }

  setInterval(() => transcript.tick(), SECOND_MS);
  show();

  return {
    /** @param {any} message */
    receive(message) {
      model = apply(model, message);
      draw();
    },
    /** @param {Line} next */
    setLine(next) {
      const isNew = next.isOpen && !line.isOpen;
      line = next;
      if (isNew && opened) void run("chat.open", { chat: opened, ...(model.chat ? { after: model.chat.seq } : {}) });
      draw();
    },
    open,
    attach: composer.attach,
  };
}

/** @param {import("./model.js").Chat} chat */
function waitingText(chat) {
  const last = chat.items.findLast(({ queued }) => !queued);
  if (chat.state === "starting") return `${chat.agent_name} starts…`;
  if (chat.state === "stopping") return "Stopping…";
  // Its question says that it waits.
  if (chat.items.some(({ item, outcome }) => (item === "question" || item === "approval") && !outcome)) return "";
  if (chat.state === "working" && (last?.item === "user" || last?.item === "plan")) return `${chat.agent_name} works…`;
  return "";
}
