// Form fields: how a field takes a value, what submits a form, and file inputs.

const YES = new Set(["true", "on", "yes", "checked", "1"]);
const NO = new Set(["false", "off", "no", "unchecked", "0", ""]);

function isFormField(element) {
  if (element.localName === "select" || isTextField(element) || element.isContentEditable === true) return true;
  return isCheckable(element) || (element.localName === "input" && element.type === "file");
}

/** The radio buttons of the same group, or those inside the element. */
function radiosFor(element) {
  const isRadio = (one) => roleOf(one) === "radio";
  if (!isRadio(element)) return Array.from(elementsIn(rootsBelow(element))).filter(isRadio);
  if (element.localName === "input") {
    const all = element.getRootNode().querySelectorAll("input[type=radio]");
    return Array.from(all).filter((one) => one === element || (element.name !== "" && one.name === element.name && one.form === element.form));
  }
  const group = element.closest("[role=radiogroup]");
  return group === null ? [element] : Array.from(elementsIn(rootsBelow(group))).filter(isRadio);
}

function checkedValue(element, value) {
  const word = String(value).trim().toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  return fail("BAD_ARGS", `${phrase(element)} accepts true or false, not "${shorten(word, 40)}".`, "Use true or false.", { element: describeElement(element) });
}

function radioFor(radios, value, element) {
  const wanted = plainLabel(String(value));
  const found = radios.find((one) => one.localName === "input" && one.value === String(value)) ?? radios.find((one) => plainLabel(nameOf(one)) === wanted);
  if (found !== undefined) return found;
  const names = radios.slice(0, 20).map((one) => quoted(shorten(nameOf(one) || one.value, 40)));
  return fail("BAD_ARGS", `${phrase(element)} has no option "${shorten(String(value), 40)}".`, `Options: ${names.join(", ")}.`, { element: describeElement(element) });
}

/** How the field takes the value: `{kind, key, want}`, with the key of the element that takes it. */
agent.fieldFor = ({ key, value }) => {
  const element = byRef({ key });
  const control = controlFor(element, isFormField);
  const result = (kind, one, want) => ({ kind, key: keyOf(one), document: documentName, want });
  if (control.localName === "select") return result("select", control);
  if (control.localName === "input" && control.type === "file") return result("file", control);
  const radios = isFormField(control) && roleOf(control) !== "radio" ? [] : radiosFor(control);
  if (radios.length > 0) {
    const isAboutOne = roleOf(control) === "radio" && typeof value === "boolean";
    return isAboutOne ? result("tick", control, value) : result("tick", radioFor(radios, value, control), true);
  }
  if (isCheckable(control)) return result("tick", control, checkedValue(control, value));
  return result("text", control);
};

/** The submit button of the field's form; null for none, and then the Enter key submits. */
agent.submitter = ({ key }) => {
  const field = byRef({ key });
  let form = field.form ?? null;
  for (let node = field; form === null && node !== null; node = composedParent(node)) if (node.localName === "form") form = node;
  if (form === null) return null;
  const isSubmit = (one) => (one.localName === "button" || one.localName === "input") && one.type === "submit" && isShown(one);
  const button = Array.from(form.elements).find(isSubmit);
  return button === undefined ? null : { key: keyOf(button), document: documentName };
};

/** The element itself, for a remote object; null when it is no longer on the page. */
agent.elementByKey = (key) => elementOf(key);

function isFileInput(element) {
  return element.localName === "input" && element.type === "file";
}

/** What a file input accepts and contains. */
function fileInputState(element) {
  if (!isFileInput(element)) return { file: false };
  return {
    file: true,
    multiple: element.multiple,
    directory: element.webkitdirectory === true,
    accept: element.accept,
    disabled: disabledReason(element),
    files: Array.from(element.files ?? [], ({ name, size }) => ({ name, size })),
  };
}

agent.fileInput = ({ element }) => fileInputState(element);
