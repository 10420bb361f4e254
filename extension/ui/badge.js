// The toolbar icon's badge and tooltip. The text shows the state, so that no user has to rely on colour.

import * as debuggee from "../tabs/debuggee.js";
import * as link from "../link/link.js";
import * as notifications from "../link/notifications.js";
import { hostState } from "../link/pairing_state.js";
import * as sharing from "../tabs/sharing.js";

const BADGES = {
  paused: { text: "II", colour: "#8a5a00", title: "Tabwire: paused" },
  unpaired: { text: "!", colour: "#8a5a00", title: "Tabwire: not paired with this computer" },
  away: { text: "off", colour: "#5f6368", title: "Tabwire: not running" },
  idle: { text: "on", colour: "#1a6e4a", title: "Tabwire: connected, no tab in use" },
};

export async function showBadge() {
  await Promise.all([sharing.load(), debuggee.load(), notifications.load()]);
  const badge = currentBadge(await isPaired());
  await chrome.action.setBadgeText({ text: badge.text });
  await chrome.action.setBadgeBackgroundColor({ color: badge.colour });
  await chrome.action.setBadgeTextColor({ color: "#ffffff" });
  await chrome.action.setTitle({ title: badge.title });
}

/** Whether a daemon could be reached: the native host responded, or the user paired by hand. */
async function isPaired() {
  const { state } = await hostState();
  return ["found", "not_running", "unknown"].includes(state) || "manual" in (await chrome.storage.local.get("manual"));
}

function currentBadge(paired) {
  if (sharing.isPaused()) return BADGES.paused;
  if (!link.isOpen()) return paired ? BADGES.away : BADGES.unpaired;
  const questions = notifications.now().approvals.length;
  if (questions > 0) {
    const title = `Tabwire: ${questions} ${questions === 1 ? "approval waits" : "approvals wait"} for you`;
    return { text: `${questions}?`, colour: "#a8321f", title };
  }
  const driven = debuggee.attachedTabs().length;
  if (driven === 0) return BADGES.idle;
  const title = `Tabwire: ${driven} ${driven === 1 ? "tab" : "tabs"} in use`;
  return { text: String(driven), colour: "#1a5fb4", title };
}
