// The sites that the user blocks in this browser, even if the daemon's policy grants them, and how URLs and cookies
// match them.

/** The most hosts on the list: each becomes two of the thousand network rules that Chrome allows an extension. */
export const MOST_SITES = 400;

/** Schemes that wrap another URL; the inner URL counts. */
const WRAPPERS = /^(?:\s*(?:blob|filesystem|view-source):)+/i;

let blocked = [];

export async function load() {
  const kept = await chrome.storage.local.get({ blocked: [] });
  blocked = kept.blocked;
}

export const list = () => [...blocked];

/** Whether the user blocks any site. */
export const hasAny = () => blocked.length > 0;

/** Blocks these hosts; `*.` before a host means all its subdomains. */
export async function setBlocked(texts) {
  const hosts = texts.map(readHost).filter((host) => host !== null);
  blocked = [...new Set(hosts)].slice(0, MOST_SITES);
  await chrome.storage.local.set({ blocked });
}

/** The host in the user's text, which is a host or a URL; `null` when there is none. */
export function readHost(text) {
  const written = String(text).trim().toLowerCase();
  const bare = written.startsWith("*.") ? written.slice(2) : written;
  if (bare === "") return null;
  try {
    const { hostname } = new URL(/^[a-z][a-z0-9+.-]*:\/\//.test(bare) ? bare : `https://${bare}`);
    const host = hostname.replace(/\.$/, "");
    if (host === "") return null;
    return written.startsWith("*.") ? `*.${host}` : host;
  } catch {
    return null;
  }
}

/** Whether the user blocks the site of this URL. */
export function isBlocked(url) {
  // Called for every command and event, and most users have no list.
  if (blocked.length === 0) return false;
  const host = hostOf(url);
  return host !== null && isBlockedHost(host);
}

/** The host of a URL, without a trailing dot; `null` when it has none. */
export function hostOf(url) {
  try {
    // A blob belongs to the origin that created it.
    const { hostname } = new URL(String(url).replace(WRAPPERS, ""));
    return hostname.replace(/\.$/, "") || null;
  } catch {
    return null;
  }
}

const isBlockedHost = (host) => blocked.some((rule) => (rule.startsWith("*.") ? host.endsWith(rule.slice(1)) : host === rule));

/** Whether a cookie with this domain is sent to a blocked site. A domain with a leading dot includes all subdomains. */
export function isBlockedCookieDomain(domain) {
  const text = String(domain ?? "").trim().toLowerCase().replace(/\.$/, "");
  const host = text.replace(/^\./, "");
  if (isBlockedHost(host)) return true;
  return text.startsWith(".") && isAboveBlocked(host);
}

/** Whether a host is a blocked site or a parent domain of one. */
export function isAtOrAboveBlocked(host) {
  const name = String(host).toLowerCase().replace(/^\.|\.$/g, "");
  return isBlockedHost(name) || isAboveBlocked(name);
}

/** Whether a blocked site is a subdomain of this host. */
const isAboveBlocked = (host) => blocked.some((rule) => (rule.startsWith("*.") ? `.${rule.slice(2)}` : rule).endsWith(`.${host}`));

/** For each blocked site: a regular expression for its URLs, and its host. */
export function patterns() {
  return blocked.map((rule) => {
    const host = rule.replace(/^\*\./, "");
    const below = rule.startsWith("*.") ? "[^/?#@:]*\\." : "";
    const escaped = host.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return { host, regex: `^[a-z]+://([^/?#@]*@)?${below}${escaped}\\.?(:[0-9]+)?([/?#]|$)` };
  });
}
