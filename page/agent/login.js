// Filling in a saved login. Where the page is, which fields are meant and what goes into them is one step, so that
// nothing can come between the check and the secret. What is filled in is never answered.

const NAME_INPUTS = new Set(["text", "email", "tel"]);
const NAME_WORDS = /user|login|mail|account|identifier|phone/i;
const CODE_WORDS = /otp|totp|one.?time|2fa|mfa|verification.?code|auth.?code/i;

/** Hosts that are this machine, where http is as good as https. */
function isThisMachine(host) {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

/** Refuses to go on unless this is a top document of the origin, safe from being read on the way. */
function checkPlace(origin) {
  const hint = "Open the login's own page, or save a login for this one.";
  if (window.top !== window) fail("POLICY_DENIED", "A login is filled in only where the address bar shows its origin, not in a frame.", hint);
  if (location.origin !== origin || globalThis.origin !== origin) {
    fail("POLICY_DENIED", `The page is of ${location.origin}, the login is for ${origin}; nothing was filled in.`, hint);
  }
  if (location.protocol !== "https:" && !isThisMachine(location.hostname)) {
    fail("POLICY_DENIED", `${origin} is not encrypted; nothing was filled in.`, "Save the login with the site's https address.");
  }
}

/** The roots of this document alone: itself and its shadow roots, not those of frames. */
function ownRoots() {
  return rootsBelow(document).filter((root) => root === document || root.ownerDocument === document);
}

function isUsable(field) {
  return isShown(field) && !field.disabled && !isReadOnly(field);
}

/** The one element that a selector names; null when none is there yet. */
function selected(roots, selector) {
  for (const root of roots) {
    let found;
    try {
      found = root.querySelector(selector);
    } catch {
      fail("BAD_ARGS", `"${shorten(selector, 80)}" is not a CSS selector.`, "Save the login again with another one.");
    }
    if (found !== null) return found;
  }
  return null;
}

function inputsOf(roots) {
  return roots.flatMap((root) => Array.from(root.querySelectorAll("input"))).filter(isUsable);
}

function hintOf(field) {
  return field.getAttribute("autocomplete")?.toLowerCase() ?? "";
}

function passwordAmong(inputs) {
  const all = inputs.filter((field) => field.type === "password" && hintOf(field) !== "one-time-code");
  const current = all.filter((field) => hintOf(field).includes("current-password"));
  const found = current.length > 0 ? current : all;
  if (found.length < 2) return found[0] ?? null;
  return fail("NOT_ACTIONABLE", `There are ${found.length} fields for a password; this may be a page to register or to change it.`, "Save the login again with --password-selector.");
}

/** The field for the name that belongs to a password: the last one before it in the same form. */
function nameBefore(password, inputs) {
  const before = inputs.filter((field) => NAME_INPUTS.has(field.type) && field.form === password.form && comparePlaces(field, password) < 0);
  return before.find((field) => hintOf(field).includes("username")) ?? before.at(-1) ?? null;
}

/** A field for the name on a page that asks for the password later. */
function nameAlone(inputs) {
  const words = (field) => `${hintOf(field)} ${field.name} ${field.id}`;
  const isName = (field) => NAME_INPUTS.has(field.type) && (field.type === "email" || NAME_WORDS.test(words(field)));
  const found = inputs.filter(isName);
  return found.find((field) => hintOf(field).includes("username")) ?? (found.length === 1 ? found[0] : null);
}

function codeAmong(inputs) {
  const words = (field) => `${field.name} ${field.id} ${nameOf(field)}`;
  return inputs.find((field) => hintOf(field) === "one-time-code") ?? inputs.find((field) => isTextField(field) && CODE_WORDS.test(words(field))) ?? null;
}

/** Refuses a form that would send what is filled in over the network in plain. */
function checkForm(field) {
  const form = field.form ?? null;
  if (form === null) return;
  const buttons = Array.from(form.querySelectorAll("[formaction]"), (button) => button.getAttribute("formaction"));
  for (const action of [form.getAttribute("action") ?? "", ...buttons]) {
    const target = URL.parse(action, document.baseURI);
    if (target !== null && target.protocol === "http:" && !isThisMachine(target.hostname)) {
      fail("POLICY_DENIED", `The form would send the password unencrypted to ${target.origin}; nothing was filled in.`, "Do not log in here.");
    }
  }
}

/** Sets a field as a password manager does; what listens to the field hears of it. */
function enterSecretly(field, text) {
  checkForm(field);
  field.focus();
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  set.call(field, text);
  announceChange(field);
}

function elementIn(roots, selector, what) {
  const found = selected(roots, selector);
  if (found !== null && found.localName !== "input") fail("BAD_ARGS", `The selector for ${what} names no field.`, "Save the login again with another one.");
  return found !== null && isUsable(found) ? found : null;
}

/**
 * Fills in what this page asks for of `wanted` ("name", "password", "code"): `{filled, key, submit}`; null when it
 * asks for nothing of it.
 */
agent.logIn = ({ origin, wanted, name, password, code, selectors }) => {
  checkPlace(origin);
  const roots = ownRoots();
  return inPass(() => {
    const inputs = inputsOf(roots);
    const answer = (field, filled) => {
      const button = selectors.submit ? selected(roots, selectors.submit) : null;
      if (selectors.submit && button === null) fail("SELECTOR_NOT_FOUND", "The selector for the button names nothing.", "Save the login again with another --submit-selector.");
      return { filled, document: documentName, key: keyOf(field), submit: button === null ? null : keyOf(button) };
    };
    const secret = wanted.includes("password") ? (selectors.password ? elementIn(roots, selectors.password, "the password") : passwordAmong(inputs)) : null;
    if (secret !== null && !isSecret(secret)) fail("POLICY_DENIED", "The field for the password would show it; nothing was filled in.", "Save the login again with the selector of a password field.");
    const findName = () => (selectors.name ? elementIn(roots, selectors.name, "the name") : secret === null ? nameAlone(inputs) : nameBefore(secret, inputs));
    const who = wanted.includes("name") ? findName() : null;
    if (secret !== null) {
      if (who !== null) enterSecretly(who, name);
      enterSecretly(secret, password);
      return answer(secret, who === null ? ["password"] : ["name", "password"]);
    }
    const field = wanted.includes("code") && !wanted.includes("password") ? codeAmong(inputs) : null;
    if (field !== null) {
      enterSecretly(field, code);
      return answer(field, ["code"]);
    }
    if (who === null) return null;
    enterSecretly(who, name);
    return answer(who, ["name"]);
  });
};

/** Fills one field with a secret that was named; `mayShow` when it is nothing that must not be seen. */
agent.enterSecret = ({ key, origin, text, mayShow }) => {
  checkPlace(origin);
  const field = byRef({ key });
  const told = { element: describeElement(field) };
  if (field.localName !== "input" || field.ownerDocument !== document) {
    fail("NOT_ACTIONABLE", `${phrase(field)} is no field of this page that secrets go into.`, "Name the input itself.", told);
  }
  if (!mayShow && !isSecret(field)) {
    fail("POLICY_DENIED", `${phrase(field)} would show the secret; nothing was filled in.`, "Name a password field.", told);
  }
  enterSecretly(field, text);
  return true;
};

/** Whether the document still asks for a password. */
agent.asksForPassword = () => inPass(() => inputsOf(ownRoots()).some((field) => field.type === "password"));
