// The panel's own connection to the daemon: dials until it is connected, and again when it breaks.
// @ts-check

import { connect } from "../link/dial.js";
import * as pairing from "../link/pairing.js";

/** @typedef {{port: number, key: string}} Pairing */

const PAUSES_MS = [250, 1_000, 2_000];

/**
 * @param {(message: any) => void} receive
 * @param {(isOpen: boolean) => void} report
 */
export function createLine(receive, report) {
  /** @type {WebSocket | null} */
  let socket = null;
  let failures = 0;
  let last = 0;
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: {message: string, remedy: string}) => void}>} */
  const running = new Map();

  async function dial() {
    const known = /** @type {Pairing | null} */ (await pairing.find());
    const opened = known && (await open(known));
    // The key or the port may be new.
    const anew = opened ? null : /** @type {Pairing | null} */ (await pairing.readAgain());
    if (opened || (anew && (await open(anew)))) return;
    report(false);
    setTimeout(dial, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
    failures += 1;
  }

  /** @param {Pairing} known */
  async function open(known) {
    try {
      const { socket: made, messages, welcome } = await connect(known, "panel");
      if (!welcome || messages.isEnded()) {
        made.close();
        return false;
      }
      socket = made;
      failures = 0;
      made.addEventListener("close", broke);
      report(true);
      messages.handTo((/** @type {string} */ text) => take(JSON.parse(text)));
      return true;
    } catch {
      return false;
    }
  }

  function broke() {
    socket = null;
    for (const { reject } of running.values()) reject({ message: "The connection to Tabwire broke.", remedy: "Connecting again." });
    running.clear();
    report(false);
    setTimeout(dial, PAUSES_MS[0]);
  }

  /** @param {any} message */
  function take(message) {
    if (message.type !== "response") return receive(message);
    const one = running.get(message.id);
    running.delete(message.id);
    if (message.error) one?.reject(message.error);
    else one?.resolve(message.result);
  }

  void dial();
  return {
    /**
     * Sends a request and waits for its response.
     * @param {string} name
     * @param {Record<string, unknown>} [params]
     * @returns {Promise<any>}
     */
    request(name, params = {}) {
      return new Promise((resolve, reject) => {
        if (socket === null) return reject({ message: "Tabwire is not connected.", remedy: "" });
        last += 1;
        running.set(last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, request: { name, ...params } }));
      });
    },
  };
}
