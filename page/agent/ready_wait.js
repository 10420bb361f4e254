// Waiting for something to be on the page, or gone from it. Knows nothing of addresses, loading and network.

/** Whether the target is in the state; with what it found. */
const STATE_CHECKS = {
  attached: (found) => found.length > 0,
  detached: (found) => found.length === 0,
  visible: (found) => found.some(isShown),
  hidden: (found) => !found.some(isShown),
  enabled: (found) => found.some((element) => isShown(element) && disabledReason(element) === null),
  disabled: (found) => found.some((element) => disabledReason(element) !== null),
  checked: (found) => found.some((element) => isCheckable(element) && tickOf(element) === true),
  unchecked: (found) => found.some((element) => isCheckable(element) && tickOf(element) === false),
  editable: (found) => found.some((element) => isShown(element) && disabledReason(element) === null && !isReadOnly(element) && (isTextField(element) || isEditor(element))),
};

/** The matches; none for a ref whose element is gone, which is what waiting for its end is about. */
function locateOrNone(spec, within, isForAbsence) {
  try {
    return locate(spec, scopeOf(within));
  } catch (error) {
    if (isForAbsence && error instanceof Failed && error.code === "REF_EXPIRED") return [];
    throw error;
  }
}

function stateOf(found) {
  if (found.length === 0) return "nothing matches";
  const element = found[0];
  if (!isShown(element)) return `${phrase(element)} is not visible: ${whyHidden(element)}`;
  return `${phrase(element)} ${disabledReason(element) ?? "is visible"}`;
}

/** Waits until the target is in the state asked for; answers at once when it is. */
agent.waitFor = async ({ spec, within, state = "visible", timeout = 0 }) => {
  const check = STATE_CHECKS[state] ?? fail("BAD_ARGS", `"${state}" is not a state to wait for.`, `States are ${Object.keys(STATE_CHECKS).join(", ")}.`);
  const isForAbsence = state === "hidden" || state === "detached";
  const started = performance.now();
  const deadline = started + timeout;
  const wake = new Wake();
  try {
    for (;;) {
      const found = locateOrNone(spec, within, isForAbsence);
      if (inPass(() => check(found))) return { state, waited: Math.round(performance.now() - started), total: found.length, matches: found.slice(0, 3).map(describeElement) };
      if (performance.now() >= deadline) {
        const similar = found.length === 0 ? similarTo(spec) : [];
        fail("TIMEOUT", `${phraseOfSpec(spec)} did not become ${state} within ${timeout} ms: ${stateOf(found)}.`,
          similar.length > 0 ? `On the page are: ${similar.map(phrase).join(", ")}.` : "Take a snapshot to see the page as it is.", { similar: similar.map(describeElement) });
      }
      await wake.next(deadline);
    }
  } finally {
    wake.stop();
  }
};
