// Whether boxes are ticked and options chosen as they were meant to be. Knows nothing of how that is done.

/** Waits a moment until the box that the target names is as wanted; says how it is. Null when it is gone. */
agent.ticked = async ({ spec, nth, want, timeout = 0 }) => {
  const deadline = performance.now() + timeout;
  const wake = new Wake();
  try {
    for (;;) {
      const found = locateOrNone(spec, undefined, true);
      const element = found.at(nth ?? 0);
      const checked = element === undefined ? null : inPass(() => holdings(checkableFor(element)).checked ?? null);
      if (checked === want || performance.now() >= deadline) return { checked };
      await wake.next(deadline);
    }
  } finally {
    wake.stop();
  }
};

/** Whether exactly these options of a list are chosen. */
agent.areChosen = ({ key, choices }) => {
  const select = byRef({ key });
  const wanted = new Set(choices.map((choice) => findOption(select, choice)));
  const chosen = Array.from(select.selectedOptions);
  return chosen.length === wanted.size && chosen.every((option) => wanted.has(option));
};
