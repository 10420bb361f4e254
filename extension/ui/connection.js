// The state of the connection to the daemon in words, for popup and options.
// @ts-check

/** @typedef {{readAt: number, connected: boolean, paused: false | "asked" | "cancelled", host: {state: string, message: string}, manual: boolean, rejection: string | null}} ConnectionState */
/** @typedef {{word: string, look: string, title: string, text: string, command: string}} ConnectionWords */

/**
 * The state in one word for the header, and a sentence if the user can do something about it.
 * @param {ConnectionState} state
 * @returns {ConnectionWords}
 */
export function connectionWords({ connected, paused, host, manual, rejection }) {
  if (paused === "cancelled") {
    const text = "You pressed Cancel on the browser's bar. Those tabs are no longer shared, and automation is paused until you press Resume.";
    return { word: "paused", look: "warning", title: "Everything is paused.", text, command: "" };
  }
  if (paused) {
    return { word: "paused", look: "warning", title: "Everything is paused.", text: "Agents can neither see nor use any tab until you press Resume.", command: "" };
  }
  if (connected) return { word: "connected", look: "good", title: "", text: "", command: "" };
  if (rejection) return { word: "not connected", look: "warning", title: "Not connected", text: rejection, command: "" };
  if (host.state === "unknown") return { word: "connecting", look: "", title: "", text: "", command: "" };
  if (manual || host.state === "found" || host.state === "not_running") {
    const text = "It starts by itself with the next command or agent.";
    return { word: "not running", look: "", title: "Tabwire is not running.", text, command: "" };
  }
  const text = "Run this in a terminal, or pair by hand in the options.";
  return { word: "not paired", look: "warning", title: "This browser is not paired.", text, command: "tabwire extension install" };
}
