// Recent log lines of this extension, for the options page.

const KEPT = 100;
let last = Promise.resolve();

/** Writes a log line; callers do not wait for it. */
export function note(sentence) {
  const line = { when: Date.now(), sentence };
  last = last.then(async () => {
    const { log } = await chrome.storage.session.get({ log: [] });
    await chrome.storage.session.set({ log: [line, ...log].slice(0, KEPT) });
  });
}

/** The newest first. */
export async function recentLines() {
  const { log } = await chrome.storage.session.get({ log: [] });
  return log;
}
