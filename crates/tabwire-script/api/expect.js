// `expect(locator)` and `expect(page)`: assertions that are tried in the page until they hold.

const expectTimeout = { value: 5000 };
/** Errors of `expect.soft`, reported at the end of a test. */
const softErrors = [];

/** The names of assertions about elements, and how their arguments are read. */
const LOCATOR_MATCHERS = {
  toBeAttached: (options) => stateCheck(options, "attached", "to_be_attached"),
  toBeVisible: (options) => stateCheck(options, "visible", "to_be_visible"),
  toBeHidden: (options) => ({ matcher: "to_be_hidden", options }),
  toBeEnabled: (options) => stateCheck(options, "enabled", "to_be_enabled"),
  toBeDisabled: (options) => ({ matcher: "to_be_disabled", options }),
  toBeEditable: (options) => stateCheck(options, "editable", "to_be_editable"),
  toBeChecked: (options) => stateCheck(options, "checked", "to_be_checked"),
  toBeFocused: (options) => ({ matcher: "to_be_focused", options }),
  toBeEmpty: (options) => ({ matcher: "to_be_empty", options }),
  toBeInViewport: (options) => ({ matcher: "to_be_in_viewport", options }),
  toHaveText: (expected, options) => ({ matcher: "to_have_text", expected, options }),
  toContainText: (expected, options) => ({ matcher: "to_contain_text", expected, options }),
  toHaveValue: (expected, options) => ({ matcher: "to_have_value", expected, options }),
  toHaveValues: (expected, options) => ({ matcher: "to_have_values", expected, options }),
  toHaveCount: (expected, options) => ({ matcher: "to_have_count", expected, options }),
  toHaveClass: (expected, options) => ({ matcher: "to_have_class", expected, options }),
  toContainClass: (expected, options) => ({ matcher: "to_contain_class", expected, options }),
  toHaveId: (expected, options) => ({ matcher: "to_have_id", expected, options }),
  toHaveRole: (expected, options) => ({ matcher: "to_have_role", expected, options }),
  toHaveCSS: (name, expected, options) => ({ matcher: "to_have_css", expected, options: { ...options, name } }),
  toHaveAttribute: (name, expected, options) => {
    const isAlone = expected === undefined || (typeof expected === "object" && !(expected instanceof RegExp));
    return { matcher: "to_have_attribute", expected: isAlone ? undefined : expected, options: { ...(isAlone ? expected : options), name } };
  },
  toHaveAccessibleName: (expected, options) => ({ matcher: "to_have_accessible_name", expected, options }),
  toHaveAccessibleDescription: (expected, options) => ({ matcher: "to_have_accessible_description", expected, options }),
};

const PAGE_MATCHERS = {
  toHaveTitle: (expected, options) => ({ matcher: "to_have_title", expected, options }),
  toHaveURL: (expected, options) => ({ matcher: "to_have_url", expected: typeof expected === "string" ? urlExpectation(expected) : expected, options }),
};

function stateCheck(options = {}, name, matcher) {
  return { matcher, options, isOpposite: options[name] === false };
}

/** A text as a pattern where it has wildcards, which match as in `waitForURL`. */
function urlExpectation(expected) {
  return /[*{]/.test(expected) ? globPattern(expected) : expected;
}

function toExpected(expected) {
  if (Array.isArray(expected)) return expected.map(toExpected);
  return expected instanceof RegExp ? { re: expected.source, flags: expected.flags } : expected;
}

/** Tries an assertion in the page; throws in Playwright's shape when it does not hold in time. */
async function expectInPage(subject, name, check, isNot, isSoft, message) {
  const error = new Error("");
  const { matcher, expected, options = {}, isOpposite = false } = check;
  const { timeout = expectTimeout.value, ...rest } = options;
  const page = subject instanceof Locator ? subject.page() : subject;
  const params = { matcher, negated: isNot !== isOpposite, options: stringify(rest) };
  if (expected !== undefined) params.expected = stringify(toExpected(expected));
  if (subject instanceof Locator) params.target = subject.target;
  const what = subject instanceof Locator ? "locator" : "page";
  const title = `expect(${what})${isNot ? ".not" : ""}.${name}(${expected === undefined ? "" : "expected"})`;
  let result;
  try {
    ({ result } = await page.call("expect", params, { title, timeout: timeout === 0 ? NO_TIMEOUT : timeout, locator: subject instanceof Locator ? subject : null }));
  } catch (failed) {
    if (failed.code !== "TIMEOUT") throw failed;
    result = { pass: false, received: null, is_missing: true };
  }
  if (result.pass) return;
  const received = result.is_missing ? "<element(s) not found>" : inspect(result.received);
  const lines = [
    message === undefined ? `${title} failed` : `${message}\n\n${title} failed`,
    "",
    ...(subject instanceof Locator ? [`Locator:  ${subject}`] : []),
    `Expected: ${isNot ? "not " : ""}${expected === undefined ? STATE_WORDS[matcher] ?? "" : expected instanceof RegExp ? String(expected) : inspect(expected)}`,
    `Received: ${received}`,
    `Timeout:  ${timeout}ms`,
    "",
    "Call log:",
    `  - Expect "${name}" with timeout ${timeout}ms`,
    ...(subject instanceof Locator ? [`  - waiting for ${subject}`] : []),
  ];
  withMessage(error, undefined, lines.join("\n"));
  if (!isSoft) throw error;
  softErrors.push(error);
}

const STATE_WORDS = { to_be_attached: "attached", to_be_visible: "visible", to_be_hidden: "hidden", to_be_enabled: "enabled", to_be_disabled: "disabled", to_be_editable: "editable", to_be_checked: "checked", to_be_focused: "focused", to_be_empty: "empty", to_be_in_viewport: "in viewport", to_have_attribute: "have attribute" };

function pageAssertions(subject, isSoft, message, isNot = false) {
  const all = subject instanceof Locator ? LOCATOR_MATCHERS : PAGE_MATCHERS;
  const made = {};
  for (const [name, read] of entries(all)) made[name] = (...given) => expectInPage(subject, name, read(...given), isNot, isSoft, message);
  if (subject instanceof Locator) {
    made.toHaveJSProperty = (property, expected, { timeout = expectTimeout.value } = {}) => poll("expect(locator).toHaveJSProperty", timeout, async () => isEqual(await subject.evaluate((element, name) => element[name], property), expected) !== isNot, () => `waiting for ${subject}`);
  }
  if (!isNot) defineProperty(made, "not", { get: () => pageAssertions(subject, isSoft, message, true) });
  return made;
}

function makeExpect(isSoft) {
  return (subject, message) => {
    const text = typeof message === "object" ? message?.message : message;
    if (subject instanceof Locator || subject instanceof Page) return pageAssertions(subject, isSoft, text);
    return valueAssertions(subject, isSoft, text);
  };
}

const expect = makeExpect(false);
expect.soft = makeExpect(true);
expect.configure = ({ timeout } = {}) => {
  if (timeout !== undefined) expectTimeout.value = timeout;
  return expect;
};

/** `expect.poll(() => value).toBe(3)`: tries a value until the assertion holds. */
expect.poll = (read, { timeout = expectTimeout.value, message } = {}) => {
  const attempt = (isNot) => new Proxy({}, {
    get: (_, name) => {
      if (name === "not") return attempt(true);
      if (name === "then") return undefined;
      return async (...given) => {
        let last = null;
        try {
          await poll("expect.poll", timeout, async () => {
            try {
              const assertions = valueAssertions(await read(), false, message);
              (isNot ? assertions.not : assertions)[name](...given);
              return true;
            } catch (error) {
              last = error;
              return false;
            }
          }, () => "waiting for the value");
        } catch (error) {
          throw last ?? error;
        }
      };
    },
  });
  return attempt(false);
};
