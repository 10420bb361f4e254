// Entry point of the page agent: Rust calls `agent.run`, and failures return as data.
//
// The build joins all files into one function scope, which runs in an isolated world of every document. The page cannot
// reach it.

/** Random id of this document. A ref of an earlier document never resolves in this one. */
const documentName = Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("");

const agent = { document: documentName };

/** A failure for the caller: a stable code, a sentence, a remedy and data. */
class Failed {
  constructor(code, message, remedy, details) {
    Object.assign(this, { code, message, remedy: typeof remedy === "string" ? { text: remedy } : remedy, details });
  }
}

/** Throws a failure. `remedy` is a sentence, or a `remedy(...)` when it names an action or an argument. */
function fail(code, message, remedy, details) {
  throw new Failed(code, message, remedy, details);
}

/** A sentence with a step for each `{}`: `{ action }`, `{ argument }` or `{ command }`, as `tabwire_api::Remedy`. */
function remedy(text, ...steps) {
  return { text, steps };
}

const SNAPSHOT = { action: "snapshot" };

/** The remedy for an element that is gone. */
function takeNewSnapshot() {
  return remedy("Run {} and use a ref from it.", SNAPSHOT);
}

function failureOf(error) {
  if (error instanceof Failed) return { failure: { ...error, details: { ...error.details, document: documentName } } };
  return { failure: { code: "INTERNAL", message: `The page agent failed: ${error && (error.stack || error)}` } };
}

/** Id under which `cancelWait` can end the call that starts now; null for a call that does not wait. */
let currentWait = null;

/** Calls a function of the agent and returns `{ok}` or `{failure}`, directly or as a promise. */
agent.run = (name, argument, wait = null) => {
  currentWait = wait;
  try {
    const value = agent[name](argument);
    if (value instanceof Promise) return value.then((ok) => ({ ok }), failureOf);
    return { ok: value };
  } catch (error) {
    return failureOf(error);
  } finally {
    currentWait = null;
  }
};

agent.location = () => ({ url: location.href, title: document.title });

/** Whether the document and all its resources have loaded. */
agent.hasLoaded = () => document.readyState === "complete";

agent.loading = () => ({ url: location.href, state: document.readyState });
