// Chats with agents, as the side panel shows them. Its parts are loaded when the view is opened first.
// @ts-check

import { make } from "../shared/element.js";
import { dashboardKey } from "../connection.js";
import { createRequests, saveFile } from "../requests.js";

const PAUSES_MS = [500, 1_000, 2_000, 4_000];
const SHOWN = "chat";

/** @type {{socket: WebSocket | null, isClosed: boolean} | null} */
let line = null;

/** @type {import("../dashboard.js").View} */
export const chats = {
  id: "chats",
  title: "Chats",
  icon: "chat",
  create(body) {
    const root = make("div", { look: "chats" });
    body.append(root);
    void start(root);
    return () => {};
  },
  close() {
    if (!line) return;
    line.isClosed = true;
    line.socket?.close();
    line = null;
  },
};

/** @param {HTMLElement} root */
async function start(root) {
  /** @type {{socket: WebSocket | null, isClosed: boolean}} */
  const own = { socket: null, isClosed: false };
  line = own;
  const { createChat } = await import("../shared/chat/chat.js");
  if (own.isClosed) return;
  const requests = createRequests((message) => own.socket?.readyState === WebSocket.OPEN && own.socket.send(JSON.stringify(message)));
  const chat = createChat(root, {
    request: requests.request,
    remember: (id) => (id ? sessionStorage.setItem(SHOWN, id) : sessionStorage.removeItem(SHOWN)),
    menu: () => [],
    save: (name, text) => saveFile([text], name.replace(/[^\p{L}\p{N} ._-]/gu, "_"), "text/markdown"),
  });
  const report = (/** @type {boolean} */ isOpen) => chat.setLine({ word: isOpen ? "connected" : "connection lost", look: isOpen ? "good" : "warning", title: "", text: "", command: "", isOpen });
  let failures = 0;
  const dial = () => {
    const key = dashboardKey();
    if (own.isClosed || !key) return;
    let isAccepted = false;
    const socket = new WebSocket(`ws://${location.host}/dashboard/chats`);
    own.socket = socket;
    socket.addEventListener("open", () => socket.send(JSON.stringify({ key })));
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if (own.isClosed || message.type === "refused") return;
      if (!isAccepted) report(true);
      [isAccepted, failures] = [true, 0];
      if (message.type === "response") requests.receive(message);
      else chat.receive(message);
    });
    socket.addEventListener("close", () => {
      requests.fail();
      if (own.isClosed) return;
      report(false);
      setTimeout(dial, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
      failures += 1;
    });
  };
  dial();
  const last = sessionStorage.getItem(SHOWN);
  if (last) await chat.open(last);
}
