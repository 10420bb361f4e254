// Facts about the elements of a locator, for scripts: all of them in one call.

const QUERY_FACTS = {
  text_content: (element) => element.textContent ?? "",
  inner_text: (element) => element.innerText ?? element.textContent ?? "",
  inner_html: (element) => htmlInside(element),
  input_value: (element) => inputValueOf(element),
  attribute: (element, name) => (isSecretData(element, name, false) ? MASK : element.getAttribute(name)),
  visible: (element) => isShown(element),
  hidden: (element) => !isShown(element),
  enabled: (element) => !isDisabled(element),
  disabled: (element) => isDisabled(element),
  editable: (element) => isEditableField(element),
  checked: (element) => checkedState(checkableFor(element)) === true,
  role: (element) => roleOf(element) || null,
  name: (element) => nameOf(element),
  tag: (element) => element.localName,
  html: (element) => previewOf(element),
  box: (element) => (isShown(element) ? outwardBox(outerBox(element), element.ownerDocument) : null),
};

/** The value of a field, following a label to its control. */
function inputValueOf(element) {
  const field = element.matches("input, textarea, select") ? element : (element.closest("label")?.control ?? element);
  if (!field.matches("input, textarea, select")) fail("BAD_ARGS", "Node is not an <input>, <textarea> or <select> element", "Use textContent() for other elements.");
  return isSecret(field) && field.value !== "" ? MASK : field.value;
}

function isEditableField(element) {
  if (!element.matches("input, textarea, select") && !isEditor(element) && !element.hasAttribute("aria-readonly")) {
    fail("BAD_ARGS", "Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role allowing [aria-readonly]", "Use isEnabled().");
  }
  return !isDisabled(element) && !isReadOnly(element);
}

function htmlInside(element) {
  const writer = new HtmlWriter(false);
  for (const child of element.childNodes) writer.node(child, 0);
  return writer.text();
}

function factsOf(element, facts, name, withKey) {
  const told = {};
  for (const fact of facts) told[fact] = QUERY_FACTS[fact](element, name);
  if (withKey) told.key = keyOf(element);
  return told;
}

/**
 * Facts of one match (`wait` until there is one), or of all matches now. `keys` also names the elements, so that refs can
 * be made.
 */
agent.query = async ({ spec, facts = [], name, all = false, wait = true, strict = true, keys = false, timeout = 0 }) => {
  const unknown = facts.find((fact) => QUERY_FACTS[fact] === undefined);
  if (unknown !== undefined) fail("BAD_ARGS", `There is no fact "${unknown}".`, `Facts are ${Object.keys(QUERY_FACTS).join(", ")}.`);
  const deadline = performance.now() + timeout;
  const read = () => inPass(() => {
    const found = locate(spec);
    if (all) return { document: documentName, total: found.length, elements: found.slice(0, 10000).map((element) => factsOf(element, facts, name, keys)) };
    if (strict && found.length > 1) failStrict(found);
    return found.length === 0 ? null : { document: documentName, total: found.length, elements: [factsOf(found[0], facts, name, keys)] };
  });
  const first = read();
  if (first !== null || !wait) return first ?? { document: documentName, total: 0, elements: [] };
  const changes = new ChangeWaiter();
  try {
    for (;;) {
      if (performance.now() >= deadline) fail("TIMEOUT", "No element matches the locator.", suggestion(similarTo(spec)));
      await changes.next(deadline);
      const now = read();
      if (now !== null) return now;
    }
  } finally {
    changes.stop();
  }
};
