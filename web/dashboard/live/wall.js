// The wall: every active session with a small image and who acts in it.
// @ts-check

import { make, say } from "../shared/element.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { sessionKey } from "../views/entry.js";
import { live } from "./now.js";
import { openSocket } from "./socket.js";
import { browserName } from "./stage.js";
import { stateText, verbOf } from "./states.js";

/** @typedef {import("../dashboard.js").Session} Session */
/** @typedef {{session: string, view: number, state: string, refused: string | null, tab: string | null, hold: "paused" | "stopped" | null, is_taken: boolean, running: [string, string] | null, driver?: {who: string, agent: string | null, action: string | null} | null}} Card */
/** @typedef {{key: string, session: Session, card: Card | null}} Item */

const MEBIBYTE = 1024 * 1024;

/**
 * Creates the wall.
 * @param {(holds: import("./now.js").HeldScope[]) => void} held called when agents are held or resumed
 */
export function createWall(held) {
  const list = make("ul", { look: "wall" });
  /** @type {Card[]} */
  let cards = [];
  /** @type {Session[]} */
  let sessions = [];
  /** @type {string | null} */
  let left = null;
  /** @type {Map<number, string>} */
  const images = new Map();

  const show = () => {
    /** @type {Item[]} */
    const items = sessions.filter((one) => sessionKey(one) !== left).map((session) => {
      const key = sessionKey(session);
      // Numbers that change every second are left out, so that a card keeps its element.
      const card = cards.find((one) => one.session === key) ?? null;
      const steady = { ...session, memory_bytes: Math.round((session.memory_bytes ?? 0) / MEBIBYTE) * MEBIBYTE, pending: 0, events_dropped: 0, uptime_seconds: 0, tab_list: [] };
      return { key, session: steady, card };
    });
    // Who acts changes all the time, so it is no part of the item: the card keeps its element and its image.
    const steady = items.map((item) => ({ ...item, card: item.card && { ...item.card, running: null, driver: null, hold: null, is_taken: false } }));
    showList(list, steady, ({ key }) => key, (item) => cardOf(item, images.get(item.card?.view ?? -1) ?? null), () => {
      for (const [at, item] of items.entries()) tellDoing(/** @type {HTMLElement} */ (list.children[at]), item);
    });
    list.hidden = items.length === 0;
  };

  const forget = (/** @type {number} */ view, /** @type {string} */ url) => {
    images.delete(view);
    URL.revokeObjectURL(url);
  };

  const socket = openSocket({}, {
    connected: (connected) => void (connected && reportVisible()),
    message(message) {
      if (message.type !== "wall") return;
      cards = message.sessions;
      const shown = new Set(cards.filter(({ state }) => state === "shown").map(({ view }) => view));
      for (const [view, url] of images) if (!shown.has(view)) forget(view, url);
      live.set({ ...live.get(), cards, holds: message.holds });
      held(message.holds);
      show();
    },
    image({ view, image }) {
      const before = images.get(view);
      const url = URL.createObjectURL(new Blob([image], { type: "image/webp" }));
      images.set(view, url);
      const session = cards.find((card) => card.view === view)?.session;
      for (const one of list.querySelectorAll("img")) {
        if (one.dataset.session === session) [one.src, one.hidden] = [url, false];
      }
      if (before) URL.revokeObjectURL(before);
    },
  });
  const reportVisible = () => socket.send({ type: "visible", visible: document.visibilityState === "visible" });
  document.addEventListener("visibilitychange", reportVisible);

  return {
    list,
    socket,
    /**
     * @param {Session[]} active
     * @param {string | null} onStage the session that the stage shows
     */
    update(active, onStage) {
      [sessions, left] = [active, onStage];
      show();
    },
    close() {
      document.removeEventListener("visibilitychange", reportVisible);
      for (const [view, url] of images) forget(view, url);
      socket.close();
    },
  };
}

/**
 * @param {Item} item
 * @param {string | null} image
 */
function cardOf({ key, session, card }, image) {
  const { name, state } = session;
  const title = make("span", { look: "line" }, make("span", { look: "dot" }), make("strong", { look: "cut grow" }, name), state !== "ready" && state !== "active" && make("span", { look: "quiet small" }, state), make("span", { look: "tag" }));
  return make("li", {}, make("a", { look: "session-card", href: `#live/${encodeURIComponent(key)}` }, thumbnail(key, card, image), title, make("span", { look: "quiet small cut" })));
}

/**
 * The agent that acts in a session, or did a moment ago, and its action.
 * @param {Card | null | undefined} card
 * @returns {[string, string] | null}
 */
export function actingIn(card) {
  const { agent, action } = card?.driver ?? {};
  return card?.running ?? (agent && action ? [agent, action] : null);
}

/**
 * Shows in a card who acts, and whether its agents are held.
 * @param {HTMLElement} element
 * @param {Item} item
 */
function tellDoing(element, { session, card }) {
  const { policy, upstream, browser_version, headed, memory_bytes, tabs, shared_tabs, clients } = session;
  const facts = [
    upstream === "extension" ? `your own browser, ${shared_tabs} shared` : `${browserName(browser_version ?? "browser")}${headed ? ", with a window" : ""}`,
    `${tabs} ${tabs === 1 ? "tab" : "tabs"}`,
    clients > 0 ? `${clients} ${clients === 1 ? "client" : "clients"}` : "",
    memory_bytes ? `${memory_bytes / MEBIBYTE} MiB` : "",
  ];
  const acts = actingIn(card);
  const running = acts ? `${acts[0]} ${verbOf(acts[1])}` : "";
  const [word, look] = card?.is_taken ? ["taken over", "you"] : card?.hold ? [card.hold, "warning"] : [policy, policy === "guarded" ? "good" : "warning"];
  const [dot, tagged, below] = [".dot", ".tag", ".small.cut"].map((found) => /** @type {HTMLElement} */ (element.querySelector(`.session-card > ${found}, .session-card > .line > ${found}`)));
  dot.className = `dot ${card?.is_taken ? "you" : card?.hold ? "ask" : running ? "drive" : "on"}`;
  say(tagged, word, `tag ${look}`);
  say(below, running || facts.filter((text) => text !== "").join(" · "));
}

/**
 * @param {string} key
 * @param {Card | null} card
 * @param {string | null} image
 */
function thumbnail(key, card, image) {
  const text = card && card.state !== "shown" ? stateText(card.state === "taken" ? "elsewhere" : card.state, { session: key, refused: card.refused }) : null;
  if (text) return make("span", { look: "thumbnail" }, icon(text.icon), make("span", { look: "small" }, text.title));
  const shown = make("img", { alt: "", ...(image ? { src: image } : { hidden: "" }) });
  shown.dataset.session = key;
  return make("span", { look: "thumbnail" }, shown);
}
