// The icon's badge and tooltip: how things stand, at a glance. Colour never tells alone, the letters do too.

import * as debuggee from "./debuggee.js";
import * as link from "./link.js";
import * as news from "./news.js";
import * as sharing from "./sharing.js";

const LOOKS = {
  paused: { text: "II", colour: "#8a5a00", title: "Tabwire: everything is paused" },
  away: { text: "", colour: "#5f6368", title: "Tabwire: not connected" },
  idle: { text: "on", colour: "#1a6e4a", title: "Tabwire: connected, no tab is driven" },
};

export async function showBadge() {
  await Promise.all([sharing.load(), debuggee.load(), news.load()]);
  const look = currentLook();
  await chrome.action.setBadgeText({ text: look.text });
  await chrome.action.setBadgeBackgroundColor({ color: look.colour });
  await chrome.action.setBadgeTextColor({ color: "#ffffff" });
  await chrome.action.setTitle({ title: look.title });
}

function currentLook() {
  if (sharing.isPaused()) return LOOKS.paused;
  if (!link.isOpen()) return LOOKS.away;
  const questions = news.now().approvals.length;
  if (questions > 0) {
    const title = `Tabwire: ${questions} ${questions === 1 ? "question waits" : "questions wait"} for your answer`;
    return { text: `${questions}?`, colour: "#a8321f", title };
  }
  const driven = debuggee.attachedTabs().length;
  if (driven === 0) return LOOKS.idle;
  const title = `Tabwire: ${driven} ${driven === 1 ? "tab is" : "tabs are"} driven`;
  return { text: String(driven), colour: "#1a5fb4", title };
}
