// What kind of field takes a value of a form, and what sends the form. Knows nothing of how fields are filled.

const YES = new Set(["true", "on", "yes", "checked", "1"]);
const NO = new Set(["false", "off", "no", "unchecked", "0", ""]);

function isFormField(element) {
  if (element.localName === "select" || isTextField(element) || element.isContentEditable === true) return true;
  return isCheckable(element) || (element.localName === "input" && element.type === "file");
}

/** The radio buttons that belong together with this one, or that are inside this element. */
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

function wishOf(element, value) {
  const word = String(value).trim().toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  return fail("BAD_ARGS", `${phrase(element)} is ticked or not; "${shorten(word, 40)}" is neither.`, "Give true or false.", { element: describeElement(element) });
}

function radioFor(radios, value, element) {
  const wanted = plainLabel(String(value));
  const found = radios.find((one) => one.localName === "input" && one.value === String(value)) ?? radios.find((one) => plainLabel(nameOf(one)) === wanted);
  if (found !== undefined) return found;
  const names = radios.slice(0, 20).map((one) => quoted(shorten(nameOf(one) || one.value, 40)));
  return fail("BAD_ARGS", `${phrase(element)} has no choice "${shorten(String(value), 40)}".`, `There is ${names.join(", ")}.`, { element: describeElement(element) });
}

/** How this field takes this value: `{kind, key, want}`; the key is that of the element that takes it. */
agent.fieldFor = ({ key, value }) => {
  const element = byRef({ key });
  const control = controlFor(element, isFormField);
  const answer = (kind, one, want) => ({ kind, key: keyOf(one), document: documentName, want });
  if (control.localName === "select") return answer("select", control);
  if (control.localName === "input" && control.type === "file") return answer("file", control);
  const radios = isFormField(control) && roleOf(control) !== "radio" ? [] : radiosFor(control);
  if (radios.length > 0) {
    const isAboutOne = roleOf(control) === "radio" && typeof value === "boolean";
    return isAboutOne ? answer("tick", control, value) : answer("tick", radioFor(radios, value, control), true);
  }
  if (isCheckable(control)) return answer("tick", control, wishOf(control, value));
  return answer("text", control);
};

/** The button that sends the form that the field is in; null when there is none, and then the Enter key does it. */
agent.submitter = ({ key }) => {
  const field = byRef({ key });
  let form = field.form ?? null;
  for (let node = field; form === null && node !== null; node = composedParent(node)) if (node.localName === "form") form = node;
  if (form === null) return null;
  const isSubmit = (one) => (one.localName === "button" || one.localName === "input") && one.type === "submit" && isShown(one);
  const button = Array.from(form.elements).find(isSubmit);
  return button === undefined ? null : { key: keyOf(button), document: documentName };
};
