// The base of the API: calls of actions, their places in the script, and errors.
//
// The build joins all files into one function scope. Functions of the language are taken now, before a script can change
// them; a script that changes others breaks only itself, because the daemon checks every message.

const { stringify, parse } = JSON;
const { defineProperty, freeze, entries, assign } = Object;
const API_NAME = "tabwire:api";
const CALLS_AT_ONCE = 64;
const CALLS_PER_RUN = 10000;

/** The run that is under way: its tab, and why no further call is allowed. */
const run = { isActive: false, refusal: null, calls: 0, tab: null };

/** Calls that wait for their result, by number. A plain object: a script may change the methods of `Map`. */
const openCalls = { __proto__: null };
let openCount = 0;
/** Calls that wait because too many are under way. */
const waitingCalls = [];
let lastCall = 0;

/** An error of an action, with the failure as data. */
class ActionError extends Error {}
defineProperty(ActionError.prototype, "name", { value: "Error", writable: true, configurable: true });

/** As Playwright's: a wait took longer than its timeout. */
class TimeoutError extends ActionError {}
defineProperty(TimeoutError.prototype, "name", { value: "TimeoutError", writable: true, configurable: true });

/** The part of a stack trace that belongs to the script. */
function scriptStack(stack) {
  return stack.split("\n").filter((line) => !line.includes(`(${API_NAME}`) && !line.includes("(native)")).join("\n");
}

/**
 * Runs an action. `title` names the method in errors, such as `locator.click`. The error is made now, because after an
 * `await` only one frame of the stack is left.
 */
function callAction(action, params, { title, tab, timeout, settles = false, text = false, locator = null, whole = timeout, log, isTrial = false } = {}) {
  const error = new Error("");
  // Between two runs, listeners may read, decide about requests and close dialogs; the daemon checks that.
  const refusal = run.isActive ? run.refusal : hasListeners() ? null : "The run has ended; nothing more can be called.";
  if (refusal !== null) return Promise.reject(withMessage(error, title, refusal));
  if (++run.calls > CALLS_PER_RUN) {
    return Promise.reject(withMessage(error, title, `A run makes at most ${CALLS_PER_RUN} calls.`));
  }
  return new Promise((resolve, reject) => {
    const call = { id: ++lastCall, action, params, title, tab: tab ?? null, timeout: timeout ?? null, whole: whole ?? null, settles, text, locator, log, isTrial, resolve, reject, error };
    if (openCount >= CALLS_AT_ONCE) waitingCalls.push(call);
    else send(call);
  });
}

function send(call) {
  openCalls[call.id] = call;
  openCount++;
  try {
    const { id, action, params, tab, timeout, settles, text } = call;
    host.call(stringify({ id, action, params: params ?? {}, tab, timeout_ms: timeout === null ? null : Math.max(1, Math.round(timeout)), settles, text }));
  } catch (error) {
    takeCall(call.id);
    call.reject(withMessage(call.error, call.title, error.message));
  }
}

function takeCall(id) {
  const call = openCalls[id];
  if (call !== undefined) openCount--;
  delete openCalls[id];
  return call;
}

function withMessage(error, title, message) {
  error.message = title ? `${title}: ${message}` : message;
  error.stack = scriptStack(error.stack ?? "");
  return error;
}

/** Failures that mean that something was waited for in vain. */
const WAITED_FOR = new Set(["TIMEOUT", "SELECTOR_NOT_FOUND", "NOT_ACTIONABLE"]);

/** Playwright's words for the check that an element did not pass, by a part of our sentence. */
const CONDITIONS = [
  [/ is not visible[:.]/, "element is not visible"],
  [/ is (disabled|inert)/, "element is not enabled"],
  [/ is read-only/, "element is not editable"],
  [/ keeps moving/, "element is not stable"],
  [/ is out of view/, "element is outside of the viewport"],
  [/ is (covered by|behind|cut off by) |lets pointer events through/, ({ details }) => `${details?.interceptor ?? "element"} intercepts pointer events`],
  [/ does not accept /, "Malformed value"],
  [/ takes a number, not /, "Cannot type text into input[type=number]"],
  [/ is not a checkbox, radio button or switch/, "Not a checkbox or radio button"],
  [/ is a radio button and cannot be unchecked/, "Cannot uncheck radio button"],
  [/ cannot be filled/, ({ details }) => (details?.input === undefined ? "Error: Element is not an <input>, <textarea> or [contenteditable] element" : `Error: Input of type "${details.input}" cannot be filled`)],
];

/** What a mouse action waits for, as Playwright lists it. */
function attemptLines(call, condition) {
  if (condition === undefined) return "";
  if (call.action !== "click" && call.action !== "ready") return `\n    - ${condition}`;
  const method = call.title.slice(call.title.indexOf(".") + 1);
  const name = `${method === "scrollIntoViewIfNeeded" ? "scroll into view" : method} action${call.isTrial ? " (trial run)" : ""}`;
  return `\n    - attempting ${name}\n      - waiting for element to be visible, enabled and stable\n      - ${condition}\n    - retrying ${name}`;
}

function conditionOf(failure) {
  const condition = CONDITIONS.find(([pattern]) => pattern.test(failure.message))?.[1];
  return typeof condition === "function" ? condition(failure) : condition;
}

/** The error of a failed action, in Playwright's shape: method, sentence, call log, hint. */
function failureError(call, failure) {
  const error = call.error;
  // A remedy with steps is added by the front end, in its own words.
  const hint = failure.hint && failure.remedy === undefined ? `\n${failure.hint}` : "";
  const condition = conditionOf(failure);
  if (failure.code === "REF_EXPIRED" && call.title?.startsWith("elementHandle.")) {
    withMessage(error, call.title, "Element is not attached to the DOM");
  } else if (failure.message.startsWith("strict mode violation")) {
    const named = String(call.locator ?? "the locator");
    const isFrame = failure.details?.frame === true && named.includes(".contentFrame()");
    const listed = failure.message.replace("the locator", () => (isFrame ? named.slice(0, named.lastIndexOf(".contentFrame()")) : named)).replace(/\s+(\d+\) <)/g, "\n    $1");
    withMessage(error, call.title, `Error: ${listed}`);
  } else if (WAITED_FOR.has(failure.code) && call.timeout !== null && failure.message !== "Element is not visible") {
    Object.setPrototypeOf(error, TimeoutError.prototype);
    const waiting = call.locator === null ? (call.log === undefined ? "" : `\n  - ${call.log}`) : `\n  - waiting for ${call.locator}${call.action === "wait_for" && call.params.state !== "attached" ? ` to be ${call.params.state}` : ""}`;
    withMessage(error, call.title, `Timeout ${call.whole}ms exceeded.\nCall log:${waiting}${attemptLines(call, condition)}\n  - ${failure.message}${hint}`);
  } else if (typeof failure.details?.thrown === "string") {
    withMessage(error, call.title, failure.details.thrown);
  } else {
    if (failure.code === "TIMEOUT") Object.setPrototypeOf(error, TimeoutError.prototype);
    withMessage(error, call.title, condition === undefined ? `${failure.message}${hint}` : `${condition}\nCall log:\n  - ${failure.message}${hint}`);
  }
  defineProperty(error, "code", { value: failure.code, enumerable: false });
  defineProperty(error, "failure", { value: failure, enumerable: false });
  return error;
}

function settleCall(id, result, failure) {
  const call = takeCall(id);
  if (call === undefined) return;
  const next = waitingCalls.shift();
  if (next !== undefined) send(next);
  if (result?.tabs !== undefined) updateTabs(result.tabs);
  if (result?.frames !== undefined && result.tab !== undefined) updateFrames(pageOfEvent(result.tab), result.frames);
  if (failure === null) call.resolve(result);
  else call.reject(failureError(call, failure));
}

/** Rejects every open and waiting call. */
function rejectCalls(reason) {
  for (const id in openCalls) {
    const call = takeCall(id);
    call.reject(withMessage(call.error, call.title, reason));
  }
  for (const call of waitingCalls.splice(0)) call.reject(withMessage(call.error, call.title, reason));
}
