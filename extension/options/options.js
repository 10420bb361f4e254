// The options page: pairing, which tabs can be driven, what was refused. Knows nothing beyond what the worker says.

const part = (id) => document.getElementById(id);
const modes = [...document.querySelectorAll("input[name=mode]")];

async function ask(request) {
  show(await chrome.runtime.sendMessage(request));
}

function show(state) {
  const { connected, daemon, host, manual } = state;
  part("pairing").textContent = connected ? `Connected to Tabwire ${daemon?.version ?? ""}.` : "Not connected.";
  part("pairing").className = connected ? "good" : "warning";
  part("host").textContent = hostSentence(host, manual);
  for (const mode of modes) mode.checked = mode.value === state.mode;
  part("version").textContent = chrome.runtime.getManifest().version;
  part("install").textContent = state.install;
  part("no-refusals").hidden = state.refusals.length > 0;
  part("refusals").replaceChildren(...state.refusals.map(refusalRow));
}

function hostSentence(host, manual) {
  if (manual) return "Paired by hand.";
  if (host === "found") return "The native host answers; port and key come from it.";
  return `The native host does not answer (${host}). Run \`tabwire extension install\`, or pair by hand.`;
}

function refusalRow({ when, what, message }) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = new Date(when).toLocaleTimeString();
  item.append(time, `${what}: ${message}`);
  return item;
}

part("connect").addEventListener("click", () => ask({ ask: "connect" }));
part("forget").addEventListener("click", () => ask({ ask: "pair", manual: null }));
part("manual").addEventListener("submit", (event) => {
  event.preventDefault();
  const manual = { port: Number(part("port").value), key: part("key").value };
  part("manual").reset();
  ask({ ask: "pair", manual });
});
for (const mode of modes) mode.addEventListener("change", () => ask({ ask: "mode", mode: mode.value }));
ask({ ask: "state" });
