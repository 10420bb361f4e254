// Sites that the user keeps everybody out of in this browser, whatever was granted elsewhere. Knows nothing of tabs.

let blocked = [];

export async function load() {
  const kept = await chrome.storage.local.get({ blocked: [] });
  blocked = kept.blocked;
}

export const list = () => [...blocked];

/** Keeps everybody out of these: hosts, with `*.` before them for all below. */
export async function setBlocked(texts) {
  blocked = [...new Set(texts.map(readHost).filter((host) => host !== null))];
  await chrome.storage.local.set({ blocked });
}

/** A host as the user wrote it, on its own or in an address; `null` for what is none. */
export function readHost(text) {
  const written = String(text).trim().toLowerCase();
  const bare = written.startsWith("*.") ? written.slice(2) : written;
  if (bare === "") return null;
  try {
    const { hostname } = new URL(/^[a-z][a-z0-9+.-]*:\/\//.test(bare) ? bare : `https://${bare}`);
    if (hostname === "") return null;
    return written.startsWith("*.") ? `*.${hostname}` : hostname;
  } catch {
    return null;
  }
}

/** Whether the user keeps everybody out of this address. */
export function isBlocked(url) {
  // Asked for every command and event, and most users keep no list.
  if (blocked.length === 0) return false;
  const host = hostOf(url);
  if (host === null) return false;
  return blocked.some((rule) => (rule.startsWith("*.") ? host.endsWith(rule.slice(1)) : host === rule));
}

function hostOf(url) {
  try {
    // What a blob was made on is what it belongs to.
    const { hostname } = new URL(String(url).replace(/^blob:/, ""));
    return hostname.replace(/\.$/, "") || null;
  } catch {
    return null;
  }
}

/** Why a command must not be sent: it would go to a site that the user keeps everybody out of. */
export function objectionTo(method, params) {
  if (method !== "Page.navigate" && method !== "Target.createTarget") return null;
  if (!isBlocked(params?.url ?? "")) return null;
  return { code: "POLICY_DENIED", message: "The user keeps everybody out of this site in this browser." };
}
