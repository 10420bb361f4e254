// The way in: the ticket of the URL becomes a key, and the key opens the line.
// @ts-check

const KEY = "key";
const PAUSES_MS = [500, 1_000, 3_000, 5_000];

/** The key of this dashboard. */
export const dashboardKey = () => sessionStorage.getItem(KEY);

/** @typedef {{connected: boolean, locked: boolean, ended?: boolean}} LineState */

/**
 * Trades the ticket in the URL, if there is one. It is removed from the address at once: it was valid once.
 */
async function enter() {
  const given = new URLSearchParams(location.hash.slice(1));
  const [ticket, session] = [given.get("ticket"), given.get("session")];
  if (!ticket) return;
  history.replaceState(null, "", session ? `${location.pathname}#live/${encodeURIComponent(session)}` : location.pathname);
  const response = await fetch("/dashboard/enter", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ticket }) });
  if (response.ok) sessionStorage.setItem(KEY, (await response.json()).key);
}

/**
 * Opens the line and keeps it open while the key is valid.
 * @param {(message: any) => void} receive
 * @param {(state: LineState) => void} report
 */
export async function connect(receive, report) {
  await enter();
  /** @type {WebSocket | null} */
  let socket = null;
  /** @type {number | null} */
  let after = null;
  let failures = 0;
  // A key that was valid before has ended; a page without one was never opened by the command.
  let ended = false;
  const dial = () => {
    const key = sessionStorage.getItem(KEY);
    if (!key) return report({ connected: false, locked: true, ended });
    let isAccepted = false;
    socket = new WebSocket(`ws://${location.host}/dashboard/line`);
    socket.addEventListener("open", () => socket?.send(JSON.stringify({ key, after })));
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "refused") {
        ended = true;
        return sessionStorage.removeItem(KEY);
      }
      if (message.type === "entries") after = message.rows.at(-1)?.number ?? after;
      if (message.type === "reset") after = 0;
      if (!isAccepted) report({ connected: true, locked: false });
      [isAccepted, failures] = [true, 0];
      receive(message);
    });
    socket.addEventListener("close", () => {
      report({ connected: false, locked: !sessionStorage.getItem(KEY), ended });
      if (!sessionStorage.getItem(KEY)) return;
      setTimeout(dial, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
      failures += 1;
    });
  };
  dial();
  return (/** @type {Record<string, unknown>} */ message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
}
