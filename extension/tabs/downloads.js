// Finds the files of finished downloads and cancels running ones. The debugger reports a download; only `chrome.downloads`
// knows the path of its file.

import * as sharing from "./sharing.js";
import * as sites from "../policy/sites.js";

/** How often, and how long apart, Chrome is polled for a finished file. */
const POLLS = 100;
const PAUSE_MS = 50;

/** Downloads whose files were reported: two downloads of one URL are two files. */
const reported = new Set();

/** The error for a download that must not be used, or null. Without a URL, Chrome would list all downloads. */
function denialOf(tab, url) {
  if (typeof url !== "string" || url === "") return { code: "BAD_ARGS", message: "`url` must be the URL of a download." };
  if (sites.isBlocked(url)) return BLOCKED;
  return sharing.denial(tab);
}

const BLOCKED = { code: "POLICY_DENIED", message: "The user blocks this site in this browser." };

/** Whether a download came from a blocked site, or was redirected through one. */
const isBlocked = (item) => [item.url, item.finalUrl, item.referrer].some((one) => sites.isBlocked(one ?? ""));

/** The path of the file that a shared tab's page has downloaded. */
export async function locate({ tab, url }) {
  const denial = denialOf(tab, url);
  if (denial) throw denial;
  for (let poll = 0; poll < POLLS; poll += 1) {
    const all = await chrome.downloads.search({ finalUrl: url, state: "complete", orderBy: ["-startTime"], limit: 20 });
    const found = all.filter((one) => !isBlocked(one));
    const item = found.find((one) => !reported.has(one.id)) ?? found[0];
    if (item?.filename) {
      reported.add(item.id);
      return { file: item.filename };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw { code: "DOWNLOAD_FAILED", message: "Chrome does not report the path of the file." };
}

/** Cancels a running download of a shared tab's page; the page's own event reports the end. */
export async function cancel({ tab, url }) {
  const denial = denialOf(tab, url);
  if (denial) throw denial;
  const found = await chrome.downloads.search({ finalUrl: url, state: "in_progress", orderBy: ["-startTime"], limit: 1 });
  for (const one of found) if (!isBlocked(one)) await chrome.downloads.cancel(one.id);
  return {};
}
