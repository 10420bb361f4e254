// What a page knows of chats, and how messages of the daemon change it. Every change makes new objects, so that views
// compare by identity.
// @ts-check

/** @typedef {{id: string, item: string, [member: string]: any}} Item */
/** @typedef {{value: string, name: string, description?: string}} Choice */
/** @typedef {{id: string, name: string, category?: string, type: "select" | "boolean", value: any, choices?: Choice[]}} Option */
/** @typedef {{used: number, size: number, cost?: {amount: number, currency: string}}} Usage */
/** @typedef {"offline" | "starting" | "sign_in_needed" | "idle" | "working" | "stopping"} ChatState */
/** @typedef {{id: string, title: string, agent: string, agent_name: string, state: ChatState, created: number, updated: number, asks?: boolean}} Summary */
/** @typedef {Summary & {seq: string, items: Item[], shortened: boolean, options: Option[], commands: {name: string, description: string}[], usage: Usage | null}} Chat */
/** @typedef {{id: string, name: string, program: string | null, install: string, sign_in: string, note: string, confinement: string, version: string | null, signed_in: "signed_in" | "needed" | "unknown", own_program: string | null, missing: string | null}} Agent */
/** @typedef {import("../question.js").OpenQuestion} OpenQuestion */
/** @typedef {import("../wire.d.ts").DecidedQuestion} DecidedQuestion */
/** @typedef {{chats: Summary[] | null, agents: Agent[] | null, questions: OpenQuestion[], decided: DecidedQuestion[], chat: Chat | null}} ChatModel */

/** @type {ChatModel} */
export const EMPTY = { chats: null, agents: null, questions: [], decided: [], chat: null };

/**
 * @param {ChatModel} model
 * @param {any} message
 * @returns {ChatModel}
 */
export function apply(model, message) {
  switch (message.type) {
    case "chats":
      return { ...model, chats: message.chats };
    case "agents":
      return { ...model, agents: message.agents };
    case "questions": {
      // The clocks of page and daemon differ, so the remaining time counts from here.
      const until = (/** @type {OpenQuestion} */ one) => Date.now() + one.seconds_left * 1000;
      return { ...model, questions: message.questions.map((/** @type {OpenQuestion} */ one) => ({ ...one, until: until(one) })), decided: message.decided };
    }
    case "chat":
      return { ...model, chat: { ...message.chat, seq: message.seq } };
    case "changes":
      if (model.chat?.id !== message.chat) return model;
      return { ...model, chat: { ...message.changes.reduce(change, model.chat), seq: message.seq } };
    default:
      return model;
  }
}

/**
 * @param {Chat} chat
 * @param {any} one
 * @returns {Chat}
 */
function change(chat, one) {
  switch (one.type) {
    case "item":
      return { ...chat, items: upsert(chat.items, one.item) };
    case "chunk": {
      const at = chat.items.findLastIndex((item) => item.id === one.id);
      return at < 0 ? chat : { ...chat, items: chat.items.with(at, { ...chat.items[at], text: chat.items[at].text + one.text }) };
    }
    case "removed":
      return { ...chat, items: chat.items.filter((item) => item.id !== one.id) };
    case "dropped":
      return { ...chat, shortened: true, items: chat.items.slice(Math.max(0, chat.items.findIndex((item) => item.id === one.first))) };
    case "state":
    case "options":
    case "commands":
    case "usage":
      return { ...chat, [one.type]: one[one.type] };
    default:
      return chat;
  }
}

/**
 * @param {Item[]} items
 * @param {Item} item
 */
function upsert(items, item) {
  const at = items.findLastIndex((one) => one.id === item.id);
  return at < 0 ? [...items, item] : items.with(at, item);
}

/** Whether the agent works on a turn. @param {Chat | null} chat */
export const isWorking = (chat) => chat !== null && ["starting", "working", "stopping"].includes(chat.state);
