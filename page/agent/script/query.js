// Facts about the elements of a locator, for scripts: all of them in one call.

const QUERY_FACTS = {
  text_content: (element) => element.textContent ?? "",
  inner_text: (element) => (element.namespaceURI === "http://www.w3.org/1999/xhtml" ? element.innerText : fail("BAD_ARGS", "Node is not an HTMLElement")),
  inner_html: (element) => htmlInside(element),
  input_value: (element) => inputValueOf(element),
  attribute: (element, name) => (isSecretData(element, name, false) ? MASK : element.getAttribute(name)),
  visible: (element) => isShown(element),
  hidden: (element) => !isShown(element),
  enabled: (element) => !isDisabledControl(element),
  disabled: (element) => isDisabledControl(element),
  editable: (element) => isEditableField(element),
  checked: (element) => isCheckedNow(element),
  role: (element) => roleOf(element) || null,
  name: (element) => nameOf(element),
  tag: (element) => element.localName,
  html: (element) => previewOf(element),
  box: (element) => (element.getClientRects().length > 0 ? outwardBox(outerBox(element), element.ownerDocument) : null),
};

/** The control that a state is read from: the nearest button or checkbox, or the control of the label around. */
function retargeted(element) {
  if (element.matches("input, textarea, select") || element.isContentEditable) return element;
  const around = element.matches("a") ? element : (element.closest("button, [role=button], [role=checkbox], [role=radio]") ?? element);
  if (around.matches("a, button, [role=link], [role=button], [role=checkbox], [role=radio]")) return around;
  return around.closest("label")?.control ?? around;
}

function isDisabledControl(element) {
  // Chrome does not report a disabled group as disabled; Playwright does.
  return isDisabled(retargeted(element)) || (element.localName === "optgroup" && element.disabled);
}

/** The value of a field, following a label to its control. */
function inputValueOf(element) {
  const field = retargeted(element);
  if (!field.matches("input, textarea, select")) fail("BAD_ARGS", "Node is not an <input>, <textarea> or <select> element", "Use textContent() for other elements.");
  return isSecret(field) && field.value !== "" ? MASK : field.value;
}

const READONLY_ROLES = new Set(["checkbox", "combobox", "grid", "gridcell", "listbox", "radiogroup", "slider", "spinbutton", "textbox", "columnheader", "rowheader", "searchbox", "switch", "treegrid"]);

function isEditableField(given) {
  const element = retargeted(given);
  if (!element.matches("input, textarea, select") && !isEditor(element) && !READONLY_ROLES.has(roleOf(element))) {
    fail("BAD_ARGS", "Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role allowing [aria-readonly]");
  }
  return !isDisabled(element) && !isReadOnly(element) && (element.matches("input, textarea, select") || element.getAttribute("aria-readonly") !== "true");
}

function htmlInside(element) {
  const writer = new HtmlWriter(false);
  for (const child of element.childNodes) writer.node(child, 0);
  return writer.text();
}

function factsOf(element, facts, name, withKey) {
  const found = {};
  for (const fact of facts) found[fact] = QUERY_FACTS[fact](element, name);
  if (withKey) found.key = keyOf(element);
  return found;
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

/** What the engine calls an element that a script's function returned. */
agent.nameElement = ({ element }) => {
  // A text node or a document acts as the element around it.
  const named = element.nodeType === Node.ELEMENT_NODE ? element : (element.parentElement ?? document.documentElement);
  const html = element.nodeType === Node.TEXT_NODE ? `#text=${shorten(element.data, 50).replace(/\n/g, "↵")}` : element.nodeType === Node.DOCUMENT_NODE ? "#document" : previewOf(named);
  return { document: documentName, key: keyOf(named), html };
};

/** The element with a key, attached or not; null when nothing holds it any more. */
agent.keptElement = (key) => elementsByKey.get(key)?.deref() ?? null;
