// The popup: how things stand, sharing this tab, stopping everything. Knows nothing beyond what the worker says.

const part = (id) => document.getElementById(id);

async function ask(request) {
  show(await chrome.runtime.sendMessage(request));
}

function show(state) {
  showConnection(state);
  showFront(state);
  showTabs(state);
  const pause = part("pause");
  pause.textContent = state.paused ? "Go on" : "Pause everything";
  pause.onclick = () => ask({ ask: "pause", paused: !state.paused });
}

function showConnection({ connected, paused, host }) {
  const connection = part("connection");
  if (paused) say(connection, "paused", "warning");
  else if (connected) say(connection, "connected", "good");
  else say(connection, host === "found" ? "not running" : "not paired", "warning");
}

function showFront({ front, mode }) {
  const button = part("share");
  button.hidden = mode === "all";
  if (!front || front.restricted) {
    say(part("front-state"), front ? "Chrome lets no extension into this kind of page." : "There is no tab here.");
    button.disabled = true;
    button.textContent = "Share this tab";
    return;
  }
  button.disabled = false;
  if (mode === "all") say(part("front-state"), "Every ordinary tab is shared; see the options.");
  else if (front.shared === "agent") say(part("front-state"), "Opened for the agent.");
  else say(part("front-state"), front.shared ? "Shared: it can be read and driven." : "Not shared: nobody sees it.");
  button.textContent = front.shared ? "Stop sharing this tab" : "Share this tab";
  button.onclick = () => ask({ ask: front.shared ? "unshare" : "share", tab: front.tab });
}

function showTabs({ tabs, paused, mode }) {
  const empty = part("no-tabs");
  empty.hidden = tabs.length > 0;
  empty.textContent = paused ? "Everything is paused." : "No tab is shared.";
  part("tabs").replaceChildren(...tabs.map((tab) => row(tab, mode)));
}

function row({ tab, title, url, driven }, mode) {
  const item = document.createElement("li");
  const name = document.createElement("span");
  name.className = "title";
  name.textContent = title || url;
  name.title = url;
  const state = document.createElement("span");
  say(state, driven ? "driven" : "idle", driven ? "good" : "quiet");
  item.append(name, state);
  if (mode === "shared") {
    const stop = document.createElement("button");
    stop.type = "button";
    stop.textContent = "Stop";
    stop.setAttribute("aria-label", `Stop sharing ${title || url}`);
    stop.onclick = () => ask({ ask: "unshare", tab });
    item.append(stop);
  }
  return item;
}

function say(element, text, look = "") {
  element.textContent = text;
  element.className = look;
}

ask({ ask: "state" });
