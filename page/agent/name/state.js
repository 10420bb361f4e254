// States of elements: checked, expanded, disabled and so on.

const CHECKABLE = new Set(["checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"]);
/** Roles that are checkable only with aria-checked. */
const MAYBE_CHECKED = new Set(["option", "treeitem"]);
/** Checkable roles that support "mixed". */
const PARTLY_CHECKED = new Set(["checkbox", "menuitemcheckbox", "option", "treeitem"]);
const SELECTABLE = new Set(["cell", "columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"]);
const EXPANDABLE = new Set(
  ("application button checkbox columnheader combobox gridcell link listitem menuitem menuitemcheckbox " +
    "menuitemradio row rowheader switch tab treeitem").split(" "),
);
const REQUIRABLE = new Set(
  ("button checkbox combobox gridcell listbox radio radiogroup searchbox slider spinbutton switch textbox tree " +
    "treegrid").split(" "),
);
const READ_ONLY_ROLES = new Set(
  ("checkbox combobox grid gridcell listbox menuitemcheckbox menuitemradio radiogroup searchbox slider spinbutton " +
    "switch textbox treegrid").split(" "),
);
const POPUPS = new Set(["menu", "listbox", "tree", "grid", "dialog"]);

/** The states that apply to the element. */
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

/** True, false or "mixed" from an attribute; undefined when it is not set. */
function triState(element, attribute) {
  const value = element.getAttribute(attribute)?.toLowerCase();
  if (value === undefined || value === "" || value === "undefined") return undefined;
  return value === "mixed" ? "mixed" : value !== "false";
}

function addToggles(element, role, states) {
  const checked = checkedOf(element, role);
  if (checked !== undefined) states.checked = checked;
  if (role === "button") {
    const pressed = triState(element, "aria-pressed");
    if (pressed !== undefined) states.pressed = pressed;
  }
  if (SELECTABLE.has(role)) {
    const selected = element.localName === "option" && isHtml(element) ? element.selected : triState(element, "aria-selected");
    if (selected !== undefined) states.selected = selected === true;
  }
  const expanded = expandedOf(element, role);
  if (expanded !== undefined) states.expanded = expanded;
}

function checkedOf(element, role) {
  const isCheckable = CHECKABLE.has(role);
  if (!isCheckable && !MAYBE_CHECKED.has(role)) return undefined;
  if (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) {
    return element.indeterminate && element.type === "checkbox" ? "mixed" : element.checked;
  }
  const given = triState(element, "aria-checked");
  if (given === "mixed" && !PARTLY_CHECKED.has(role)) return false;
  return given ?? (isCheckable ? false : undefined);
}

function expandedOf(element, role) {
  if (!EXPANDABLE.has(role)) return undefined;
  if (isSummary(element)) return composedParent(element).open;
  if (element.localName === "select" && role === "combobox") return element.matches(":open");
  const popover = popoverOf(element);
  if (popover !== null) return popover.matches(":popover-open");
  const given = triState(element, "aria-expanded");
  return given === undefined ? undefined : given === true;
}

/** The popover that a button controls; null when there is none or the button is inside it. */
function popoverOf(element) {
  const commanded = /-popover$/.test(element.getAttribute("command") ?? "") ? element.commandForElement : null;
  const popover = commanded ?? element.popoverTargetElement ?? null;
  return popover === null || !popover.hasAttribute("popover") || popover.contains(element) ? null : popover;
}

/** Whether the element is disabled by itself, by its fieldset, or by an ancestor's aria-disabled. */
function isDisabled(element) {
  switch (element.localName) {
    case "button":
    case "input":
    case "select":
    case "textarea":
      if (element.matches(":disabled")) return true;
      break;
    case "option":
      // In Firefox, the options of a disabled list do not match themselves.
      if (element.matches(":disabled") || element.closest("select")?.matches(":disabled")) return true;
      break;
    default:
      if (element.localName.includes("-") && element.matches(":disabled")) return true;
  }
  const own = triState(element, "aria-disabled");
  if (own !== undefined || !isFocusable(element)) return own === true;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const given = triState(node, "aria-disabled");
    if (given !== undefined) return given === true;
  }
  return false;
}

function addFormStates(element, role, states) {
  if (REQUIRABLE.has(role) && (element.required === true || element.getAttribute("aria-required") === "true")) {
    states.required = true;
  }
  if (isInvalid(element)) states.invalid = true;
  if (isMarkedReadOnly(element, role)) states.readonly = true;
}

/** Whether the author or the browser marks the value invalid. A missing required value is not invalid yet. */
function isInvalid(element) {
  const given = element.getAttribute("aria-invalid");
  if (given !== null && given !== "") return given.toLowerCase() !== "false";
  switch (element.localName) {
    case "input":
    case "select":
    case "textarea":
      if (!element.willValidate || element.validity.valid) return false;
      return !(element.required && element.value === "" && holdsText(element, ""));
    default:
      return false;
  }
}

function isMarkedReadOnly(element, role) {
  if (isHtml(element) && element.readOnly === true) return holdsText(element, role);
  return element.getAttribute("aria-readonly") === "true" && READ_ONLY_ROLES.has(role) && !isEditingHost(element);
}

function addRelations(element, role, states) {
  const level = levelOf(element, role);
  if (level > 0) states.level = level;
  const popup = element.getAttribute("aria-haspopup");
  if (popup === "true") states.haspopup = "menu";
  else if (POPUPS.has(popup)) states.haspopup = popup;
  const current = element.getAttribute("aria-current");
  if (current !== null && current !== "" && current !== "false") states.current = current;
  if (role === "dialog" || role === "alertdialog") {
    const isModal = element.localName === "dialog" && element.matches(":modal");
    if (isModal || element.getAttribute("aria-modal") === "true") states.modal = true;
  }
  const orientation = element.getAttribute("aria-orientation");
  if (orientation === "horizontal" || orientation === "vertical") states.orientation = orientation;
  if (element.getAttribute("aria-multiselectable") === "true" || (element.localName === "select" && element.multiple)) {
    states.multiselectable = true;
  }
}

/** The level of a heading, row or tree item; 0 for none. */
function levelOf(element, role) {
  if (role !== "heading" && role !== "treeitem" && role !== "row") return 0;
  const given = Number.parseInt(element.getAttribute("aria-level") ?? "", 10);
  if (given > 0) return given;
  if (role === "row") return 0;
  if (role === "treeitem") return depthInTree(element);
  const match = isHtml(element) ? /^h([1-6])$/.exec(element.localName) : null;
  return match === null ? 2 : Number(match[1]);
}

/** The depth of a tree item, from 1. */
function depthInTree(item) {
  let depth = 1;
  for (let node = ownerOf(item) ?? composedParent(item); node !== null; node = composedParent(node)) {
    const role = roleOf(node);
    if (role === "tree") break;
    if (role === "group") depth += 1;
  }
  return depth;
}

/** Whether the element has the focus; false for a host whose shadow root contains it. */
function isFocused(element) {
  const { activeElement } = element.ownerDocument;
  if (activeElement !== element && (activeElement === null || shadowRootOf(activeElement) === null)) return false;
  const root = element.getRootNode();
  return root.activeElement === element && element.ownerDocument.body !== element && !shadowRootOf(element)?.activeElement;
}
