// Waits until the worker has received every debugger event that Chrome has sent. Chrome delivers debugger events to a
// worker later than command results. Events keep their order, so a storage event that the worker triggers itself arrives
// after all of them.

/** The storage key that triggers the event. Its value is unused. */
const KEY = "barrier";
/** The wait ends after this time in any case. */
const DEADLINE_MS = 1_000;

let last = 0;
const waiting = new Map();

/** Waits until the worker has received all events that Chrome has sent so far. */
export async function waitForEvents() {
  last += 1;
  const mark = `${Date.now()}.${last}`;
  let timer;
  const came = new Promise((resolve) => {
    waiting.set(mark, resolve);
    timer = setTimeout(resolve, DEADLINE_MS);
  });
  await chrome.storage.session.set({ [KEY]: mark });
  await came;
  clearTimeout(timer);
  waiting.delete(mark);
}

/** Whether a storage change is only the barrier. */
export const isBarrierOnly = (changes) => Object.keys(changes).every((key) => key === KEY);

export function onStored(changes) {
  const mark = changes[KEY]?.newValue;
  waiting.get(mark)?.();
}
