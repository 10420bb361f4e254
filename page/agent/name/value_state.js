// Values of elements (typed, selected, measured), as a state and as part of a name. Masks secret fields.

const RANGES = new Set(["meter", "progressbar", "scrollbar", "slider", "spinbutton"]);
const TEXT_INPUTS = new Set(["email", "number", "password", "search", "tel", "text", "url"]);
const INPUTS_WITHOUT_VALUE = new Set(["button", "checkbox", "hidden", "image", "radio", "reset", "submit"]);
const SECRET_PURPOSES = new Set(["one-time-code", "cc-csc", "current-password", "new-password"]);

/** Replaces the value of a secret field: `MASK` of the crate `tabwire-secrets`. */
const MASK = "•••";

/** Whether the value of the field is secret. */
function isSecret(element) {
  if (element.localName !== "input") return false;
  if (element.type === "password") return true;
  const purpose = element.getAttribute("autocomplete");
  return purpose !== null && purpose.toLowerCase().split(/\s+/).some((token) => SECRET_PURPOSES.has(token));
}

/** Whether the element is a text field. */
function holdsText(element, role) {
  switch (element.localName) {
    case "input":
      return TEXT_INPUTS.has(element.type);
    case "textarea":
      return isHtml(element);
    default:
      return role === "textbox" || role === "searchbox" || isEditingHost(element);
  }
}

function addValue(element, role, states) {
  if (RANGES.has(role) || (role === "separator" && isFocusable(element) && element.hasAttribute("role"))) {
    const text = element.getAttribute("aria-valuetext");
    if (text !== null && text !== "") states.valueText = text;
    const value = measuredValueOf(element, role);
    if (value !== null) states.value = value;
    return;
  }
  const value = valueOf(element, role);
  if (value !== null) states.value = value;
}

/** The typed or selected value, masked if secret; null when the element has no value. */
function valueOf(element, role) {
  switch (element.localName) {
    case "input":
      if (element.type === "file") return Array.from(element.files ?? [], (file) => file.name).join(", ");
      if (INPUTS_WITHOUT_VALUE.has(element.type)) return null;
      return isSecret(element) && element.value !== "" ? MASK : element.value;
    case "textarea":
      return element.value;
    case "select":
      return opensMenu(element) ? chosenTextOf(element) : null;
    default:
      if (holdsText(element, role)) return element.innerText ?? element.textContent;
      return role === "combobox" && isFocusable(element) ? insideTextOf(element) : null;
  }
}

/** The text that a select shows. */
function chosenTextOf(select) {
  const chosen = select.selectedOptions;
  if (select.multiple && chosen.length !== 1) return `${chosen.length} selected`;
  return chosen.length === 0 ? "" : chosen[0].label;
}

/** The text inside a combobox that is not an input. */
function insideTextOf(element) {
  return inPass(() => foldSpace(contentOf(element, new NameWalk(new Set([element]), null))));
}

/** The value of a meter, slider and so on, as text; null when it is unknown. */
function measuredValueOf(element, role) {
  switch (element.localName) {
    case "meter":
      return String(element.value);
    case "progress":
      return element.hasAttribute("value") ? String(element.value) : null;
    case "input":
      if (element.type === "number" || element.type === "range") return element.value;
      break;
    default:
  }
  const given = element.getAttribute("aria-valuenow");
  if (given !== null && given !== "") return given;
  if (element.localName === "input") return TEXT_INPUTS.has(element.type) ? element.value : null;
  switch (role) {
    case "scrollbar":
    case "separator":
    case "slider":
      return String((boundOf(element, "aria-valuemin", 0) + boundOf(element, "aria-valuemax", 100)) / 2);
    case "meter":
    case "spinbutton":
      return String(boundOf(element, "aria-valuemin", 0));
    default:
      return null;
  }
}

function boundOf(element, attribute, otherwise) {
  const bound = Number.parseFloat(element.getAttribute(attribute) ?? "");
  return Number.isNaN(bound) ? otherwise : bound;
}

function chosenFilesOf(input) {
  return valueOf(input, "button") || "No file chosen";
}

/** The value that a control contributes to an ancestor's name; null for none. */
function valueInName(element, role, walk) {
  if (holdsText(element, role)) return valueOf(element, role) || null;
  if (RANGES.has(role)) return element.getAttribute("aria-valuetext") ?? measuredValueOf(element, role);
  if (role !== "combobox" && role !== "listbox") return null;
  const chosen = chosenOptionsOf(element).filter((option) => !walk.visited.has(option));
  if (chosen.length === 0) return role === "combobox" ? valueOf(element, role) : null;
  return chosen.map(nameOf).join(" ");
}

function chosenOptionsOf(element) {
  if (element.localName === "select") return Array.from(element.selectedOptions);
  return Array.from(element.querySelectorAll("[role=option][aria-selected=true]"));
}
