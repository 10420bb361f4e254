// Assertions of scripts, tried again until they hold: `expect(locator).toBeVisible()` and the others.

const STATE_TESTS = {
  to_be_attached: (found) => [found.length > 0, found.length > 0 ? "attached" : "detached"],
  to_be_visible: (found) => stateOfOne(found, (element) => (isShown(element) ? "visible" : "hidden"), "visible"),
  to_be_hidden: (found) => (found.length === 0 ? [true, "hidden"] : stateOfOne(found, (element) => (isShown(element) ? "visible" : "hidden"), "hidden")),
  to_be_enabled: (found) => stateOfOne(found, (element) => (isDisabled(element) ? "disabled" : "enabled"), "enabled"),
  to_be_disabled: (found) => stateOfOne(found, (element) => (isDisabled(element) ? "disabled" : "enabled"), "disabled"),
  to_be_editable: (found) => stateOfOne(found, (element) => (isEditableField(element) ? "editable" : "readonly"), "editable"),
  to_be_checked: (found) => stateOfOne(found, (element) => (checkedState(checkableFor(element)) === true ? "checked" : "unchecked"), "checked"),
  to_be_focused: (found) => stateOfOne(found, (element) => (deepFocus() === element ? "focused" : "inactive"), "focused"),
  to_be_empty: (found) => stateOfOne(found, (element) => ((element.matches("input, textarea") ? element.value : element.textContent.trim()) === "" ? "empty" : "notEmpty"), "empty"),
  to_be_in_viewport: (found, { ratio }) => {
    const share = found.length === 0 ? 0 : viewportShare(found[0]);
    return [found.length > 0 && share > 0 && share >= (ratio ?? 0) - 1e-9, `viewport ratio ${share}`];
  },
};

/** What is compared with the expected value. */
const VALUE_READERS = {
  to_have_text: (element, { useInnerText }) => (useInnerText ? element.innerText : matchText(element).full),
  to_contain_text: (element, { useInnerText }) => (useInnerText ? element.innerText : matchText(element).full),
  to_have_value: (element) => inputValueOf(element),
  to_have_attribute: (element, { name }) => element.getAttribute(name),
  to_have_class: (element) => element.getAttribute("class") ?? "",
  to_contain_class: (element) => element.getAttribute("class") ?? "",
  to_have_id: (element) => element.id,
  to_have_role: (element) => roleOf(element) ?? "",
  to_have_accessible_name: (element) => nameOf(element),
  to_have_accessible_description: (element) => descriptionOf(element) ?? "",
  to_have_css: (element, { name }) => getComputedStyle(element).getPropertyValue(name),
};

/** Matchers that fold whitespace of the received and the expected text. */
const FOLDING = new Set(["to_have_text", "to_contain_text", "to_have_accessible_name", "to_have_accessible_description"]);
const LISTS = new Set(["to_have_text", "to_contain_text", "to_have_class", "to_contain_class", "to_have_values"]);

function stateOfOne(found, read, wanted) {
  if (found.length === 0) return [false, undefined];
  if (found.length > 1) failStrict(found);
  const state = read(found[0]);
  return [state === wanted, state];
}

function viewportShare(element) {
  const box = element.getBoundingClientRect();
  const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
  const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
  const area = box.width * box.height;
  return width <= 0 || height <= 0 || area === 0 ? 0 : (width * height) / area;
}

function valueFits(matcher, received, expected, ignoreCase) {
  if (received === null || received === undefined) return false;
  if (typeof expected === "object" && expected !== null) return regexTest(ignoreCase ? { ...expected, flags: `${expected.flags.replace("i", "")}i` } : expected)(FOLDING.has(matcher) ? foldText(received) : received);
  const fold = (text) => (FOLDING.has(matcher) ? plainMatchText(text).plain : text);
  const lower = (text) => (ignoreCase ? text.toLowerCase() : text);
  const [left, right] = [lower(fold(received)), lower(fold(String(expected)))];
  if (matcher === "to_contain_text") return left.includes(right);
  if (matcher === "to_contain_class") return right.split(/\s+/).every((name) => left.split(/\s+/).includes(name));
  return left === right;
}

/** Whether a list of elements fits a list of expected values: equal lengths, or a part in order for `contain`. */
function listFits(matcher, received, expected, ignoreCase) {
  const isPart = matcher === "to_contain_text" || matcher === "to_contain_class";
  if (!isPart && received.length !== expected.length) return false;
  let at = 0;
  for (const text of received) {
    if (at < expected.length && valueFits(matcher, text, expected[at], ignoreCase)) at++;
    else if (!isPart) return false;
  }
  return at === expected.length;
}

function testOnce({ spec, matcher, expected, options }) {
  if (matcher === "to_have_title") return [valueFits("to_have_text", document.title, expected, options.ignoreCase), document.title];
  if (matcher === "to_have_url") return [valueFits(matcher, location.href, expected, options.ignoreCase), location.href];
  const found = locate(spec);
  if (STATE_TESTS[matcher] !== undefined) return STATE_TESTS[matcher](found, options);
  if (matcher === "to_have_count") return [found.length === expected, found.length];
  if (matcher === "to_have_values") {
    const values = found.length === 0 ? [] : Array.from(found[0].selectedOptions ?? [], (option) => option.value);
    return [listFits("to_have_value", values, expected, false), values];
  }
  if (matcher === "to_have_js_property") return fail("BAD_ARGS", "The property is compared by the script.", "Use evaluate().");
  const read = VALUE_READERS[matcher] ?? fail("BAD_ARGS", `There is no assertion "${matcher}".`, "Use the assertions of the script API.");
  if (Array.isArray(expected) && LISTS.has(matcher)) {
    const values = found.map((element) => read(element, options));
    return [listFits(matcher, values, expected, options.ignoreCase), values];
  }
  if (found.length === 0) return [false, undefined];
  if (found.length > 1) failStrict(found);
  const value = read(found[0], options);
  // `toHaveAttribute(name)` without a value only needs the attribute.
  if (matcher === "to_have_attribute" && expected === undefined) return [value !== null, value];
  return [valueFits(matcher, value, expected, options.ignoreCase), value];
}

/** Tries an assertion until it holds (or no longer holds, when `negated`), at most until the timeout. */
agent.expect = async ({ negated = false, timeout = 0, options = {}, ...request }) => {
  const deadline = performance.now() + timeout;
  const once = () => inPass(() => testOnce({ ...request, options }));
  const changes = new ChangeWaiter();
  try {
    for (;;) {
      const [holds, received] = once();
      // A negated assertion about a missing element fails in Playwright, except for states that a missing element has.
      const isMissing = received === undefined;
      if (negated ? !holds && (!isMissing || request.matcher === "to_be_visible") : holds) return { pass: true, received: received ?? null, isMissing };
      if (performance.now() >= deadline) return { pass: false, received: received ?? null, isMissing };
      await changes.next(deadline);
    }
  } finally {
    changes.stop();
  }
};
