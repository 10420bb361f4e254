// `AbortController` and `AbortSignal`, and calls that a signal ends.

class ScriptAbortSignal {
  #listeners = [];
  onabort = null;
  aborted = false;
  reason = undefined;

  addEventListener(type, listener) {
    if (type === "abort") this.#listeners.push(listener);
  }

  removeEventListener(type, listener) {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  /** Called by the controller. */
  end(reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const event = { type: "abort", target: this };
    this.onabort?.(event);
    for (const listener of this.#listeners.splice(0)) listener(event);
  }

  static abort(reason) {
    const signal = new ScriptAbortSignal();
    signal.end(reason ?? abortError("This operation was aborted"));
    return signal;
  }

  static timeout(time) {
    const signal = new ScriptAbortSignal();
    addTimer(() => signal.end(assign(new Error("The operation was aborted due to timeout"), { name: "TimeoutError" })), time, [], false);
    return signal;
  }

  static any(signals) {
    const made = new ScriptAbortSignal();
    for (const signal of signals) {
      if (signal.aborted) made.end(signal.reason);
      else signal.addEventListener("abort", () => made.end(signal.reason));
    }
    return made;
  }
}
defineProperty(ScriptAbortSignal, "name", { value: "AbortSignal" });

class ScriptAbortController {
  signal = new ScriptAbortSignal();

  abort(reason) {
    this.signal.end(reason ?? abortError("This operation was aborted"));
  }
}
defineProperty(ScriptAbortController, "name", { value: "AbortController" });

function abortError(message) {
  return assign(new Error(message), { name: "AbortError" });
}

/** The error of a call that a signal ended. */
function abortedCall(error, title, reason) {
  const text = typeof reason === "string" ? reason : reason?.message ?? "The operation was aborted";
  withMessage(error, title, `${text}\nCall log:\n  - The operation was aborted: ${text}`);
  defineProperty(error, "name", { value: "AbortError", writable: true, configurable: true });
  defineProperty(error, "cause", { value: reason, writable: true, configurable: true });
  return error;
}

/** A promise that a signal rejects. The action itself may go on until its own end. */
function withSignal(promise, signal, title, error) {
  if (signal === undefined || signal === null) return promise;
  promise.catch(() => {});
  if (signal.aborted) return Promise.reject(abortedCall(error, title, signal.reason));
  return new Promise((resolve, reject) => {
    const end = () => reject(abortedCall(error, title, signal.reason));
    signal.addEventListener("abort", end);
    promise.then((value) => (signal.removeEventListener("abort", end), resolve(value)), (failed) => (signal.removeEventListener("abort", end), reject(failed)));
  });
}

assign(webGlobals, { AbortController: ScriptAbortController, AbortSignal: ScriptAbortSignal });

/** Aborted when the run is cancelled or its time is over. */
let executeAbort = new ScriptAbortController();
