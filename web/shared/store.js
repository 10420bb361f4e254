// A value that views follow. Changes in one turn are shown once.
// @ts-check

/**
 * @template T
 * @param {T} initial
 */
export function createStore(initial) {
  let value = initial;
  let isScheduled = false;
  /** @type {Set<(value: T) => void>} */
  const watchers = new Set();
  const publish = () => {
    isScheduled = false;
    for (const watcher of [...watchers]) watcher(value);
  };
  return {
    /** The value now. */
    get: () => value,
    /** @param {T} next */
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(publish);
    },
    /**
     * Calls back after each change; returns a function that ends it.
     * @param {(value: T) => void} watcher
     */
    subscribe(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
