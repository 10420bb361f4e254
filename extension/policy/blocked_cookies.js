// Cookies of blocked sites: removed from CDP results and events, and never written. A cookie belongs to a blocked site when
// it is sent there or lies in that site's partition.

import * as sites from "./sites.js";

const isText = (value) => typeof value === "string" && value !== "";

/** Whether a cookie, as CDP describes it, belongs to a blocked site. */
function isBlockedCookie(cookie) {
  return sites.isBlockedCookieDomain(cookie?.domain) || isBlockedPartition(cookie?.partitionKey);
}

/** A partition is named after a site, which is the blocked host or a parent domain of it. */
function isBlockedPartition(key) {
  const site = typeof key === "string" ? key : key?.topLevelSite;
  if (!isText(site)) return false;
  const host = sites.hostOf(site);
  return host !== null && sites.isAtOrAboveBlocked(host);
}

/** Whether a cookie that a command writes or deletes belongs to a blocked site. */
export function isBlockedWrite(cookie) {
  if (isText(cookie?.url) && sites.isBlocked(cookie.url)) return true;
  // Chrome extends a `domain` attribute to all subdomains.
  if (isText(cookie?.domain) && sites.isBlockedCookieDomain(`.${cookie.domain.replace(/^\./, "")}`)) return true;
  return isBlockedPartition(cookie?.partitionKey);
}

/** The cookies that clients may receive. */
export const allowedCookies = (cookies) => (Array.isArray(cookies) ? cookies.filter((one) => !isBlockedCookie(one)) : []);

/** Whether a `Set-Cookie` line names a domain whose cookies are sent to a blocked site. */
export function isBlockedSetCookie(line) {
  const domain = /;\s*domain\s*=\s*"?([^;"]*)/i.exec(line)?.[1]?.trim();
  return isText(domain) && sites.isBlockedCookieDomain(`.${domain.replace(/^\./, "")}`);
}

const allowedLines = (text) => String(text).split("\n").filter((line) => !isBlockedSetCookie(line)).join("\n");

/** Headers by name, without `Set-Cookie` lines of blocked sites and without the named cookies in `Cookie`. */
function allowedHeaders(headers, namesLeftOut = new Set()) {
  const kept = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = name.toLowerCase();
    if (lower === "set-cookie") kept[name] = allowedLines(value);
    else if (lower === "cookie") kept[name] = withoutPairs(value, namesLeftOut);
    else kept[name] = value;
  }
  return kept;
}

const withoutPairs = (text, names) =>
  String(text)
    .split(/;\s*/)
    .filter((pair) => !names.has(pair.split("=", 1)[0].trim()))
    .join("; ");

const isAllowedEntry = ({ name, value }) => String(name).toLowerCase() !== "set-cookie" || !isBlockedSetCookie(value);

function requestExtraInfo(params) {
  const all = params.associatedCookies ?? [];
  const names = new Set(all.map(({ cookie }) => cookie).filter(isBlockedCookie).map(({ name }) => name));
  const associatedCookies = all.filter(({ cookie }) => !isBlockedCookie(cookie));
  return { ...params, associatedCookies, headers: allowedHeaders(params.headers, names) };
}

function responseExtraInfo(params) {
  const isAllowed = (one) => !isBlockedCookie(one.cookie) && !isBlockedSetCookie(one.cookieLine ?? "");
  const kept = { ...params, headers: allowedHeaders(params.headers) };
  for (const name of ["blockedCookies", "exemptedCookies"]) if (params[name]) kept[name] = params[name].filter(isAllowed);
  delete kept.headersText;
  return kept;
}

function requestPaused(params) {
  if (!Array.isArray(params.responseHeaders)) return params;
  return { ...params, responseHeaders: params.responseHeaders.filter(isAllowedEntry) };
}

function responseReceived(params) {
  if (!params.response) return params;
  const { headersText: _, requestHeadersText: __, ...response } = params.response;
  return { ...params, response: { ...response, headers: allowedHeaders(response.headers) } };
}

/** Reports issues of cookies without the cookie's text. */
function issueAdded(params) {
  const cookies = params.issue?.details?.cookieIssueDetails;
  if (!cookies) return params;
  const { rawCookieLine: _, ...details } = cookies;
  return { ...params, issue: { ...params.issue, details: { ...params.issue.details, cookieIssueDetails: details } } };
}

const EVENTS = new Map([
  ["Audits.issueAdded", issueAdded],
  ["Network.requestWillBeSentExtraInfo", requestExtraInfo],
  ["Network.responseReceivedExtraInfo", responseExtraInfo],
  ["Network.responseReceivedEarlyHints", (params) => ({ ...params, headers: allowedHeaders(params.headers) })],
  ["Network.responseReceived", responseReceived],
  ["Fetch.requestPaused", requestPaused],
]);

/** An event's parameters without the cookies of blocked sites. */
export function allowedParams(method, params) {
  const change = sites.hasAny() ? EVENTS.get(method) : undefined;
  return change === undefined || !params ? params : change(params);
}
