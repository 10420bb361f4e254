// Waits for the state of an element.

/** Whether the matches are in the state. */
const STATE_CHECKS = {
  attached: (found) => found.length > 0,
  detached: (found) => found.length === 0,
  visible: (found) => found.some(isShown),
  hidden: (found) => !found.some(isShown),
  enabled: (found) => found.some((element) => isShown(element) && disabledReason(element) === null),
  disabled: (found) => found.some((element) => disabledReason(element) !== null),
  checked: (found) => found.some((element) => isCheckable(element) && checkedState(element) === true),
  unchecked: (found) => found.some((element) => isCheckable(element) && checkedState(element) === false),
  editable: (found) => found.some((element) => isShown(element) && disabledReason(element) === null && !isReadOnly(element) && (isTextField(element) || isEditor(element))),
};

/** The matches; empty for the ref of a removed element when the caller waits for its absence. */
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
  if (!isShown(element)) return `${phrase(element)} is not visible: ${hiddenReason(element)}`;
  return `${phrase(element)} ${disabledReason(element) ?? "is visible"}`;
}

/** States that a script reads from the control of a label. */
const CONTROL_STATES = new Set(["enabled", "disabled", "editable"]);

/** Waits until the target is in the state. `allowed` is the whole time of the action, `timeout` what is left of it. */
agent.waitFor = async ({ spec, within, state = "visible", timeout = 0, allowed = timeout }) => {
  const check = STATE_CHECKS[state] ?? fail("BAD_ARGS", `"${state}" is not a state to wait for.`, `States are ${Object.keys(STATE_CHECKS).join(", ")}.`);
  const isForAbsence = state === "hidden" || state === "detached";
  const started = performance.now();
  const deadline = started + timeout;
  const changes = new ChangeWaiter();
  try {
    for (;;) {
      const named = locateOrNone(spec, within, isForAbsence);
      const found = isScripted(spec) && CONTROL_STATES.has(state) ? named.map(retargeted) : named;
      if (inPass(() => check(found))) return { state, waited: Math.round(performance.now() - started), total: found.length, matches: found.slice(0, 3).map(describeElement) };
      if (performance.now() >= deadline) {
        const similar = found.length === 0 ? similarTo(spec) : [];
        fail("TIMEOUT", `${phraseOfSpec(spec)} did not become ${state} within ${allowed} ms: ${stateOf(found)}.`,
          suggestion(similar), { similar: similar.map(describeElement) });
      }
      await changes.next(deadline);
    }
  } finally {
    changes.stop();
  }
};

/** Waits until the checkbox has the wanted state and returns its state; null when it is gone. */
agent.waitForChecked = async ({ spec, nth, want, timeout = 0 }) => {
  const deadline = performance.now() + timeout;
  const changes = new ChangeWaiter();
  try {
    for (;;) {
      const found = locateOrNone(spec, undefined, true);
      const element = found.at(nth ?? 0);
      const checked = element === undefined ? null : inPass(() => fieldState(checkableFor(element)).checked ?? null);
      if (checked === want || performance.now() >= deadline) return { checked };
      await changes.next(deadline);
    }
  } finally {
    changes.stop();
  }
};
