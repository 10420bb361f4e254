// Recently denied commands, for the popup.

const KEPT = 50;

/** Records a denied command; returns the error. */
export function recordDenial(what, tab, failure) {
  // Not awaited: the response must not wait for storage.
  keep({ when: Date.now(), what, tab, message: failure.message });
  return failure;
}

let last = Promise.resolve();

function keep(refusal) {
  last = last.then(async () => {
    const { refusals } = await chrome.storage.session.get({ refusals: [] });
    await chrome.storage.session.set({ refusals: [refusal, ...refusals].slice(0, KEPT) });
  });
}

/** The denials, newest first. */
export async function recentDenials() {
  const { refusals } = await chrome.storage.session.get({ refusals: [] });
  return refusals;
}
