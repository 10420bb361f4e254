// What the loop of the process calls: the begin and end of a run, results of calls, timers.

/** Names that scripts see in every run, besides those of the language. */
for (const [name, value] of entries(webGlobals)) {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
offerGlobals({ AbortController: ScriptAbortController, AbortSignal: ScriptAbortSignal });
globalThis.state = {};
defineProperty(globalThis, "__tabwire_modules", { value: freeze(builtInModules), enumerable: false });

/** `tabwire.click({target: "e3"})`: every action, with its own parameters. */
const tabwire = {};

function offerActions(names) {
  for (const name of names) {
    if (name in tabwire) continue;
    tabwire[name] = (params = {}, options = {}) => callAction(name, params, { title: `tabwire.${name}`, settles: true, ...options }).then(({ result }) => result);
  }
}

const entry = {
  begin({ args, state, tab, tabs: list, actions, skills }) {
    rejectCalls("A run has begun.");
    assign(run, { isActive: true, refusal: null, calls: 0, tab });
    knownSkills = skills;
    executeAbort = new ScriptAbortController();
    consoleIndent = "";
    softErrors.length = 0;
    runningTest = null;
    offerActions(actions);
    if (Array.isArray(list)) updateTabs(list);
    if (state !== null) globalThis.state = reviveState(state);
    offerGlobals({ tabwire, args, ...scriptGlobals(), executeSignal: executeAbort.signal });
  },
  /** Ends the run: no timers, no calls; returns the part of `state` that is JSON. */
  end() {
    run.isActive = false;
    timers.clear();
    rejectCalls("The run has ended.");
    // Sockets and workers without listeners are not followed between two runs.
    askForEvents();
    try {
      return stringify(globalThis.state, stateReplacer) ?? null;
    } catch {
      return null;
    }
  },
  cancel(reason) {
    run.refusal = reason;
    executeAbort.abort(new Error(reason));
    timers.clear();
    rejectCalls(reason);
  },
  settle: settleCall,
  settleTooLarge: (id, message) => settleCall(id, null, { code: "INTERNAL", message }),
  event: (name, data) => dispatchEvent(name, data),
  /** When the next timer is due. The loop asks for it when no job is left. */
  nextTimer() {
    dropUnwantedEvents();
    return nextTimer();
  },
  fireTimers,
  /** Runs the tests of the file; null without tests. */
  takeTests: startTests,
  /** The error of `expect.soft()` outside of tests, which fails the run; null without one. */
  takeSoftError,
  describe: describeResult,
  describeError,
};

function offerGlobals(values) {
  for (const [name, value] of entries(values)) {
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }
}
