// The page agent's front door: what Rust calls and how failures travel. Knows nothing of what the calls do.
//
// All parts are joined in one function scope and run in an isolated world of every document, out of the page's
// reach. Nothing here or in the other parts changes the page.

/** Tells this document's agent from every other, so that a ref of an earlier document is never taken for a new one. */
const documentName = Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("");

const agent = { document: documentName };

/** A failure that the caller is told in full: a stable code, a sentence, what to do next, and data for refs. */
class Failed {
  constructor(code, message, hint, details) {
    Object.assign(this, { code, message, hint, details });
  }
}

function fail(code, message, hint, details) {
  throw new Failed(code, message, hint, details);
}

function failureOf(error) {
  if (error instanceof Failed) return { failure: { ...error, details: { ...error.details, document: documentName } } };
  return { failure: { code: "INTERNAL", message: `The page agent failed: ${error && (error.stack || error)}` } };
}

/** The name under which the call that is being begun can be called off; none for one that does not wait. */
let waitBegun = null;

/** Calls a function of the agent: `{ok}` or `{failure}`, now or as a promise. */
agent.run = (name, argument, wait = null) => {
  waitBegun = wait;
  try {
    const value = agent[name](argument);
    if (value instanceof Promise) return value.then((ok) => ({ ok }), failureOf);
    return { ok: value };
  } catch (error) {
    return failureOf(error);
  } finally {
    waitBegun = null;
  }
};

/** Where the document is and what it is called. */
agent.place = () => ({ url: location.href, title: document.title });

/** Whether everything the document names has loaded. */
agent.hasLoaded = () => document.readyState === "complete";

/** Where the document is and how far it has come in loading. */
agent.loading = () => ({ url: location.href, state: document.readyState });
