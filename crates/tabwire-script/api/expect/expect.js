// `expect(locator)` and `expect(page)`: assertions that are tried in the page until they hold.

const expectTimeout = { value: 5000 };
/** Errors of `expect.soft`, reported at the end of a test. */
const softErrors = [];

const stateCheck = (matcher, word) => (options) => ({ matcher, options, word });

/** An assertion with a flag that turns it into another: `toBeVisible({ visible: false })`. */
const flagged = (flag, yes, no) => (options = {}) => ({ ...(options[flag] === false ? no : yes), options, shown: options[flag] === undefined ? "" : `{ ${flag}: ${options[flag]} }` });

const valueCheck = (matcher, kind = "equal") => (expected, options) => ({ matcher, expected, options, kind });

/** The names of assertions about elements, and how their arguments are read. */
const LOCATOR_MATCHERS = {
  toBeAttached: flagged("attached", { matcher: "to_be_attached", word: "attached" }, { matcher: "to_be_detached", word: "detached" }),
  toBeVisible: flagged("visible", { matcher: "to_be_visible", word: "visible" }, { matcher: "to_be_hidden", word: "hidden" }),
  toBeHidden: stateCheck("to_be_hidden", "hidden"),
  toBeEnabled: flagged("enabled", { matcher: "to_be_enabled", word: "enabled" }, { matcher: "to_be_disabled", word: "disabled" }),
  toBeDisabled: stateCheck("to_be_disabled", "disabled"),
  toBeEditable: flagged("editable", { matcher: "to_be_editable", word: "editable" }, { matcher: "to_be_readonly", word: "readOnly" }),
  toBeChecked: (options = {}) => {
    if (options.indeterminate && options.checked !== undefined) throw new Error("Can't assert indeterminate and checked at the same time");
    if (options.indeterminate) return { matcher: "to_be_indeterminate", word: "indeterminate", options, shown: "{ indeterminate: true }" };
    return flagged("checked", { matcher: "to_be_checked", word: "checked" }, { matcher: "to_be_unchecked", word: "unchecked" })(options);
  },
  toBeFocused: stateCheck("to_be_focused", "focused"),
  toBeEmpty: stateCheck("to_be_empty", "empty"),
  toBeInViewport: stateCheck("to_be_in_viewport", "in viewport"),
  toHaveText: (expected, options) => ({ matcher: "to_have_text", expected: checkedText(expected), options }),
  toContainText: (expected, options) => ({ matcher: "to_contain_text", expected: checkedText(expected), options, kind: "substring" }),
  toHaveValue: valueCheck("to_have_value"),
  toHaveValues: valueCheck("to_have_values"),
  toHaveCount: valueCheck("to_have_count"),
  toHaveClass: valueCheck("to_have_class"),
  toContainClass: (expected, options) => {
    if (expected instanceof RegExp) throw new Error('"expected" argument in toContainClass cannot be a RegExp value');
    if (Array.isArray(expected) && expected.some((one) => one instanceof RegExp)) throw new Error('"expected" argument in toContainClass cannot contain RegExp values');
    return { matcher: "to_contain_class", expected, options };
  },
  toHaveId: valueCheck("to_have_id"),
  toHaveRole: (expected, options) => {
    if (typeof expected !== "string") throw new Error('"role" argument in toHaveRole must be a string');
    return { matcher: "to_have_role", expected, options };
  },
  toHaveCSS: (name, expected, options) => ({ matcher: "to_have_css", expected, options: { ...options, name } }),
  toHaveAttribute: (name, expected, options) => {
    const isAlone = expected === undefined || (typeof expected === "object" && expected !== null && !(expected instanceof RegExp));
    return isAlone ? { matcher: "to_have_attribute", word: "have attribute", options: { ...expected, name } } : { matcher: "to_have_attribute", expected, options: { ...options, name } };
  },
  toHaveAccessibleName: valueCheck("to_have_accessible_name"),
  toHaveAccessibleDescription: valueCheck("to_have_accessible_description"),
  toHaveAccessibleErrorMessage: valueCheck("to_have_accessible_error_message"),
};

const PAGE_MATCHERS = {
  toHaveTitle: valueCheck("to_have_title"),
  toHaveURL: (expected, options) => ({ matcher: "to_have_url", expected: typeof expected === "string" ? urlExpectation(expected) : expected, shownExpected: expected, options }),
};

/** A text, a pattern, or a list of them. */
function checkedText(expected) {
  const list = Array.isArray(expected) ? expected : [expected];
  if (list.every((one) => typeof one === "string" || one instanceof RegExp)) return expected;
  const [wrong] = list.filter((one) => typeof one !== "string" && !(one instanceof RegExp));
  throw new Error(`Error: expected value must be a string or regular expression\nExpected has type:  ${wrong === null ? "null" : typeof wrong}\nExpected has value: ${printValue(wrong)}`);
}

/** A text as a pattern where it has wildcards, which match as in `waitForURL`. */
function urlExpectation(expected) {
  return /[*{]/.test(expected) ? globPattern(expected) : expected;
}

function toExpected(expected) {
  if (Array.isArray(expected)) return expected.map(toExpected);
  return expected instanceof RegExp ? { re: expected.source, flags: expected.flags } : expected;
}

/** Whether an assertion holds while its frame is not there. */
function holdsForNone(matcher, expected, isNot) {
  if (matcher === "to_have_count") return (expected === 0) !== isNot;
  if (["to_be_hidden", "to_be_detached"].includes(matcher)) return !isNot;
  return ["to_be_visible", "to_be_attached", "to_be_in_viewport"].includes(matcher) && isNot;
}

/** Calls `expect`. In a frame it is called several times, since the frame may come, go or be replaced. */
async function tryExpect(page, subject, params, title, timeout, isMetByNone) {
  const locator = subject instanceof Locator ? subject : null;
  const end = host.now() + timeout;
  let last = null;
  for (;;) {
    const left = Math.max(1, end - host.now());
    try {
      const { result } = await page.call("expect", params, { title, timeout: locator?.hasFrame ? Math.min(left, FRAME_WAIT) : left, locator });
      if (result.pass || !locator?.hasFrame || host.now() >= end) return result;
      last = result;
    } catch (error) {
      const isGone = error.code === "TARGET_GONE" && !page.isClosed();
      const isAbsent = error.failure?.details?.frame === true;
      if (isAbsent && isMetByNone) return { pass: true };
      if (!isGone && !(locator?.hasFrame && (error.code === "TIMEOUT" || error.code === "SELECTOR_NOT_FOUND"))) throw error;
      if (host.now() >= end) {
        if (last !== null) return last;
        throw error;
      }
      if (isGone) await pause(20);
    }
  }
}

/** The accessibility tree that explains a failure: of the page for a missing element, else of the element. */
async function failedSnapshot(subject, matcher, result) {
  if (matcher === "to_have_count") return undefined;
  const isWhole = !(subject instanceof Locator) || result.is_missing || ["to_be_visible", "to_be_attached", "to_be_in_viewport"].includes(matcher);
  const page = subject instanceof Locator ? subject.page() : subject;
  const isText = ["to_have_text", "to_contain_text"].includes(matcher);
  try {
    return await (isWhole ? page.ariaSnapshot({ timeout: 1000 }) : subject.ariaSnapshot({ timeout: 1000, depth: isText ? undefined : 1 }));
  } catch {
    return undefined;
  }
}

/** Tries an assertion in the page; throws in Playwright's shape when it does not hold in time. */
async function expectInPage(subject, name, check, isNot, isSoft, message) {
  const error = new Error("");
  const { matcher, expected, options = {} } = check;
  const { timeout = expectTimeout.value, message: own, signal, ...rest } = options ?? {};
  const page = subject instanceof Locator ? subject.page() : subject;
  const params = { matcher, negated: isNot, options: stringify(rest) };
  if (expected !== undefined) params.expected = stringify(toExpected(expected));
  if (subject instanceof Locator) params.target = subject.target;
  const what = subject instanceof Locator ? "locator" : "page";
  const shown = check.shown ?? (expected === undefined ? "" : "expected");
  const title = `expect(${what})${isNot ? ".not" : ""}.${name}(${shown})`;
  if (signal?.aborted) {
    const reason = `The assertion was aborted: ${signal.reason?.message ?? signal.reason}`;
    const lines = [`${title} failed`, "", ...(what === "locator" ? [`Locator: ${subject}`] : []), `Expected: ${isNot ? "not " : ""}${(check.shownExpected ?? expected) === undefined ? check.word : printValue(check.shownExpected ?? expected)}`, `Error: ${reason}`, ""];
    return failAssertion(lines.join("\n"), isSoft, { name, pass: isNot }, error);
  }
  let result;
  try {
    result = await tryExpect(page, subject, params, title, timeout === 0 ? NO_TIMEOUT : timeout, holdsForNone(matcher, expected, isNot));
  } catch (failed) {
    if (failed.code !== "TIMEOUT" && failed.code !== "SELECTOR_NOT_FOUND") {
      const text = (failed.message.startsWith(`${title}: `) ? failed.message.slice(title.length + 2) : failed.message).replace(/^Error: /, "");
      const reason = failed.code === "BAD_ARGS" ? text.replace(/\n(Make the locator|Use )[^\n]*$/, "") : text;
      const found = { received: null, is_missing: false, reason };
      return failAssertion(expectMessage(subject, name, title, { ...check, isNot, timeout, what }, found, message ?? own), isSoft, { name, pass: isNot, expected, timeout }, error);
    }
    result = { pass: false, received: null, is_missing: true };
  }
  if (result.pass) return;
  const ariaSnapshot = await failedSnapshot(subject, matcher, result);
  failAssertion(expectMessage(subject, name, title, { ...check, isNot, timeout, what }, result, message ?? own), isSoft, { name, pass: isNot, expected: check.shownExpected ?? expected ?? check.word, ...(result.is_missing ? {} : { actual: result.received }), timeout, log: [], ...(ariaSnapshot === undefined ? {} : { ariaSnapshot }) }, error);
}

/** The lines of a failed assertion. */
function expectMessage(subject, name, title, { expected, shownExpected, word, kind, isNot, timeout, matcher, what }, result, message) {
  const wanted = shownExpected ?? expected;
  const not = isNot ? "not " : "";
  const isPattern = wanted instanceof RegExp;
  const isMissing = result.is_missing || result.reason !== undefined;
  const isSubstring = kind === "substring" && typeof wanted === "string";
  const labels = isMissing || !(isPattern || isSubstring) ? ["Expected", "Received"] : [isPattern ? "Expected pattern" : "Expected substring", "Received string"];
  const comparison = [];
  const isDiff = !isMissing && !isNot && Array.isArray(wanted) && Array.isArray(result.received);
  if (isDiff) comparison.push(...diffLines(wanted, result.received));
  else {
    const isSame = wanted === "" && result.received === null && matcher === "to_have_attribute";
    comparison.push(`${labels[0]}: ${not}${wanted === undefined ? word ?? "" : printValue(wanted)}`);
    const received = isSame ? "serializes to the same string" : wanted === undefined ? String(result.received) : printValue(isPattern && result.received === null ? "" : result.received);
    if (!isMissing) comparison.push(`${labels[1]}: ${isNot ? "" : " ".repeat(Math.max(0, labels[0].length - labels[1].length))}${received}`);
  }
  const pad = !isMissing && !isDiff && labels[0] === "Expected" ? " " : "";
  const lines = [
    message === undefined ? `${title} failed` : `${message}\n\n${title} failed`,
    "",
    ...(what === "locator" ? [`Locator: ${pad}${subject}`] : []),
    ...comparison,
    ...(isDiff ? [""] : []),
    ...(result.reason === undefined ? [`Timeout: ${pad}${timeout}ms`] : []),
    ...(result.reason !== undefined ? [`Error: ${result.reason}`] : result.is_missing && what === "locator" ? ["Error: element(s) not found"] : []),
    "",
    "Call log:",
    `  - Expect "${isNot ? "not " : ""}${name}" with timeout ${timeout}ms`,
    ...(what === "locator" ? [`  - waiting for ${subject}`] : []),
  ];
  if (!isMissing) {
    if (result.preview) lines.push(`    - locator resolved to ${result.preview}`);
    lines.push(`    - unexpected value ${stringify(typeof result.received === "string" ? result.received : printValue(result.received))}`);
  }
  return `${lines.join("\n")}\n`;
}

/** `toHaveURL(predicate)`: the function judges the URL here. */
async function expectUrlPredicate(page, predicate, isNot, isSoft, message, { timeout = expectTimeout.value } = {}) {
  const error = new Error("");
  const end = host.now() + timeout;
  for (;;) {
    const url = page.url();
    if (Boolean(predicate(new ScriptURL(url))) !== isNot) return;
    if (host.now() >= end) {
      const text = `expect(page)${isNot ? ".not" : ""}.toHaveURL(expected) failed\n\nExpected: predicate to ${isNot ? "fail" : "succeed"}\nReceived: ${printValue(url)}\nTimeout:  ${timeout}ms\n`;
      return failAssertion(message === undefined ? text : `${message}\n\n${text}`, isSoft, { name: "toHaveURL", pass: isNot }, error);
    }
    await new Promise((resolve) => addTimer(resolve, 50, [], false));
    await currentUrl(page);
  }
}

/** `toHaveJSProperty`: the property is read in the page and compared here. */
async function expectProperty(subject, property, expected, isNot, isSoft, message, { timeout = expectTimeout.value } = {}) {
  const error = new Error("");
  const end = host.now() + timeout;
  let received;
  let isMissing = true;
  for (let wait = 20; ; wait = Math.min(wait * 2, 200)) {
    try {
      received = await evaluateIn(subject.page(), (element, path) => path.split(".").reduce((at, name) => (at === null || at === undefined ? undefined : at[name]), element), property, { target: subject.target, now: true }, { title: "expect.toHaveJSProperty", locator: subject });
      isMissing = false;
      if (isEqual(received, expected) !== isNot) return;
    } catch (failed) {
      if (failed.code !== "SELECTOR_NOT_FOUND" && failed.code !== "TARGET_GONE") throw failed;
    }
    if (host.now() >= end) break;
    await new Promise((resolve) => addTimer(resolve, Math.min(wait, Math.max(1, end - host.now())), [], false));
  }
  const title = `expect(locator)${isNot ? ".not" : ""}.toHaveJSProperty(expected)`;
  const lines = isMissing ? [`Locator: ${subject}`, `Expected: ${isNot ? "not " : ""}${printValue(expected)}`, `Timeout: ${timeout}ms`, "Error: element(s) not found"] : [];
  const comparison = comparisonLines(expected, received, isNot);
  const isDiff = comparison.length > 2;
  if (!isMissing) lines.push(`Locator: ${isDiff ? "" : " "}${subject}`, ...comparison, ...(isDiff ? [""] : []), `Timeout: ${isDiff ? "" : " "}${timeout}ms`);
  const text = [`${title} failed`, "", ...lines, "", "Call log:", `  - Expect "${isNot ? "not " : ""}toHaveJSProperty" with timeout ${timeout}ms`, `  - waiting for ${subject}`, ""].join("\n");
  failAssertion(message === undefined ? text : `${message}\n\n${text}`, isSoft, { name: "toHaveJSProperty", pass: isNot, expected, actual: received, timeout }, error);
}

function pageAssertions(subject, isSoft, message, isNot = false) {
  const all = subject instanceof Locator ? LOCATOR_MATCHERS : PAGE_MATCHERS;
  const made = {};
  for (const [name, read] of entries(all)) {
    made[name] = (...given) => {
      if (name === "toHaveURL" && typeof given[0] === "function") return expectUrlPredicate(subject, given[0], isNot, isSoft, message, given[1]);
      if (name === "toHaveURL") given[0] = withBase(subject, given[0]);
      const check = checkedArguments(name, read, given, isNot, subject);
      return check instanceof Promise ? check : expectInPage(subject, name, check, isNot, isSoft, message);
    };
  }
  made.toMatchAriaSnapshot = (expected, options) => expectAria(subject, expected, isNot, isSoft, message, options);
  for (const name of Object.keys(addedMatchers)) made[name] = (...given) => assertAdded(name, subject, given, isNot, isSoft, message);
  if (subject instanceof Locator) made.toHaveJSProperty = (property, expected, options) => expectProperty(subject, property, expected, isNot, isSoft, message, options);
  for (const name of Object.keys(VALUE_MATCHERS)) made[name] ??= (...given) => assertValue(name, subject, given, isNot, isSoft, message);
  if (!isNot) defineProperty(made, "not", { configurable: true, get: () => pageAssertions(subject, isSoft, message, true) });
  return made;
}

/** Reads the arguments of an assertion; wrong ones fail in the form of the assertion. */
function checkedArguments(name, read, given, isNot, subject) {
  try {
    const check = read(...given);
    if (name === "toHaveURL" && (check.expected === null || (typeof check.expected === "object" && !(check.expected instanceof RegExp)))) checkedText(check.expected);
    return check;
  } catch (error) {
    if (!error.message.startsWith("Error: expected value") && name === "toBeChecked") return Promise.reject(error);
    if (!error.message.startsWith("Error: expected value")) throw error;
    const what = subject instanceof Locator ? "locator" : "page";
    return Promise.reject(new Error(`expect(${what})${isNot ? ".not" : ""}.${name}(expected) failed\n\n${what === "locator" ? `Locator: ${subject}\n` : ""}${error.message}\n`));
  }
}

/** `expect(response).toBeOK()`. */
async function expectOK(response, isNot, isSoft, message) {
  const error = new Error("");
  if (!(response instanceof APIResponse)) throw withMessage(error, undefined, "toBeOK can be only used with APIResponse object");
  if (response.ok() !== isNot) return;
  const type = response.headers()["content-type"] ?? "";
  const body = /^text\/|json|xml|javascript/.test(type) ? ["", "Response text:", (await response.text()).slice(0, 1000)] : [];
  const lines = [`expect(response)${isNot ? ".not" : ""}.toBeOK() failed`, "", "Call log:", `  - → ${response.requestMethod} ${response.url()}`, `  - ← ${response.status()} ${response.statusText()}`, ...body];
  const text = lines.join("\n");
  failAssertion(message === undefined ? text : `${message}\n\n${text}`, isSoft, { name: "toBeOK", pass: isNot }, error);
}

/** Adds `toBeOK` to the assertions of a value, so that its error names a wrong subject. */
function withOK(assertions, subject, isSoft, message) {
  assertions.toBeOK = () => expectOK(subject, false, isSoft, message);
  const { not } = assertions;
  not.toBeOK = () => expectOK(subject, true, isSoft, message);
  return defineProperty(assertions, "not", { value: not, configurable: true });
}

function makeExpect(isSoft) {
  const assertionsOf = (subject, text) => (subject instanceof Locator || subject instanceof Page ? pageAssertions(subject, isSoft, text) : valueAssertions(subject, isSoft, text));
  return (subject, message) => {
    const text = typeof message === "object" ? message?.message : message;
    if (subject instanceof APIResponse || subject instanceof Page || subject instanceof Promise) return withOK(assertionsOf(subject, text), subject, isSoft, text);
    return assertionsOf(subject, text);
  };
}

const expect = makeExpect(false);
expect.soft = makeExpect(true);
expect.configure = ({ timeout, soft } = {}) => {
  if (timeout !== undefined) expectTimeout.value = timeout;
  return soft === true ? assign(expect.soft, { poll: expect.poll, soft: expect.soft }) : expect;
};
expect.extend = (matchers) => {
  assign(addedMatchers, matchers);
  for (const name of Object.keys(matchers)) {
    expect[name] ??= (...given) => matching(name, given[0], (received) => matchers[name].call({ isNot: false, equals: isEqual }, received, ...given).pass);
  }
  return expect;
};
expect.getState = () => ({});

/** `expect.poll(() => value).toBe(3)`: tries a value until the assertion holds. */
expect.poll = (read, { timeout = expectTimeout.value, message, intervals = [100, 250, 500, 1000] } = {}) => {
  if (typeof read !== "function") throw new Error("`expect.poll()` accepts only function as a first argument");
  const attempt = (isNot) => new Proxy({}, {
    get: (_, name) => {
      if (name === "not") return attempt(true);
      if (name === "then") return undefined;
      return async (...given) => {
        const error = new Error("");
        const end = timeout === 0 ? Infinity : host.now() + timeout;
        for (let turn = 0; ; turn++) {
          let last;
          try {
            const assertions = valueAssertions(await read(), false, message);
            return await (isNot ? assertions.not : assertions)[name](...given);
          } catch (thrown) {
            if (thrown?.matcherResult === undefined) throw thrown;
            last = thrown;
          }
          const wait = intervals[Math.min(turn, intervals.length - 1)] ?? 1000;
          if (host.now() + wait > end) throw withMessage(error, undefined, `${last.message}\n\nCall Log:\n- Timeout ${timeout}ms exceeded while waiting on the predicate`);
          await new Promise((resolve) => addTimer(resolve, wait, [], false));
        }
      };
    },
  });
  return attempt(false);
};
