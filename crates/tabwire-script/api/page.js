// Pages, contexts and the browser, in Playwright's form.

class ElementHandle {}

const builtInModules = { playwright: {}, test: {}, tabwire: {} };

function scriptGlobals() {
  return {};
}

function dispatchEvent() {}

/** Writes a page in `state` as its tab id. */
function stateReplacer(key, value) {
  return value;
}

function reviveState(state) {
  return state;
}
