// What was refused lately, so that the user can see it. Knows nothing of why.

const KEPT = 50;

/** Notes a refusal and hands it on. */
export function noteRefusal(what, tab, failure) {
  // Nobody waits for the note: a refusal must not be later than an answer.
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

/** The newest first. */
export async function recentRefusals() {
  const { refusals } = await chrome.storage.session.get({ refusals: [] });
  return refusals;
}
