// States and values of elements: checked, expanded, disabled, what is typed in. Knows nothing of names. Never tells
// what stands in a field for secrets.

const CHECKABLE = new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"]);
const SELECTABLE = new Set(["cell", "columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"]);
const RANGES = new Set(["meter", "progressbar", "scrollbar", "slider", "spinbutton"]);
const REQUIRABLE = new Set(["checkbox", "combobox", "gridcell", "listbox", "radiogroup", "searchbox", "spinbutton", "switch", "textbox", "tree", "treegrid"]);
const EDITABLE = new Set(["combobox", "searchbox", "spinbutton", "textbox"]);
const SECRET_PURPOSES = new Set(["one-time-code", "cc-csc", "current-password", "new-password"]);

/** What stands for the value of a secret field that is not empty. */
const MASK = "••••";

/** The states that apply to the element, and only those. */
function statesOf(element, role = roleOf(element)) {
  const states = {};
  addToggles(element, role, states);
  if (isDisabled(element)) states.disabled = true;
  addFormStates(element, role, states);
  addRelations(element, role, states);
  addValue(element, role, states);
  if (isFocused(element)) states.focused = true;
  return states;
}

/** True, false or "mixed" from an attribute; undefined when it says nothing. */
function triState(element, attribute) {
  switch (element.getAttribute(attribute)) {
    case "true":
      return true;
    case "false":
      return false;
    case "mixed":
      return "mixed";
    default:
      return undefined;
  }
}

function addToggles(element, role, states) {
  if (CHECKABLE.has(role)) states.checked = checkedOf(element);
  if (role === "button") {
    const pressed = triState(element, "aria-pressed");
    if (pressed !== undefined) states.pressed = pressed;
  }
  if (SELECTABLE.has(role)) {
    if (element.localName === "option" && isHtml(element)) states.selected = element.selected;
    else if (element.hasAttribute("aria-selected")) states.selected = element.getAttribute("aria-selected") === "true";
  }
  const expanded = expandedOf(element);
  if (expanded !== undefined) states.expanded = expanded;
}

function checkedOf(element) {
  if (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) {
    return element.indeterminate && element.type === "checkbox" ? "mixed" : element.checked;
  }
  return triState(element, "aria-checked") ?? false;
}

function expandedOf(element) {
  if (element.localName === "summary" && element.parentNode?.localName === "details" && summaryOf(element.parentNode) === element) {
    return element.parentNode.open;
  }
  const given = triState(element, "aria-expanded");
  if (given === true || given === false) return given;
  const target = element.popoverTargetElement;
  if (target) return target.matches(":popover-open");
  if (element.localName === "select" && !element.multiple && element.size <= 1) return element.matches(":open");
  return undefined;
}

/** Whether the element is disabled, by itself, its fieldset, or an ancestor's aria-disabled. */
function isDisabled(element) {
  switch (element.localName) {
    case "button":
    case "input":
    case "select":
    case "textarea":
    case "option":
    case "optgroup":
    case "fieldset":
      if (element.matches(":disabled")) return true;
      break;
    default:
  }
  for (let node = element; node !== null; node = composedParent(node)) {
    const given = node.getAttribute("aria-disabled");
    if (given === "true") return true;
    if (given === "false") return false;
  }
  return false;
}

function addFormStates(element, role, states) {
  if (REQUIRABLE.has(role) && (element.required === true || element.getAttribute("aria-required") === "true")) states.required = true;
  const invalid = invalidOf(element);
  if (invalid !== undefined) states.invalid = invalid;
  if (element.readOnly === true || element.getAttribute("aria-readonly") === "true") states.readonly = true;
}

function invalidOf(element) {
  const given = element.getAttribute("aria-invalid");
  if (given !== null && given !== "") return given === "false" ? undefined : given === "grammar" || given === "spelling" ? given : true;
  switch (element.localName) {
    case "input":
    case "select":
    case "textarea":
      return element.willValidate && !element.validity.valid ? true : undefined;
    default:
      return undefined;
  }
}

function addRelations(element, role, states) {
  if (role === "heading" || element.hasAttribute("aria-level")) {
    const level = levelOf(element);
    if (level > 0) states.level = level;
  }
  const popup = element.getAttribute("aria-haspopup");
  if (popup !== null && popup !== "" && popup !== "false") states.haspopup = popup === "true" ? "menu" : popup;
  const current = element.getAttribute("aria-current");
  if (current !== null && current !== "" && current !== "false") states.current = current;
  if (role === "dialog" || role === "alertdialog") {
    if (element.getAttribute("aria-modal") === "true" || (element.localName === "dialog" && element.matches(":modal"))) states.modal = true;
  }
  const orientation = element.getAttribute("aria-orientation");
  if (orientation === "horizontal" || orientation === "vertical") states.orientation = orientation;
  if (element.getAttribute("aria-multiselectable") === "true" || (element.localName === "select" && element.multiple)) {
    states.multiselectable = true;
  }
}

function levelOf(element) {
  const given = Number.parseInt(element.getAttribute("aria-level") ?? "", 10);
  if (given > 0) return given;
  const match = /^h([1-6])$/.exec(element.localName);
  return match !== null && isHtml(element) ? Number(match[1]) : 2;
}

/** Whether what stands in the field must not be told. */
function isSecret(element) {
  if (element.localName !== "input") return false;
  if (element.type === "password") return true;
  const purpose = (element.getAttribute("autocomplete") ?? "").toLowerCase().split(/\s+/);
  return purpose.some((token) => SECRET_PURPOSES.has(token));
}

function addValue(element, role, states) {
  if (RANGES.has(role)) {
    addRange(element, states);
    return;
  }
  const value = valueOf(element, role);
  if (value === undefined) return;
  states.value = isSecret(element) && value !== "" ? MASK : value;
}

/** What is typed or chosen in the element; undefined when it holds no value. */
function valueOf(element, role) {
  switch (element.localName) {
    case "input":
      return INPUTS_WITHOUT_VALUE.has(element.type) ? undefined : element.value;
    case "textarea":
      return element.value;
    case "select":
      return element.multiple ? undefined : chosenTextOf(element);
    default:
      if (EDITABLE.has(role) && isEditingHost(element)) return element.innerText;
      return undefined;
  }
}

const INPUTS_WITHOUT_VALUE = new Set(["button", "checkbox", "file", "hidden", "image", "radio", "reset", "submit"]);

function addRange(element, states) {
  const text = element.getAttribute("aria-valuetext");
  if (text !== null && text !== "") states.valueText = text;
  if (element.localName === "input") states.value = element.value;
  else if (element.localName === "meter") states.value = String(element.value);
  else if (element.localName === "progress") {
    if (element.hasAttribute("value")) states.value = String(element.value);
  } else if (element.hasAttribute("aria-valuenow")) states.value = element.getAttribute("aria-valuenow");
}

/** Whether the element has the focus; a host does not when something in its shadow has it. */
function isFocused(element) {
  const root = element.getRootNode();
  return root.activeElement === element && element.ownerDocument.body !== element && !element.shadowRoot?.activeElement;
}
