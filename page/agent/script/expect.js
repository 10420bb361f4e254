// Assertions of scripts, tried again until they hold: `expect(locator).toBeVisible()` and the others.

/** The state of an element for each assertion, and the state that it needs. */
const STATE_TESTS = {
  to_be_attached: [() => "attached", "attached"],
  to_be_detached: [() => "attached", "detached"],
  to_be_visible: [(element) => (isShown(element) ? "visible" : "hidden"), "visible"],
  to_be_hidden: [(element) => (isShown(element) ? "visible" : "hidden"), "hidden"],
  to_be_enabled: [(element) => (isDisabledControl(element) ? "disabled" : "enabled"), "enabled"],
  to_be_disabled: [(element) => (isDisabledControl(element) ? "disabled" : "enabled"), "disabled"],
  to_be_editable: [(element) => editableState(element), "editable"],
  to_be_readonly: [(element) => editableState(element), "readOnly"],
  to_be_checked: [(element) => checkedWord(element), "checked"],
  to_be_unchecked: [(element) => checkedWord(element), "unchecked"],
  to_be_indeterminate: [(element) => (checkedStateOf(element) === "mixed" ? "indeterminate" : checkedWord(element)), "indeterminate"],
  to_be_focused: [(element) => (element.getRootNode().activeElement === element && element.ownerDocument.hasFocus() ? "focused" : "inactive"), "focused"],
  to_be_empty: [(element) => ((element.matches("input, textarea") ? element.value : element.textContent.trim()) === "" ? "empty" : "notEmpty"), "empty"],
};

/** What a missing element means: whether the assertion holds. Any other assertion fails, negated or not. */
const MISSING_HOLDS = { to_be_hidden: true, to_be_detached: true, to_be_visible: false, to_be_attached: false, to_be_in_viewport: false };

function editableState(element) {
  return isEditableField(element) ? "editable" : isDisabledControl(element) ? "disabled" : "readOnly";
}

const CHECKED_ROLES = new Set(["checkbox", "menuitemcheckbox", "option", "radio", "switch", "menuitemradio", "treeitem"]);

function checkedStateOf(element) {
  const box = retargeted(element);
  if (!isCheckable(box) && !CHECKED_ROLES.has(chainRoleOf(box))) fail("BAD_ARGS", "Not a checkbox or radio button", "Use another assertion.");
  if (isCheckable(box)) return checkedState(box);
  const given = box.getAttribute("aria-checked");
  return given === "mixed" ? given : given === "true";
}

function checkedWord(element) {
  return isCheckedNow(element) ? "checked" : "unchecked";
}

/** Whether a box is checked; a native one may be indeterminate too. */
function isCheckedNow(element) {
  const box = retargeted(element);
  return box.localName === "input" && isCheckable(box) ? box.checked : checkedStateOf(element) === true;
}

/** What is compared with the expected value. */
const VALUE_READERS = {
  to_have_text: (element, { useInnerText }) => (useInnerText ? element.innerText : matchText(element).full),
  to_contain_text: (element, { useInnerText }) => (useInnerText ? element.innerText : matchText(element).full),
  to_have_value: (element) => inputValueOf(element),
  to_have_attribute: (element, { name }) => element.getAttribute(name),
  to_have_class: (element) => element.getAttribute("class") ?? "",
  to_contain_class: (element) => element.getAttribute("class") ?? "",
  to_have_id: (element) => element.id,
  to_have_role: (element) => chainRoleOf(element) ?? "",
  to_have_accessible_name: (element) => nameOf(element),
  to_have_accessible_error_message: (element) => errorMessageOf(element),
  to_have_accessible_description: (element) => descriptionOf(element) ?? "",
  to_have_css: (element, { name, pseudo }) => getComputedStyle(element, pseudo === undefined ? undefined : `::${pseudo}`).getPropertyValue(name),
};

/** Matchers that fold whitespace of the received and the expected text. */
const FOLDING = new Set(["to_have_text", "to_contain_text", "to_have_accessible_name", "to_have_accessible_description", "to_have_accessible_error_message"]);
const LISTS = new Set(["to_have_text", "to_contain_text", "to_have_class", "to_contain_class", "to_have_values"]);

function testState(matcher, found) {
  if (found.length > 1) failStrict(found);
  if (found.length === 0) return [false, undefined];
  const [read, wanted] = STATE_TESTS[matcher];
  const state = read(found[0]);
  return [state === wanted, state, found[0]];
}

function testInViewport(found, { ratio }) {
  if (found.length > 1) failStrict(found);
  if (found.length === 0) return [false, undefined];
  const share = viewportShare(found[0]);
  return [share > 0 && share >= (ratio ?? 0) - 1e-9, `viewport ratio ${share}`, found[0]];
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
  if (typeof expected === "object" && expected !== null) {
    const flags = ignoreCase === undefined ? expected.flags : `${expected.flags.replace("i", "")}${ignoreCase ? "i" : ""}`;
    return regexTest({ ...expected, flags })(matcher.startsWith("to_have_accessible") ? plainMatchText(received).plain : received);
  }
  const fold = (text) => (FOLDING.has(matcher) ? plainMatchText(text).plain : text);
  const lower = (text) => (ignoreCase ? text.toLowerCase() : text);
  const [left, right] = [lower(fold(received)), lower(fold(String(expected)))];
  if (matcher === "to_contain_text") return left.includes(right);
  if (matcher === "to_contain_class") return right.split(/\s+/).filter((name) => name !== "").every((name) => left.split(/\s+/).includes(name));
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
  if (STATE_TESTS[matcher] !== undefined) return testState(matcher, found);
  if (matcher === "to_be_in_viewport") return testInViewport(found, options);
  if (matcher === "to_have_count") return [found.length === expected, found.length, `${found.length} element${found.length === 1 ? "" : "s"}`];
  if (matcher === "to_have_values") {
    if (found.length > 1) failStrict(found);
    if (found.length === 0) return [false, undefined];
    const select = found[0].closest("label")?.control ?? found[0];
    if (select.localName !== "select" || !select.multiple) fail("BAD_ARGS", "Not a select element with a multiple attribute", "Use toHaveValue().");
    const values = Array.from(select.selectedOptions, (option) => option.value);
    return [listFits("to_have_value", values, expected, false), values, select];
  }
  if (matcher === "to_have_js_property") return fail("BAD_ARGS", "The property is compared by the script.", "Use evaluate().");
  const read = VALUE_READERS[matcher] ?? fail("BAD_ARGS", `There is no assertion "${matcher}".`, "Use the assertions of the script API.");
  if (Array.isArray(expected) && LISTS.has(matcher)) {
    const values = found.map((element) => read(element, options));
    return [listFits(matcher, values, expected, options.ignoreCase), values, `${found.length} element${found.length === 1 ? "" : "s"}`];
  }
  if (found.length === 0) return [false, undefined];
  if (found.length > 1) failStrict(found);
  const value = read(found[0], options);
  // `toHaveAttribute(name)` without a value only needs the attribute.
  if (matcher === "to_have_attribute" && expected === undefined) return [value !== null, value === null ? "not have attribute" : "have attribute", found[0]];
  return [valueFits(matcher, value, expected, options.ignoreCase), value, found[0]];
}

/** The text of `aria-errormessage`, when the element is invalid. */
function errorMessageOf(element) {
  const isInvalid = !["", "false", null].includes(element.getAttribute("aria-invalid")) || (element.matches("input, select, textarea") && !element.validity.valid);
  const ids = (element.getAttribute("aria-errormessage") ?? "").split(/\s+/).filter((id) => id !== "");
  if (!isInvalid || ids.length === 0) return "";
  const texts = ids.map((id) => element.getRootNode().getElementById(id)).filter((one) => one !== null && isShown(one));
  return texts.map((one) => plainMatchText(one.textContent).plain).join(" ");
}

/** What an assertion was tried with: a preview of the element, or a count. */
function triedWith(tried) {
  if (tried === undefined || typeof tried === "string") return tried ?? null;
  return previewOf(tried);
}

/** Tries an assertion until it holds (or no longer holds, when `negated`), at most until the timeout. */
agent.expect = async ({ negated = false, timeout = 0, options = {}, ...request }) => {
  const deadline = performance.now() + timeout;
  const once = () => inPass(() => testOnce({ ...request, options }));
  const changes = new ChangeWaiter();
  let last = null;
  try {
    for (;;) {
      const [holds, received, tried] = once();
      const isMissing = received === undefined;
      const isMet = isMissing ? MISSING_HOLDS[request.matcher] === !negated : holds !== negated;
      if (isMet) return { pass: true, received: received ?? null, isMissing };
      // A later miss does not hide what the element was before.
      if (!isMissing || last === null) last = { pass: false, received: received ?? null, isMissing, preview: inPass(() => triedWith(tried)) };
      if (performance.now() >= deadline) return last;
      await changes.next(deadline);
    }
  } finally {
    changes.stop();
  }
};
