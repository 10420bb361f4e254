// Chrome hands events to a worker on a slower way than answers, so an answer may come before events that are older. This
// waits until every event that Chrome had has come: events keep their order, and one of our own, made last, comes last.
// Knows nothing of what the events are.

/** Where our own event comes from; nobody reads what is stored there. */
const KEY = "settled";
/** After this long it is taken for granted. */
const DEADLINE_MS = 1_000;

let last = 0;
const waiting = new Map();

/** Waits until all events that Chrome has had so far were handed to the worker. */
export async function allTold() {
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

/** Whether nothing was stored but our own sign, which says nothing to anybody else. */
export const isMarkAlone = (changes) => Object.keys(changes).every((key) => key === KEY);

export function onStored(changes) {
  const mark = changes[KEY]?.newValue;
  waiting.get(mark)?.();
}
