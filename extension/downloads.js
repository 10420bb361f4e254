// Where the files of finished downloads lie, and breaking one off. Knows nothing of who wanted them: the debugger tells the daemon of a
// download in a tab, and only Chrome's own list says where its file is.

import * as sharing from "./sharing.js";
import * as sites from "./sites.js";

/** How often, and how long apart, a file that was just finished is looked for. */
const LOOKS = 100;
const PAUSE_MS = 50;

/** Downloads whose files were told; two of the same address are two files. */
const told = new Set();

/** Why a download must not be told of or touched, or nothing. Without an address, Chrome would give all there are. */
function objectionTo(tab, url) {
  if (typeof url !== "string" || url === "") return { code: "BAD_ARGS", message: "A download is named by its address." };
  if (sites.isBlocked(url)) return BLOCKED;
  return sharing.objection(tab);
}

const BLOCKED = { code: "POLICY_DENIED", message: "The user keeps everybody out of this site in this browser." };

/** Whether a download came from a blocked site, or over one. */
const isBlocked = (item) => [item.url, item.finalUrl, item.referrer].some((one) => sites.isBlocked(one ?? ""));

/** The file that a shared tab's page has downloaded. */
export async function locate({ tab, url }) {
  const objection = objectionTo(tab, url);
  if (objection) throw objection;
  for (let look = 0; look < LOOKS; look += 1) {
    const all = await chrome.downloads.search({ finalUrl: url, state: "complete", orderBy: ["-startTime"], limit: 20 });
    const found = all.filter((one) => !isBlocked(one));
    const item = found.find((one) => !told.has(one.id)) ?? found[0];
    if (item?.filename) {
      told.add(item.id);
      return { file: item.filename };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw { code: "DOWNLOAD_FAILED", message: "Chrome does not say where it saved the file." };
}

/** Breaks off what a shared tab's page is downloading; its own page tells that it was. */
export async function cancel({ tab, url }) {
  const objection = objectionTo(tab, url);
  if (objection) throw objection;
  const found = await chrome.downloads.search({ finalUrl: url, state: "in_progress", orderBy: ["-startTime"], limit: 1 });
  for (const one of found) if (!isBlocked(one)) await chrome.downloads.cancel(one.id);
  return {};
}
