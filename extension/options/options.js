// The options page: pairing, shared tabs, blocked sites, policy, denials, log.

import { fill, grantRow, make, denialRow, say } from "../ui/element.js";
import { isBarrierOnly } from "../link/event_barrier.js";

const part = (id) => document.getElementById(id);
const modes = [...document.querySelectorAll("input[name=mode]")];
/** The list of sites as last shown. */
let shownSites = "";

async function ask(request) {
  const state = await chrome.runtime.sendMessage(request);
  show(state);
  return state;
}

function show(state) {
  const { connected, daemon, host, manual, paused } = state;
  const paired = connected ? `Connected to Tabwire ${daemon?.version ?? ""}.` : "Not connected.";
  const rests = paused ? " Automation is paused; resume it in the popup." : "";
  say(part("pairing"), paired + rests, connected && !paused ? "good" : "warning");
  part("host").textContent = (!connected && state.rejection) || hostSentence(host, manual);
  for (const mode of modes) mode.checked = mode.value === state.mode;
  showAccess(state);
  showSites(state.blocked.join("\n"));
  showPolicy(state);
  fill(part("refusals"), state.refusals.map(denialRow), part("no-refusals"), "Nothing was refused.");
  fill(part("log"), state.log.map(logRow), part("no-log"), "Nothing happened yet.");
  part("version").textContent = chrome.runtime.getManifest().version;
  part("install").textContent = state.install;
  part("left-out").textContent = state.droppedEvents > 0 ? `, ${state.droppedEvents} events dropped` : "";
}

/** Shows the list of sites, unless the user has edited it. */
function showSites(list) {
  const field = part("blocked");
  if (document.activeElement !== field && field.value === shownSites) field.value = list;
  if (field.value === list) shownSites = list;
}

function hostSentence(host, manual) {
  if (manual) return "Paired by hand.";
  if (host === "found") return "The native host responds; port and key come from it.";
  return `The native host does not respond (${String(host).replace(/\.$/, "")}). Run \`tabwire extension install\`, or pair by hand.`;
}

function showAccess({ files, incognito }) {
  part("files").textContent = files
    ? "File URLs can be shared: Chrome's “Allow access to file URLs” is on."
    : "Pages of files cannot be shared, and no file can be uploaded: Chrome's “Allow access to file URLs” is off.";
  part("incognito").textContent = incognito
    ? "Chrome allows private windows, but the extension does not run in them."
    : "The extension does not run in private windows.";
}

function showPolicy({ policy, grants, decided, connected }) {
  part("policy").textContent = connected ? policySentence(policy) : "Not connected: Tabwire stores the policy.";
  part("policy").className = policy?.fault ? "warning" : "";
  part("rules").replaceChildren(...(policy?.rules ?? []).map(ruleRow));
  const revoke = (grant) => ask({ ask: "revoke", grant });
  fill(part("grants"), grants.map((grant) => grantRow(grant, revoke)), part("no-grants"), "Nothing.");
  fill(part("decided"), decided.map(decidedRow), part("no-decided"), "Nothing.");
}

function policySentence(policy) {
  if (!policy) return "";
  if (policy.fault) return policy.fault;
  const unlisted = policy.unlisted === "deny" ? "refused" : "asked about";
  return `Unlisted sites are ${unlisted}. Rules are in ${policy.file}.`;
}

function ruleRow({ site, allow, ask: asked, deny }) {
  const words = [["allow", allow], ["ask", asked], ["deny", deny]].filter(([, list]) => list?.length > 0);
  return make("li", {}, make("strong", {}, String(site)), make("span", { look: "quiet" }, ` ${words.map(([word, list]) => `${word} ${[].concat(list).join(", ")}`).join("; ")}`));
}

function decidedRow({ who, client, site, capability, answer, by }) {
  return make("li", {}, make("strong", {}, site), make("span", { look: "quiet" }, ` ${capability} for ${client || who}: ${answer}, by ${by}`));
}

function logRow({ when, sentence }) {
  return make("li", {}, make("time", {}, new Date(when).toLocaleTimeString()), sentence);
}

async function keepOut() {
  const wanted = part("blocked").value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  part("keep-out").focus();
  // The saved list replaces the text.
  shownSites = part("blocked").value;
  const { blocked } = await ask({ ask: "sites", blocked: wanted });
  const lost = wanted.length - blocked.length;
  say(part("sites-state"), lost > 0 ? `Saved ${blocked.length}; ${lost} lines are not a host, duplicates, or over the limit.` : `Saved ${blocked.length}.`, lost > 0 ? "warning" : "good");
}

part("connect").addEventListener("click", () => ask({ ask: "connect" }));
part("keep-out").addEventListener("click", keepOut);
part("forget").addEventListener("click", () => ask({ ask: "pair", manual: null }));
part("manual").addEventListener("submit", (event) => {
  event.preventDefault();
  const manual = { port: Number(part("port").value), key: part("key").value };
  part("manual").reset();
  ask({ ask: "pair", manual });
});
for (const mode of modes) mode.addEventListener("change", () => ask({ ask: "mode", mode: mode.value }));
chrome.storage.onChanged.addListener((changes) => isBarrierOnly(changes) || ask({ ask: "state" }));
ask({ ask: "state" });
