// Which CDP commands are passed on to Chrome. Some never are, whoever asks. While the user blocks sites, a command
// passes only if it is on the list here: a method that this extension does not know might read, change or enter one.
// Tabs that are driven load nothing of blocked sites (`network_block.js`), so commands that stay within the page are
// harmless; what reaches beyond the page is judged here. Knows nothing of tabs or of debuggers.

import { allowedCookies, isBlockedSetCookie, isBlockedWrite } from "./blocked_cookies.js";
import * as sites from "./sites.js";

/** What would change the user's whole profile rather than a page. */
const NEVER = new Set([
  "Network.clearBrowserCookies",
  "Network.clearBrowserCache",
  "Storage.clearCookies",
  "Storage.clearDataForOrigin",
  "Storage.clearDataForStorageKey",
]);

/** Domains whose every command stays within the page and the frames in it. */
const PAGE_DOMAINS = new Set(
  (
    "Accessibility Animation CSS Console DOM DOMDebugger DOMSnapshot Debugger Emulation EventBreakpoints Input " +
    "Inspector LayerTree Log Overlay Performance PerformanceTimeline Runtime WebAudio WebAuthn"
  ).split(" "),
);

/** Commands of the other domains that pass as they are. */
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
const BLOCKED = denied("The user keeps everybody out of this site in this browser.");
const COOKIES = denied("The user keeps everybody out of this site in this browser: its cookies are neither read nor changed.");

const byAddress = (name) => (params) => (sites.isBlocked(params[name] ?? "") ? BLOCKED : null);
const byCookie = (params) => (isBlockedWrite(params) ? COOKIES : null);
const byCookies = ({ cookies }) => (Array.isArray(cookies) && !cookies.some(isBlockedWrite) ? null : COOKIES);

/** Headers that a response is given: as a list, or as one text in base64 with a NUL between them. */
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

/** Commands that are judged by what they name. */
const JUDGED = new Map([
  ["Page.navigate", byAddress("url")],
  ["Target.createTarget", byAddress("url")],
  ["Fetch.continueRequest", byAddress("url")],
  ["Fetch.continueResponse", byHeaders],
  ["Fetch.fulfillRequest", byHeaders],
  ["Network.setCookie", byCookie],
  ["Network.deleteCookies", byCookie],
  ["Network.setCookies", byCookies],
  ["Storage.setCookies", byCookies],
  ["Storage.getUsageAndQuota", byAddress("origin")],
]);

/** Commands whose results are passed on in part. */
const cookieResult = (result) => ({ ...result, cookies: allowedCookies(result?.cookies) });
const RESULTS = new Map([
  ["Network.getAllCookies", cookieResult],
  ["Network.getCookies", cookieResult],
  ["Storage.getCookies", cookieResult],
  ["Page.getNavigationHistory", historyResult],
]);

/** Clients count entries, so those of blocked sites stay in their places, and say nothing. */
function historyResult(result) {
  const hide = (entry) => ({ ...entry, url: "about:blank", userTypedURL: "about:blank", title: "" });
  const isHidden = (entry) => sites.isBlocked(entry.url) || sites.isBlocked(entry.userTypedURL);
  const entries = Array.isArray(result?.entries) ? result.entries : [];
  return { ...result, entries: entries.map((entry) => (isHidden(entry) ? hide(entry) : entry)) };
}

/** Why a command must not be sent, or nothing. */
export function objectionTo(method, params) {
  if (NEVER.has(method)) return denied(`${method} would change the user's whole profile.`);
  if (!sites.hasAny()) return null;
  const judge = JUDGED.get(method);
  if (judge !== undefined) return judge(params);
  if (HARMLESS.has(method) || RESULTS.has(method) || PAGE_DOMAINS.has(method.split(".", 1)[0])) return null;
  return denied(`${method} is refused while the user blocks sites in this browser: it could read or change one.`);
}

/**
 * Why a cookie must not be deleted by its address, which takes those of the domains above along: asked with the cookies
 * that the address has.
 */
export function objectionToDeleting({ name }, cookies) {
  const named = cookies.filter((cookie) => cookie.name === name);
  return allowedCookies(named).length === named.length ? null : COOKIES;
}

/** What is passed on of a result. */
export function allowedResult(method, result) {
  const change = sites.hasAny() ? RESULTS.get(method) : undefined;
  return change === undefined ? result : change(result);
}

/** Commands that would undo what keeps blocked sites out of a tab (`shield.js`). */
const KEPT = new Set(["Network.disable", "Network.setBypassServiceWorker", "Page.setPrerenderingAllowed"]);

/** Whether a command is taken for done and not sent. */
export const isKeptFromChrome = (method) => sites.hasAny() && KEPT.has(method);
