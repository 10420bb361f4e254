// The websocket of a live view: the key first, then states as JSON and images as binary messages.
// @ts-check

import { dashboardKey } from "../connection.js";

const PAUSES_MS = [500, 1_000, 2_000, 4_000];
const HEAD_BYTES = 24;

/** How many commands wait for the connection; more are dropped. */
const WAITING = 16;

/** @typedef {{kind: number, view: number, seq: number, time: number, width: number, height: number, scale: number, image: ArrayBuffer}} Image */
/** @typedef {{message: (message: any) => void, image: (image: Image) => void, connected: (connected: boolean) => void}} Receiver */
/**
 * `send` drops what is sent while there is no connection, as input must not come late. `command` sends it once there is one.
 * @typedef {{send: (message: Record<string, unknown>) => void, command: (message: Record<string, unknown>) => void, sendPart: (part: Uint8Array<ArrayBuffer>) => void, close: () => void}} LiveSocket
 */

/**
 * Opens the socket and dials again until it is closed.
 * @param {{session?: string, tab?: string}} wanted
 * @param {Receiver} receiver
 * @returns {LiveSocket}
 */
export function openSocket(wanted, receiver) {
  /** @type {WebSocket | null} */
  let socket = null;
  let [failures, isClosed, isConnected] = [0, false, false];
  /** @type {Record<string, unknown>[]} */
  const waiting = [];
  const dial = () => {
    const key = dashboardKey();
    if (isClosed || !key) return;
    let isAccepted = false;
    const own = new WebSocket(`ws://${location.host}/dashboard/live`);
    own.binaryType = "arraybuffer";
    own.addEventListener("open", () => own.send(JSON.stringify({ key, ...wanted })));
    own.addEventListener("message", ({ data }) => {
      if (isClosed) return;
      if (!isAccepted) connected(own);
      [isAccepted, failures] = [true, 0];
      if (data instanceof ArrayBuffer) receiver.image(readImage(data));
      else receiver.message(JSON.parse(data));
    });
    own.addEventListener("close", () => {
      if (isClosed) return;
      isConnected = false;
      receiver.connected(false);
      setTimeout(dial, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
      failures += 1;
    });
    socket = own;
  };
  const connected = (/** @type {WebSocket} */ own) => {
    isConnected = true;
    for (const message of waiting.splice(0)) own.send(JSON.stringify(message));
    receiver.connected(true);
  };
  // The caller gets the socket before the first message.
  queueMicrotask(dial);
  const isOpen = () => socket?.readyState === WebSocket.OPEN;
  return {
    send: (message) => void (isOpen() && socket?.send(JSON.stringify(message))),
    command(message) {
      if (isConnected) socket?.send(JSON.stringify(message));
      else if (waiting.length < WAITING) waiting.push(message);
    },
    sendPart: (part) => void (isOpen() && socket?.send(part)),
    close() {
      isClosed = true;
      socket?.close();
    },
  };
}

/**
 * Reads the head of an image. All numbers are little-endian.
 * @param {ArrayBuffer} data
 * @returns {Image}
 */
function readImage(data) {
  const head = new DataView(data, 0, HEAD_BYTES);
  return {
    kind: head.getUint8(0),
    view: head.getUint8(1),
    seq: head.getUint32(4, true),
    time: head.getFloat64(8, true),
    width: head.getUint16(16, true),
    height: head.getUint16(18, true),
    scale: head.getFloat32(20, true),
    image: data.slice(HEAD_BYTES),
  };
}
