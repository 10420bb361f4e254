// Values of fields, editors and checkboxes, and how to change them. Rust sends the keys that type into editors; this
// file prepares the selection.

const TYPED_INPUTS = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
/** Inputs that a browser widget edits, with an example of their value. Their value is set directly. */
const WIDGET_INPUTS = {
  date: "2024-12-31",
  time: "13:45",
  "datetime-local": "2024-12-31T13:45",
  month: "2024-12",
  week: "2024-W52",
  color: "#1e90ff",
  range: "a number",
};
const CHECKABLE_ROLES = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
/** Longest wait for `selectionchange`; an unchanged selection fires none. */
const MAX_SELECTION_WAIT = 30;

function isCheckable(element) {
  return (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) || CHECKABLE_ROLES.has(roleOf(element)) || (element.hasAttribute("aria-checked") && (roleOf(element) === "option" || roleOf(element) === "treeitem"));
}

/** Whether a checkbox, radio button or switch is checked: true, false or "mixed". */
function checkedState(element) {
  if (element.localName === "input") return element.indeterminate && element.type === "checkbox" ? "mixed" : element.checked;
  return triState(element, "aria-checked") ?? false;
}

function isDropDown(select) {
  return select !== null && !select.multiple && select.size <= 1;
}

function isTextField(element) {
  if (element.localName === "textarea") return true;
  return element.localName === "input" && (TYPED_INPUTS.has(element.type) || element.type in WIDGET_INPUTS);
}

/** Whether the element is a rich-text editor. */
function isEditor(element) {
  return element.isContentEditable === true || Boolean(element.editContext);
}

function isReadOnly(element) {
  return element.readOnly === true || element.getAttribute("aria-readonly") === "true";
}

/** The element that a purpose applies to: the control of a label, or the field in a wrapper. */
function actedOn(element, purpose) {
  switch (purpose) {
    case "fill":
      return codeFieldIn(element) ?? controlFor(element, (one) => isTextField(one) || isEditor(one));
    case "check":
      return checkableFor(element);
    case "select":
      return element.localName === "option" ? (element.closest("select") ?? element) : controlFor(element, (one) => one.localName === "select");
    case "upload":
      return controlFor(element, (one) => one.localName === "input" && one.type === "file");
    default:
      return element;
  }
}

/** The element if it fits, else its label's control, else the only fitting descendant, else the element. */
function controlFor(element, fits) {
  if (fits(element)) return element;
  if (element.localName === "label" && element.control) return fits(element.control) ? element.control : element;
  const inside = [];
  for (const one of elementsIn(rootsBelow(element))) {
    if (one !== element && fits(one) && isOwnField(one)) inside.push(one);
    if (inside.length > 1) break;
  }
  return inside.length === 1 ? inside[0] : element;
}

/** Whether the field stands alone: neither part of an editor nor an editor's hidden helper. */
function isOwnField(element) {
  if (element.isContentEditable) return element.parentElement?.isContentEditable !== true;
  return element.getAttribute("aria-hidden") !== "true" || !isReadOnly(element);
}

function checkableFor(element) {
  const control = controlFor(element, isCheckable);
  if (isCheckable(control)) return control;
  const label = element.closest("label");
  if (label?.control && isCheckable(label.control)) return label.control;
  if (CHECKED_ROLES.has(chainRoleOf(element))) return element;
  return fail("BAD_ARGS", `${phrase(element)} is not a checkbox, radio button or switch.`, remedy("Use {}.", { action: "click" }), { element: describeElement(element) });
}

/** The element's value and checked state. Masks secrets. */
function fieldState(element) {
  const held = {};
  const value = heldText(element);
  if (value !== null) held.value = isSecret(element) && value !== "" ? MASK : shorten(value, 500);
  if (isCheckable(element)) held.checked = checkedState(element);
  return held;
}

function heldText(element) {
  const code = element.closest(CODE_EDITORS);
  if (code !== null) return codeText(code);
  switch (element.localName) {
    case "input":
      return INPUTS_WITHOUT_VALUE.has(element.type) ? null : element.value;
    case "textarea":
      return element.value;
    case "select":
      return Array.from(element.selectedOptions, (option) => foldText(option.label)).join(", ");
    default:
      return isEditor(element) ? editorText(element) : null;
  }
}

/** An editor's text without its filler lines and characters. */
function editorText(element) {
  return (element.innerText ?? "").replace(/[\ufeff\u200b]/g, "").replace(/\n{2,}/g, "\n").trim();
}

/** The last step of `prepare`: does what the page agent can do itself. */
function finishPurpose(element, request, purpose) {
  switch (purpose) {
    case "fill":
      return prepareFill(element, request.value);
    case "select":
      return request.choices === undefined ? {} : choose(element, request.choices);
    case "check":
      return checkedStep(element, request.want);
    case "focus":
      if (request.reset === true) resetCaret(element);
      return focusOn(element) || request.spec.chain !== undefined ? {} : { unmet: focusFailure(element) };
    case "upload":
      return { upload: fileInputState(element) };
    default:
      return {};
  }
}

/** Focuses a field that does not have the focus, with the caret at its start. */
function resetCaret(element) {
  if (element.getRootNode().activeElement === element && element.ownerDocument.hasFocus()) return;
  focusOn(element);
  if (element.localName !== "input" && element.localName !== "textarea") return;
  try {
    element.setSelectionRange(0, 0);
  } catch {
    // Some types of fields have no selection.
  }
}

function focusFailure(element) {
  const dialog = blockingDialog(element);
  if (dialog !== null) return { condition: "covered", message: `is behind ${phrase(dialog)}`, by: dialog };
  return { condition: "focus", message: "does not take the focus" };
}

/** Focuses the element; part of an editor focuses the editor. */
function focusOn(element) {
  const host = editingHostOf(element);
  if (host.getRootNode().activeElement !== host || !host.ownerDocument.hasFocus()) host.focus();
  return host.getRootNode().activeElement === host || isWithin(deepFocus(), host);
}

function editingHostOf(element) {
  let host = element;
  while (host.isContentEditable && host.parentElement?.isContentEditable) host = host.parentElement;
  return host;
}

/** The focused element, inside shadow roots and same-origin frames. */
function deepFocus() {
  let focused = document.activeElement;
  for (;;) {
    const inner = focused && (shadowRootOf(focused)?.activeElement ?? (isFrameElement(focused) ? accessibleDocument(focused)?.activeElement : null));
    if (!inner) return focused;
    focused = inner;
  }
}

/**
 * Prepares a field for its new value. `fill` is the remaining step: "done" for none, "enter" for the text in the next
 * `settle` call, "insert" to type over the selection, "keys" to do so key by key, "erase" to delete the selection. `selectAll` requests the
 * editor's own select-all key first.
 */
function prepareFill(element, value) {
  ensureFillable(element);
  if (element.localName === "input" && element.type in WIDGET_INPUTS) {
    if (!focusOn(element)) return { unmet: focusFailure(element) };
    return value === undefined ? {} : { fill: "done", ...setWidget(element, value) };
  }
  if (element.localName === "input" && element.type === "number" && value !== undefined && value !== "" && !isNumberText(value)) {
    fail("BAD_ARGS", `${phrase(element)} takes a number, not "${shorten(value, 40)}".`, "Use digits, for example 12.5.", { element: describeElement(element) });
  }
  // Pages often read number fields from key events: a value without keys would be ignored.
  if (element.localName === "input" && element.type === "number" && value !== undefined && value !== "") {
    if (!focusOn(element)) return { unmet: focusFailure(element) };
    element.select();
    return { fill: "keys" };
  }
  if (value !== undefined && acceptsEditCommand(element, value)) return prepareEnter(element, value);
  if (!focusOn(element)) return { unmet: focusFailure(element) };
  if (isTextField(element)) {
    element.select();
    return fillStep(element, value, element.value === "");
  }
  return selectContents(element, value);
}

/** A field that `settle` fills is not focused yet: focusing it would force a layout first. */
function prepareEnter(element, value) {
  if (blockingDialog(element) !== null) return { unmet: focusFailure(element) };
  if (value !== "" || element.value !== "") return { fill: "enter" };
  return focusOn(element) ? { fill: "done" } : { unmet: focusFailure(element) };
}

function selectContents(element, value) {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  const pause = selectionChange(element.ownerDocument);
  const selection = element.ownerDocument.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  const isEmpty = editorText(element) === "" && element.querySelector("img, hr, table") === null;
  return { ...fillStep(element, value, isEmpty), rich: true, pause };
}

function fillStep(element, value, isEmpty) {
  // These editors keep their own selection.
  const isApart = element.closest(CODE_EDITORS) !== null || Boolean(element.editContext);
  const fill = value === "" ? (isEmpty && !isApart ? "done" : "erase") : "insert";
  return isApart ? { fill, selectAll: true } : { fill };
}

/** Editors learn of a selection by a later event; text typed before it would go elsewhere. */
function selectionChange(owner) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      owner.removeEventListener("selectionchange", end, true);
      // The event runs in its own task, together with the page's listeners.
      setTimeout(resolve, 0);
    };
    const timer = setTimeout(end, MAX_SELECTION_WAIT);
    owner.addEventListener("selectionchange", end, true);
  });
}

function isNumberText(text) {
  return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text);
}

function ensureFillable(element) {
  if (isTextField(element) || isEditor(element)) return;
  const action =
    element.localName === "select" ? "select"
    : isCheckable(element) ? "check"
    : element.localName === "input" && element.type === "file" ? "upload"
    : null;
  const way = action === null ? "Target an input, a textarea or an editable element." : remedy("Use {}.", { action });
  const input = element.localName === "input" ? { input: element.type } : {};
  fail("BAD_ARGS", `${phrase(element)} cannot be filled.`, way, { element: describeElement(element), ...input });
}

/** Sets the value of a widget input and fires its events. Fails when the input rejects the value. */
function setWidget(input, value) {
  const wanted = input.type === "color" ? value.trim().toLowerCase() : value.trim();
  const before = input.value;
  input.value = wanted;
  const taken = input.value;
  if (input.type === "range" || input.type === "color" ? !isSameValue(taken, wanted) : taken === "" && wanted !== "") {
    input.value = before;
    const range = input.type === "range" ? ` The range is ${input.min || 0} to ${input.max || 100} in steps of ${input.step || 1}.` : "";
    fail("BAD_ARGS", `${phrase(input)} does not accept "${shorten(value, 40)}".`, `Example of a valid value: ${WIDGET_INPUTS[input.type]}.${range}`, { element: describeElement(input) });
  }
  if (taken !== before) fireChange(input);
  return { value: input.value, matches: true };
}

function isSameValue(left, right) {
  return left === right || (right !== "" && Number(left) === Number(right));
}

/** Fires the events of a user's choice in a widget. */
function fireChange(element) {
  const { Event } = element.ownerDocument.defaultView;
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

/** The field's value now, and whether it is the expected one. */
function verified(element, expected) {
  const value = heldText(element) ?? "";
  const shown = isSecret(element) && value !== "" ? MASK : shorten(value, 500);
  return { value: shown, matches: isExpectedValue(element, value, expected) };
}

function isExpectedValue(element, value, expected) {
  if (element.closest(CODE_EDITORS) !== null) return isPartOf(value, expected);
  if (isEditor(element)) return withoutSpace(value) === withoutSpace(expected);
  if (element.localName === "textarea") return value === expected.replace(/\r\n?/g, "\n");
  if (element.type === "number" || element.type === "range") return isSameValue(value, expected.trim());
  return value === expected || (element.type in WIDGET_INPUTS && value !== "");
}

function checkedStep(element, want) {
  if (want === undefined) return {};
  if (checkedState(element) === want) return { done: true };
  if (want === false && element.localName === "input" && element.type === "radio") {
    fail("BAD_ARGS", `${phrase(element)} is a radio button and cannot be unchecked.`, "Check another radio button of its group.", { element: describeElement(element) });
  }
  return { done: false };
}

agent.fill = ({ key, value }) => {
  const element = byRef({ key });
  const { pause, ...room } = prepareFill(element, value);
  if (room.unmet) failUnmet({ element, ...room.unmet }, { request: { timeout: 0 } });
  return pause ? pause.then(() => room) : room;
};
agent.verify = ({ key, expected }) => verified(byRef({ key }), expected);
agent.checkState = ({ key }) => {
  const element = checkableFor(byRef({ key }));
  return { key: keyOf(element), checked: checkedState(element) };
};
