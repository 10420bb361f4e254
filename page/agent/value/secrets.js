// Fills in saved logins and lists secret fields. The origin check, the choice of fields and the filling are one
// synchronous step, so nothing can happen between. Results never contain a secret.

const SAVE_LOGIN = { command: "tabwire auth save" };
const SAVE_AGAIN = remedy("Save the login with other selectors: {}.", SAVE_LOGIN);
const NAME_INPUTS = new Set(["text", "email", "tel"]);
const NAME_WORDS = /user|login|mail|account|identifier|phone/i;
const CODE_WORDS = /otp|totp|one.?time|2fa|mfa|verification.?code|auth.?code/i;

/** Loopback hosts, where http is as safe as https. */
function isLoopback(host) {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Fails unless this is a top-level document of the origin with a secure connection. */
function checkOrigin(origin) {
  const otherPage = remedy("Open the page of the login, or save a login for this page with {}.", SAVE_LOGIN);
  if (window.top !== window) fail("POLICY_DENIED", "A login is filled only in a top-level document, not in a frame.", otherPage);
  if (location.origin !== origin || globalThis.origin !== origin) {
    fail("POLICY_DENIED", `The page has origin ${location.origin}, the login is for ${origin}; nothing was filled in.`, otherPage);
  }
  if (location.protocol !== "https:" && !isLoopback(location.hostname)) {
    fail("POLICY_DENIED", `${origin} is not encrypted; nothing was filled in.`, remedy("Save the login for the https URL of the site with {}.", SAVE_LOGIN));
  }
}

/** The document and its shadow roots, without frames. */
function ownRoots() {
  return rootsBelow(document).filter((root) => root === document || root.ownerDocument === document);
}

function isUsable(field) {
  return isShown(field) && !field.disabled && !isReadOnly(field);
}

/** The element that the selector matches; null when it does not exist yet. */
function selected(roots, selector) {
  for (const root of roots) {
    let found;
    try {
      found = root.querySelector(selector);
    } catch {
      fail("BAD_ARGS", `"${shorten(selector, 80)}" is not a CSS selector.`, SAVE_AGAIN);
    }
    if (found !== null) return found;
  }
  return null;
}

function inputsOf(roots) {
  return roots.flatMap((root) => Array.from(root.querySelectorAll("input"))).filter(isUsable);
}

function autocompleteOf(field) {
  return field.getAttribute("autocomplete")?.toLowerCase() ?? "";
}

function passwordField(inputs) {
  const all = inputs.filter((field) => field.type === "password" && autocompleteOf(field) !== "one-time-code");
  const current = all.filter((field) => autocompleteOf(field).includes("current-password"));
  const found = current.length > 0 ? current : all;
  if (found.length < 2) return found[0] ?? null;
  return fail("NOT_ACTIONABLE", `The page has ${found.length} password fields; it may be a registration or password-change page.`,
    remedy("Set the field with {}.", { command: "tabwire auth save --password-selector <CSS>" }));
}

/** The username field of a password field: the last one before it in the same form. */
function usernameFor(password, inputs) {
  const before = inputs.filter((field) => NAME_INPUTS.has(field.type) && field.form === password.form && comparePageOrder(field, password) < 0);
  return before.find((field) => autocompleteOf(field).includes("username")) ?? before.at(-1) ?? null;
}

/** The username field on a page that asks for the password later. */
function loneUsername(inputs) {
  const words = (field) => `${autocompleteOf(field)} ${field.name} ${field.id}`;
  const isName = (field) => NAME_INPUTS.has(field.type) && (field.type === "email" || NAME_WORDS.test(words(field)));
  const found = inputs.filter(isName);
  return found.find((field) => autocompleteOf(field).includes("username")) ?? (found.length === 1 ? found[0] : null);
}

function codeField(inputs) {
  const words = (field) => `${field.name} ${field.id} ${nameOf(field)}`;
  return inputs.find((field) => autocompleteOf(field) === "one-time-code") ?? inputs.find((field) => isTextField(field) && CODE_WORDS.test(words(field))) ?? null;
}

/** Refuses a form that would submit over plain http. */
function checkForm(field) {
  const form = field.form ?? null;
  if (form === null) return;
  const buttons = Array.from(form.querySelectorAll("[formaction]"), (button) => button.getAttribute("formaction"));
  for (const action of [form.getAttribute("action") ?? "", ...buttons]) {
    const target = URL.parse(action, document.baseURI);
    if (target !== null && target.protocol === "http:" && !isLoopback(target.hostname)) {
      fail("POLICY_DENIED", `The form would send the password unencrypted to ${target.origin}; nothing was filled in.`, "The site does not protect passwords. Do not log in here.");
    }
  }
}

/** Sets a field as a password manager does, with input and change events. */
function fillSecret(field, text) {
  checkForm(field);
  field.focus();
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  set.call(field, text);
  fireChange(field);
}

function elementIn(roots, selector, what) {
  const found = selected(roots, selector);
  if (found !== null && found.localName !== "input") fail("BAD_ARGS", `The selector of ${what} matches an element that is not an input.`, SAVE_AGAIN);
  return found !== null && isUsable(found) ? found : null;
}

/**
 * Fills what the page asks for of `wanted` ("name", "password", "code") and returns `{filled, key, submit}`; null when
 * it asks for none of it.
 */
agent.logIn = ({ origin, wanted, name, password, code, selectors }) => {
  checkOrigin(origin);
  const roots = ownRoots();
  return inPass(() => {
    const inputs = inputsOf(roots);
    const result = (field, filled) => {
      const button = selectors.submit ? selected(roots, selectors.submit) : null;
      if (selectors.submit && button === null) fail("SELECTOR_NOT_FOUND", "The selector of the submit button matches nothing.", SAVE_AGAIN);
      return { filled, document: documentName, key: keyOf(field), submit: button === null ? null : keyOf(button) };
    };
    const secret = wanted.includes("password") ? (selectors.password ? elementIn(roots, selectors.password, "the password") : passwordField(inputs)) : null;
    if (secret !== null && !isSecret(secret)) fail("POLICY_DENIED", "The password field displays its text; nothing was filled in.",
        remedy("Set a password field with {}.", { command: "tabwire auth save --password-selector <CSS>" }));
    const findName = () => (selectors.name ? elementIn(roots, selectors.name, "the name") : secret === null ? loneUsername(inputs) : usernameFor(secret, inputs));
    const who = wanted.includes("name") ? findName() : null;
    if (secret !== null) {
      if (who !== null) fillSecret(who, name);
      fillSecret(secret, password);
      return result(secret, who === null ? ["password"] : ["name", "password"]);
    }
    const field = wanted.includes("code") && !wanted.includes("password") ? codeField(inputs) : null;
    if (field !== null) {
      fillSecret(field, code);
      return result(field, ["code"]);
    }
    if (who === null) return null;
    fillSecret(who, name);
    return result(who, ["name"]);
  });
};

/** Fills one field with a named secret. `mayShow` allows fields that display it. */
agent.enterSecret = ({ key, origin, text, mayShow }) => {
  checkOrigin(origin);
  const field = byRef({ key });
  const details = { element: describeElement(field) };
  if (field.localName !== "input" || field.ownerDocument !== document) {
    fail("NOT_ACTIONABLE", `${phrase(field)} is not an input of this document.`, "Target the input itself.", details);
  }
  if (!mayShow && !isSecret(field)) {
    fail("POLICY_DENIED", `${phrase(field)} displays its text; nothing was filled in.`, "Target a password field.", details);
  }
  fillSecret(field, text);
  return true;
};

/** Whether the document shows a password field. */
agent.showsPasswordField = () => inPass(() => inputsOf(ownRoots()).some((field) => field.type === "password"));

/** Most secret fields, and characters of each. */
const MAX_SECRETS = 100;
const MAX_SECRET_LENGTH = 1000;

/**
 * Boxes and values of secret fields in this document and same-origin frames. A field that contains a value of `known`
 * counts as secret.
 */
agent.secretFields = ({ known }) => {
  const boxes = [];
  const values = [];
  const isKnown = new Set(known);
  for (const root of rootsBelow(document)) {
    for (const field of root.querySelectorAll("input, textarea")) {
      if (boxes.length >= MAX_SECRETS) return { boxes, values };
      if (!isSecret(field) && !isKnown.has(field.value)) continue;
      if (field.value !== "") values.push(field.value.slice(0, MAX_SECRET_LENGTH));
      if (isRendered(field)) boxes.push(outwardBox(outerBox(field), field.ownerDocument));
    }
  }
  return { boxes, values };
};
