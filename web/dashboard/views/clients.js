// The clients that are connected, and the button that disconnects one.
// @ts-check

import { button, make } from "../shared/element.js";
import { notice, tag } from "../shared/components.js";
import { icon } from "../shared/icons.js";
import { showList } from "../shared/keyed_list.js";
import { ago } from "../shared/time.js";
import { holdOf, live } from "../live/now.js";
import { openSocket } from "../live/socket.js";
import { failureText } from "../requests.js";

/** @typedef {{id: string, kind: string, name?: string | null, program?: string | null, pid?: number | null, since?: number | null, session: string, pending: number, disconnects: boolean, agent?: string | null}} Client */

const KINDS = new Map([
  ["mcp", "MCP"],
  ["cdp", "CDP"],
  ["shim", "Chrome shim"],
  ["script", "Script"],
  ["extension", "Extension"],
]);

/** Clients whose actions are held one by one. CDP clients are held with their session. */
const HELD = ["mcp", "script"];

/** How often the list is read while it is shown. */
const REFRESH_MS = 2_000;

/** @type {import("../dashboard.js").View} */
export const clients = {
  id: "clients",
  title: "Clients",
  icon: "plug",
  create(body, _tools, { request }) {
    const fault = make("div", { role: "status" });
    const list = make("ul", { look: "panel" });
    const empty = make("div", { look: "empty", hidden: "" }, icon("plug"), make("p", {}, "No client is connected."));
    body.append(fault, list, empty);
    /** @param {string} text */
    const say = (text) => fault.replaceChildren(...(text === "" ? [] : [notice({ look: "warning", icon: "info", title: text })]));
    /** @type {Client[]} */
    let all = [];
    const show = () => {
      const items = all.map((one) => ({ ...one, hold: HELD.includes(one.kind) ? holdOf(live.get().holds, one.agent ?? one.name ?? "") : null }));
      showList(list, items, ({ id }) => id, (one) => row(one, disconnect, (type, agent) => socket.command({ type, scope: { agent } })));
    };
    const refresh = async () => {
      try {
        all = (await request("clients")).clients;
        show();
        list.hidden = all.length === 0;
        empty.hidden = all.length > 0;
      } catch (error) {
        say(failureText(error));
      }
    };
    /** @param {Client} one */
    const disconnect = async (one) => {
      say("");
      await request("client_disconnect", { client: one.id }).catch((error) => say(failureText(error)));
      await refresh();
    };
    // The socket of the wall carries who is held, and the commands that hold.
    const socket = openSocket({}, {
      connected: () => {},
      image: () => {},
      message(message) {
        if (message.type === "failed") say(message.message);
        if (message.type === "wall") live.set({ ...live.get(), holds: message.holds });
      },
    });
    const unsubscribe = live.subscribe(() => show());
    let asked = 0;
    const tick = () => {
      if (!list.isConnected) {
        socket.close();
        unsubscribe();
        return clearInterval(timer);
      }
      if (!document.hidden) void refresh();
    };
    const timer = setInterval(tick, REFRESH_MS);
    return () => {
      if (Date.now() - asked < REFRESH_MS) return;
      asked = Date.now();
      void refresh();
    };
  },
};

/**
 * @param {Client & {hold: "paused" | "stopped" | null}} client
 * @param {(client: Client) => void} disconnect
 * @param {(type: string, agent: string) => void} control
 */
function row(client, disconnect, control) {
  const { kind, name, program, pid, since, session, pending, disconnects, hold, agent } = client;
  const title = name ?? program ?? "unknown client";
  const facts = [program && program !== title ? program : "", pid ? `process ${pid}` : "", session ? `session ${session}` : "", since ? `connected ${ago(since)}` : ""];
  const texts = make("span", { look: "texts" }, make("strong", { look: "wrap" }, title), make("span", { look: "quiet wrap" }, facts.filter(Boolean).join(" · ")));
  const end = disconnects ? button("Disconnect", () => disconnect(client), { look: "mini", label: `Disconnect ${title}` }) : make("span", { look: "quiet small" }, kind === "extension" ? "pause it in its popup" : "");
  const holds = HELD.includes(kind) && name ? [hold ? button([icon("play"), "Resume"], () => control("resume", agent ?? name), { look: "mini" }) : button([icon("pause"), "Pause"], () => control("pause", agent ?? name), { look: "mini" }), hold !== "stopped" && button([icon("stop"), "Stop"], () => control("stop", agent ?? name), { look: "mini" })] : [];
  for (const one of holds) if (one) one.setAttribute("aria-label", `${one.textContent} ${title}`);
  const state = hold ? tag(hold, "warning") : pending > 0 ? tag(`${pending} pending`, "agent") : null;
  return make("li", { look: "row client" }, tag(KINDS.get(kind) ?? kind), texts, state, make("span", { look: "line controls" }, ...holds, end));
}
