// What the popup and the options page ask of the worker: one row each. Knows nothing of how they look.

import * as debuggee from "./debuggee.js";
import * as link from "./link.js";
import * as pairing from "./pairing.js";
import { recentRefusals } from "./refusals.js";
import * as sharing from "./sharing.js";
import * as tabs from "./tabs.js";

const REQUESTS = {
  state: () => ({}),
  share: async ({ tab }) => {
    await sharing.share(tab, "user");
    await tabs.tell(tab);
  },
  unshare: async ({ tab }) => {
    await sharing.unshare(tab);
    if (debuggee.attachedTabs().includes(tab) && !sharing.isOpenTo(tab)) {
      await debuggee.detach(tab);
      link.tell({ event: "detached", with: { tab, reason: "unshared" } });
    }
    await tabs.tell(tab);
  },
  pause: async ({ paused }) => {
    if (paused) await debuggee.detachAll("paused");
    await sharing.setPaused(paused);
    await link.tellPresent();
  },
  mode: async ({ mode }) => {
    await sharing.setMode(mode);
    for (const tab of debuggee.attachedTabs().filter((one) => !sharing.isOpenTo(one))) {
      await debuggee.detach(tab);
      link.tell({ event: "detached", with: { tab, reason: "unshared" } });
    }
    await link.tellPresent();
  },
  pair: async ({ manual }) => {
    await pairing.setManual(manual);
    await link.renew();
  },
  connect: () => link.renew(),
};

/** Does what a view asks for, and says how everything stands after it. */
export async function answerView(message) {
  await Promise.all([sharing.load(), debuggee.load()]);
  try {
    if (Object.hasOwn(REQUESTS, message?.ask)) await REQUESTS[message.ask](message);
    return await standing();
  } catch (error) {
    return { ...(await standing()), failed: String(error?.message ?? error) };
  }
}

async function standing() {
  const [front] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const attached = new Set(debuggee.attachedTabs());
  const listed = sharing.isPaused() ? [] : await tabs.list();
  return {
    connected: link.isOpen(),
    daemon: link.daemon(),
    paused: sharing.isPaused(),
    mode: sharing.mode(),
    front: front && describeFront(front),
    tabs: listed.map((one) => ({ ...one, driven: attached.has(one.tab) })),
    host: await pairing.hostState(),
    manual: "manual" in (await chrome.storage.local.get("manual")),
    install: await pairing.installId(),
    refusals: await recentRefusals(),
    leftOut: link.leftOut(),
  };
}

function describeFront(tab) {
  const url = tab.url || tab.pendingUrl || "";
  return { tab: tab.id, title: tab.title, url, shared: sharing.sharedBy(tab.id), restricted: sharing.isRestricted(url) };
}
