// Which CDP commands are sent to Chrome. Some never are. While the user blocks sites, only listed commands are sent: an
// unknown method might read, change or open a blocked site. Attached tabs load nothing from blocked sites
// (`network_block.js`), so commands that stay within the page are safe; those that reach beyond the page are checked here.

import { allowedCookies, isBlockedSetCookie, isBlockedWrite } from "./blocked_cookies.js";
import * as sites from "./sites.js";

/** Commands that change the user's whole profile. */
const NEVER = new Set([
  "Network.clearBrowserCookies",
  "Network.clearBrowserCache",
  "Storage.clearCookies",
  "Storage.clearDataForOrigin",
  "Storage.clearDataForStorageKey",
]);

/** Domains whose commands all stay within the page and its frames. */
const PAGE_DOMAINS = new Set(
  (
    "Accessibility Animation CSS Console DOM DOMDebugger DOMSnapshot Debugger Emulation EventBreakpoints Input " +
    "Inspector LayerTree Log Overlay Performance PerformanceTimeline Runtime WebAudio WebAuthn"
  ).split(" "),
);

/** Harmless commands of the other domains. */
const HARMLESS = new Set(
  [
    "Page.addScriptToEvaluateOnLoad Page.addScriptToEvaluateOnNewDocument Page.bringToFront Page.captureScreenshot",
    "Page.clearCompilationCache Page.close Page.crash Page.createIsolatedWorld Page.disable Page.enable",
    "Page.getFrameTree Page.getLayoutMetrics Page.handleFileChooser Page.handleJavaScriptDialog",
    "Page.navigateToHistoryEntry Page.printToPDF Page.reload Page.removeScriptToEvaluateOnLoad",
    "Page.removeScriptToEvaluateOnNewDocument Page.resetNavigationHistory Page.screencastFrameAck",
    "Page.setAdBlockingEnabled Page.setBypassCSP Page.setDeviceMetricsOverride Page.setDocumentContent",
    "Page.clearDeviceMetricsOverride Page.setDownloadBehavior Page.setFontFamilies Page.setFontSizes",
    "Page.setGeolocationOverride Page.clearGeolocationOverride Page.setInterceptFileChooserDialog",
    "Page.setLifecycleEventsEnabled Page.setPrerenderingAllowed Page.setTouchEmulationEnabled",
    "Page.setWebLifecycleState Page.startScreencast Page.stopLoading Page.stopScreencast Page.waitForDebugger",
    "Network.disable Network.emulateNetworkConditions Network.emulateNetworkConditionsByRule Network.enable",
    "Network.getRequestPostData Network.getResponseBody Network.overrideNetworkState Network.searchInResponseBody",
    "Network.setAcceptedEncodings Network.clearAcceptedEncodingsOverride Network.setBlockedURLs",
    "Network.setBypassServiceWorker",
    "Network.setCacheDisabled Network.setExtraHTTPHeaders Network.setUserAgentOverride",
    "Network.streamResourceContent",
    "Fetch.continueWithAuth Fetch.disable Fetch.enable Fetch.failRequest Fetch.getResponseBody",
    "Fetch.takeResponseBodyAsStream",
    "Audits.disable Audits.enable IO.close IO.read IO.resolveBlob",
    "Storage.getStorageKey Storage.getStorageKeyForFrame",
    "Target.detachFromTarget Target.getTargetInfo Target.setAutoAttach",
  ]
    .join(" ")
    .split(" "),
);

const denied = (message) => ({ code: "POLICY_DENIED", message });
const BLOCKED = denied("The user blocks this site in this browser.");
const COOKIES = denied("The user blocks this site in this browser: its cookies can be neither read nor changed.");

const byUrl = (name) => (params) => (sites.isBlocked(params[name] ?? "") ? BLOCKED : null);
const byCookie = (params) => (isBlockedWrite(params) ? COOKIES : null);
const byCookies = ({ cookies }) => (Array.isArray(cookies) && !cookies.some(isBlockedWrite) ? null : COOKIES);

/** Response headers in a command: a list, or one base64 text with a NUL between them. */
function byHeaders({ responseHeaders, binaryResponseHeaders }) {
  const listed = Array.isArray(responseHeaders) ? responseHeaders.map(({ name, value }) => `${name}: ${value}`) : [];
  const all = [...listed, ...readBinary(binaryResponseHeaders)];
  return all.some((line) => /^\s*set-cookie\s*:/i.test(line) && isBlockedSetCookie(line)) ? COOKIES : null;
}

function readBinary(text) {
  if (typeof text !== "string" || text === "") return [];
  try {
    return atob(text).split("\0");
  } catch {
    return [];
  }
}

/** Commands that are checked by their parameters. */
const CHECKED = new Map([
  ["Page.navigate", byUrl("url")],
  ["Target.createTarget", byUrl("url")],
  ["Fetch.continueRequest", byUrl("url")],
  ["Fetch.continueResponse", byHeaders],
  ["Fetch.fulfillRequest", byHeaders],
  ["Network.setCookie", byCookie],
  ["Network.deleteCookies", byCookie],
  ["Network.setCookies", byCookies],
  ["Storage.setCookies", byCookies],
  ["Storage.getUsageAndQuota", byUrl("origin")],
]);

/** Commands whose results are filtered. */
const cookieResult = (result) => ({ ...result, cookies: allowedCookies(result?.cookies) });
const RESULTS = new Map([
  ["Network.getAllCookies", cookieResult],
  ["Network.getCookies", cookieResult],
  ["Storage.getCookies", cookieResult],
  ["Page.getNavigationHistory", historyResult],
]);

/** Clients address entries by index, so entries of blocked sites stay in place, blanked. */
function historyResult(result) {
  const hide = (entry) => ({ ...entry, url: "about:blank", userTypedURL: "about:blank", title: "" });
  const isHidden = (entry) => sites.isBlocked(entry.url) || sites.isBlocked(entry.userTypedURL);
  const entries = Array.isArray(result?.entries) ? result.entries : [];
  return { ...result, entries: entries.map((entry) => (isHidden(entry) ? hide(entry) : entry)) };
}

/** The error for a command that must not be sent, or null. */
export function denialOf(method, params) {
  if (NEVER.has(method)) return denied(`${method} changes the user's whole profile.`);
  if (!sites.hasAny()) return null;
  const check = CHECKED.get(method);
  if (check !== undefined) return check(params);
  if (HARMLESS.has(method) || RESULTS.has(method) || PAGE_DOMAINS.has(method.split(".", 1)[0])) return null;
  return denied(`${method} is refused while the user blocks sites in this browser: it could read or change one.`);
}

/**
 * The error for a cookie that must not be deleted by URL, or null. Chrome also deletes cookies of the parent domains,
 * so the cookies that the URL has are passed in.
 */
export function denialOfDelete({ name }, cookies) {
  const named = cookies.filter((cookie) => cookie.name === name);
  return allowedCookies(named).length === named.length ? null : COOKIES;
}

/** The filtered result of a command. */
export function allowedResult(method, result) {
  const change = sites.hasAny() ? RESULTS.get(method) : undefined;
  return change === undefined ? result : change(result);
}

/** Commands that would undo the protection of a tab (`tab_protection.js`). */
const SKIPPED = new Set(["Network.disable", "Network.setBypassServiceWorker", "Page.setPrerenderingAllowed"]);

/** Whether a command succeeds without being sent. */
export const isSkipped = (method) => sites.hasAny() && SKIPPED.has(method);
