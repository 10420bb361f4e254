// What happens now, as the live view knows it: the cards of the wall and the state of the stage. Other parts of the page
// follow it.
// @ts-check

import { createStore } from "../shared/store.js";

/** @typedef {{session: string, isMine: boolean, running: {agent: string, action: string, is_waiting: boolean}[]}} OnStage */
/** @typedef {[string | {session?: string, agent?: string}, "paused" | "stopped"]} HeldScope whose actions are held, and how */
/** @typedef {{cards: import("./wall.js").Card[], holds: HeldScope[], stage: OnStage | null}} Now */

export const live = createStore(/** @type {Now} */ ({ cards: [], holds: [], stage: null }));

/**
 * How the actions of one agent are held in every session.
 * @param {HeldScope[]} holds
 * @param {string} agent
 */
export const holdOf = (holds, agent) => holds.find(([scope]) => typeof scope === "object" && scope.agent === agent)?.[1] ?? null;
