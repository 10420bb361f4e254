// The transcript of a chat: messages, groups of steps, questions and notices. An element stays while its items are the same.
// @ts-check

import { button, make } from "../element.js";
import { notice } from "../components.js";
import { icon } from "../icons.js";
import { markdown } from "../markdown.js";
import { ANSWER_TEXTS, capabilityText, countDown, questionCard } from "../question.js";
import { agentQuestion } from "./agent_question.js";
import { workBlock } from "./work.js";

/** Names of our own tools in the agent's reports. The daemon's steps show the same calls. */
const OWN_TOOL = /^(mcp__tabwire_chat__|mcp\.tabwire_chat\.)\w+$/;
/** The end is followed while the view is this close to it. */
const NEAR_END = 60;

/** @typedef {import("./model.js").Item} Item */
/** @typedef {import("./model.js").ChatModel} ChatModel */
/** @typedef {{key: string, kind: string, items: Item[], extra: unknown[]}} Block */
/**
 * @typedef {object} Actions
 * @property {(question: string, choice: {choice?: string, values?: Record<string, unknown>, decline?: boolean}) => void} answer
 * @property {() => void} retry
 * @property {(number: number) => HTMLElement} screenshot the screenshot of a step
 */

/**
 * @param {HTMLElement} root scrolls
 * @param {Actions} actions
 */
export function createTranscript(root, actions) {
  /** @type {Map<string, {block: Block, element: HTMLElement}>} */
  let shown = new Map();
  /** Groups that the user has opened or closed. @type {Map<string, boolean>} */
  const toggled = new Map();
  let shownChat = "";
  /** Whether the view follows the end: until the user scrolls away from it. */
  let follows = true;
  /** Questions that wait, by their blocks. While one does, nothing moves it under the pointer. */
  let asked = "";
  const toEnd = () => follows && (root.scrollTop = root.scrollHeight);
  root.addEventListener("scroll", () => (follows = root.scrollHeight - root.scrollTop - root.clientHeight < NEAR_END));
  new ResizeObserver(() => asked === "" && toEnd()).observe(root);

  /** @param {ChatModel & {chat: import("./model.js").Chat}} model */
  function update(model) {
    const isOther = model.chat.id !== shownChat;
    if (isOther) {
      shown = new Map();
      root.replaceChildren();
      shownChat = model.chat.id;
      follows = true;
    }
    /** @type {Map<string, {block: Block, element: HTMLElement}>} */
    const next = new Map();
    const blocks = blocksOf(model);
    for (const block of blocks) {
      const known = shown.get(block.key);
      next.set(block.key, known && isSame(known.block, block) ? known : { block, element: create(block, model, actions, toggled) });
    }
    place(next);
    shown = next;
    const before = asked;
    asked = blocks.filter(({ kind, items: [item] }) => (kind === "approval" || kind === "question") && !item.outcome).map(({ key }) => key).join(" ");
    if (asked === "" || asked !== before) toEnd();
  }

  /** @param {Map<string, {element: HTMLElement}>} next */
  function place(next) {
    const active = document.activeElement;
    for (const [key, { element }] of shown) {
      const other = next.get(key)?.element;
      if (other === element) continue;
      const isFocused = active instanceof HTMLElement && element.contains(active);
      if (other) element.replaceWith(other);
      else element.remove();
      // The control that had the focus is made again: the first one of its block has it then.
      if (isFocused) other?.querySelector(/** @type {"button"} */ ("button, summary"))?.focus();
    }
    let at = 0;
    for (const { element } of next.values()) {
      if (root.children[at] !== element) root.insertBefore(element, root.children[at] ?? null);
      at += 1;
    }
  }

  return {
    update,
    /** Updates the time that is left for questions. */
    tick() {
      for (const list of root.querySelectorAll("ul.cards")) countDown(/** @type {HTMLElement} */ (list));
    },
  };
}

/**
 * @param {Block} one
 * @param {Block} other
 */
const isSame = (one, other) => isEqual(one.items, other.items) && isEqual(one.extra, other.extra);

/**
 * @param {unknown[]} one
 * @param {unknown[]} other
 */
const isEqual = (one, other) => one.length === other.length && one.every((item, at) => item === other[at]);

/**
 * The items in blocks: consecutive steps are one.
 * @param {ChatModel & {chat: import("./model.js").Chat}} model
 */
function blocksOf({ chat, questions }) {
  /** @type {Block[]} */
  const blocks = [];
  if (chat.shortened) blocks.push({ key: "shortened", kind: "shortened", items: [], extra: [] });
  for (const item of chat.items) {
    const kind = kindOf(item);
    const last = blocks.at(-1);
    if (kind === "none") continue;
    if (kind === "work" && last?.kind === "work") last.items.push(item);
    else blocks.push({ key: item.id, kind, items: [item], extra: [chat.agent_name] });
  }
  const last = blocks.at(-1);
  const lastWork = blocks.findLast(({ kind }) => kind === "work");
  for (const block of blocks) {
    // What a message waits for.
    if (block.kind === "user" && block.items[0].queued) block.extra.push(chat.state);
    // A notice offers what to do only while it is the last one.
    if (block.kind === "notice") block.extra.push(block === last && (["offline", "sign_in_needed"].includes(chat.state) || (chat.state === "idle" && block.items[0].notice === "failed")));
    if (block.kind === "approval") block.extra.push(questions.some(({ id }) => id === block.items[0].approval));
    if (block.kind === "work") block.extra.push(block === lastWork && chat.state === "working");
  }
  return blocks;
}

/** @param {Item} item */
function kindOf(item) {
  switch (item.item) {
    case "step":
      return "work";
    case "tool":
      return OWN_TOOL.test(item.meta_tool ?? item.title ?? "") ? "none" : "work";
    case "plan":
      return "none";
    case "agent":
    case "thought":
      return item.text === "" ? "none" : item.item;
    case "question":
      return item.outcome === "allowed_by_rule" ? "none" : "question";
    default:
      return item.item;
  }
}

/**
 * @param {Block} block
 * @param {ChatModel & {chat: import("./model.js").Chat}} model
 * @param {Actions} actions
 * @param {Map<string, boolean>} toggled
 * @returns {HTMLElement}
 */
function create(block, model, actions, toggled) {
  const [item] = block.items;
  switch (block.kind) {
    case "user":
      return userMessage(item, String(block.extra[1] ?? ""));
    case "agent":
      return make("article", { look: "theirs" }, markdown(item.text), item.cut && cutNote());
    case "thought":
      return make("details", { look: "thought" }, make("summary", {}, icon("right"), "Thoughts"), markdown(item.text));
    case "work":
      return workBlock(block.items, { isRunning: block.extra[1] === true, isOpen: toggled.get(block.key), onToggle: (isOpen) => toggled.set(block.key, isOpen), screenshot: actions.screenshot });
    case "question":
      return agentQuestion(item, model.chat.agent_name, (answer) => actions.answer(item.question, answer));
    case "approval":
      return approval(item, model, actions);
    case "notice":
      return noticeBlock(item, block.extra[1] === true, model, actions);
    default:
      return make("p", { look: "quiet small middle" }, "Older messages were left out.");
  }
}

/** What a message waits for, by the state of the chat. @type {Record<string, string>} */
const WAITS = { starting: "waits for the start", offline: "waits for the agent", sign_in_needed: "waits for you to sign in" };

/**
 * @param {Item} item
 * @param {string} state
 */
function userMessage(item, state) {
  const marks = [];
  if (item.queued) marks.push(WAITS[state] ?? "waits for the end of the turn");
  if (item.dropped) marks.push("not sent");
  if (item.steered) marks.push("sent into the turn");
  if (item.images > 0) marks.push(item.images === 1 ? "1 image" : `${item.images} images`);
  marks.push(...(item.files ?? []));
  const context = (item.context ?? []).map((/** @type {string} */ text) => make("li", { look: "chip" }, make("span", { look: "cut" }, text)));
  const [said, added] = splitContext(item.text);
  return make("article", { look: item.queued ? "mine is-queued" : "mine" }, context.length > 0 && make("ul", { look: "chips" }, ...context), said !== "" && make("p", { look: "said" }, said), added !== undefined && make("p", { look: "said small added" }, added.trim()), marks.length > 0 && make("p", { look: "small quiet" }, marks.join(" · ")));
}

/** The words of the user, and what the daemon wrote below them about tabs and elements. @param {string} text */
function splitContext(text) {
  const at = text.lastIndexOf("\n\nFrom the browser (");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(text.indexOf("\n", at + 2))];
}

const cutNote = () => make("p", { look: "quiet small" }, "The rest was left out: it is too long.");

/**
 * A question of the policy, or how it was answered.
 * @param {Item} item
 * @param {ChatModel} model
 * @param {Actions} actions
 */
function approval(item, { questions, decided }, actions) {
  const open = questions.find(({ id }) => id === item.approval);
  if (item.outcome === null || item.outcome === undefined) {
    if (!open) return make("p", { look: "quiet small middle" }, item.text);
    return make("ul", { look: "cards" }, questionCard(open, (id, choice) => actions.answer(id, { choice })));
  }
  const answer = item.outcome?.answered;
  const known = decided.find(({ id }) => id === item.approval);
  const what = known ? `${capabilityText(known.capability)} ${known.site}` : item.text;
  const by = known?.by ? ` · ${known.by}` : "";
  const [name, text] = answer === undefined ? ["info", "No longer asked"] : [answer === "no" ? "ban" : "check", ANSWER_TEXTS.get(answer) ?? answer];
  return make("p", { look: `outcome small ${answer === "no" ? "" : "good"}` }, icon(name), make("span", { look: "wrap" }, `${text}: ${what}${by}`));
}

/** @type {Record<string, [string, string]>} */
const NOTICES = { stopped: ["stop", ""], failed: ["info", "warning"], agent_ended: ["plug", "warning"], sign_in: ["plug", "warning"], resumed: ["retry", ""], resumed_fresh: ["retry", "warning"], note: ["info", ""] };

/**
 * @param {Item} item
 * @param {boolean} isLast
 * @param {ChatModel & {chat: import("./model.js").Chat}} model
 * @param {Actions} actions
 */
function noticeBlock(item, isLast, model, actions) {
  const [name, look] = NOTICES[item.notice] ?? NOTICES.note;
  if (look === "") return make("p", { look: "outcome small quiet" }, icon(name), make("span", { look: "wrap" }, item.text));
  const agent = model.agents?.find(({ id }) => id === model.chat.agent);
  const made = notice({ look, icon: name, title: item.text.replaceAll("\x60", ""), command: item.notice === "sign_in" ? commandIn(agent?.sign_in ?? item.text) : "" });
  const word = item.notice === "agent_ended" ? "Resume" : "Retry";
  if (isLast && item.notice !== "resumed_fresh" && model.chat.items.some(({ item: kind }) => kind === "user")) made.querySelector(".texts")?.append(make("p", { look: "line buttons" }, button([icon("retry"), word], actions.retry, { look: "mini" })));
  return made;
}

/** The command between backticks. @param {string} text */
export const commandIn = (text) => /\x60([^\x60]+)\x60/.exec(text)?.[1] ?? "";
