// What elements hold and how it is changed: fields, editors, boxes to tick. Text of editors is typed by the browser on
// Rust's order; here it is only made room for. Knows nothing of waiting.

const TYPED_INPUTS = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
/** Inputs whose value the browser's own widgets make; set as those do. Each with the form its value has. */
const SET_INPUTS = {
  date: "2024-12-31",
  time: "13:45",
  "datetime-local": "2024-12-31T13:45",
  month: "2024-12",
  week: "2024-W52",
  color: "#1e90ff",
  range: "a number",
};
const CHECKABLE_ROLES = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
/** Longest wait for the event of a selection; selecting what is selected already sends none. */
const SELECTION_PATIENCE = 30;

function isCheckable(element) {
  return (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) || CHECKABLE_ROLES.has(roleOf(element));
}

/** Whether a box, radio button or switch is ticked: true, false or "mixed". */
function tickOf(element) {
  if (element.localName === "input") return element.indeterminate && element.type === "checkbox" ? "mixed" : element.checked;
  return triState(element, "aria-checked") ?? false;
}

function isDropDown(select) {
  return select !== null && !select.multiple && select.size <= 1;
}

function isTextField(element) {
  if (element.localName === "textarea") return true;
  return element.localName === "input" && (TYPED_INPUTS.has(element.type) || element.type in SET_INPUTS);
}

/** Whether text is typed into the element itself, as into a page's own editor. */
function isEditor(element) {
  return element.isContentEditable === true || Boolean(element.editContext);
}

function isReadOnly(element) {
  return element.readOnly === true || element.getAttribute("aria-readonly") === "true";
}

/** The element that is meant when this one is named for a purpose: the control of a label, the field in a wrapper. */
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

/** The element if it fits, else its label's control, else the only one inside it that fits, else the element. */
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

/** Whether a field is one of its own: not a part of an editor, nor one that an editor keeps for itself. */
function isOwnField(element) {
  if (element.isContentEditable) return element.parentElement?.isContentEditable !== true;
  return element.getAttribute("aria-hidden") !== "true" || !isReadOnly(element);
}

function checkableFor(element) {
  const control = controlFor(element, isCheckable);
  if (isCheckable(control)) return control;
  const label = element.closest("label");
  if (label?.control && isCheckable(label.control)) return label.control;
  return fail("BAD_ARGS", `${phrase(element)} is neither a checkbox nor a radio button nor a switch.`, "Click it instead.", { element: describeElement(element) });
}

/** What the element holds now: its value, whether it is ticked. Secrets stay hidden. */
function holdings(element) {
  const held = {};
  const value = heldText(element);
  if (value !== null) held.value = isSecret(element) && value !== "" ? MASK : shorten(value, 500);
  if (isCheckable(element)) held.checked = tickOf(element);
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

/** An editor's text without the blank lines and marks that only keep it open. */
function editorText(element) {
  return (element.innerText ?? "").replace(/[\ufeff\u200b]/g, "").replace(/\n{2,}/g, "\n").trim();
}

/** The last step of preparing: what can be done in the page itself is done now. */
function finishPurpose(element, request, purpose) {
  switch (purpose) {
    case "fill":
      return makeRoom(element, request.value);
    case "select":
      return request.choices === undefined ? {} : choose(element, request.choices);
    case "check":
      return checkStep(element, request.want);
    case "focus":
      return focusOn(element) ? {} : { unmet: unfocusable(element) };
    case "upload":
      return { upload: fileInputFacts(element) };
    default:
      return {};
  }
}

function unfocusable(element) {
  const dialog = dialogBefore(element);
  if (dialog !== null) return { condition: "covered", message: `is behind ${phrase(dialog)}`, by: dialog };
  return { condition: "focus", message: "does not take the focus" };
}

/** Gives the element the focus; an editor's part gives it to the editor. */
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

/** The element that has the focus, inside shadow roots and readable frames. */
function deepFocus() {
  let focused = document.activeElement;
  for (;;) {
    const inner = focused && (shadowRootOf(focused)?.activeElement ?? (isFrameElement(focused) ? accessibleDocument(focused)?.activeElement : null));
    if (!inner) return focused;
    focused = inner;
  }
}

/**
 * Readies a field for its new value. `fill` says what is left to do: "done" nothing, "enter" have it entered with the
 * next question, "insert" type the text over what is selected, "erase" delete what is selected. `selectAll` asks for
 * the editor's own key for it first.
 */
function makeRoom(element, value) {
  refuseUnfillable(element);
  if (element.localName === "input" && element.type in SET_INPUTS) {
    if (!focusOn(element)) return { unmet: unfocusable(element) };
    return value === undefined ? {} : { fill: "done", ...setWidget(element, value) };
  }
  if (element.localName === "input" && element.type === "number" && value !== undefined && value !== "" && !isNumberText(value)) {
    fail("BAD_ARGS", `${phrase(element)} takes a number, not "${shorten(value, 40)}".`, "Give digits, as in 12.5.", { element: describeElement(element) });
  }
  if (value !== undefined && isEnterable(element, value)) return roomToEnter(element, value);
  if (!focusOn(element)) return { unmet: unfocusable(element) };
  if (isTextField(element)) {
    element.select();
    return roomFor(element, value, element.value === "");
  }
  return selectContents(element, value);
}

/** A field that is filled from here is left alone until then: whatever it is given has the page drawn first. */
function roomToEnter(element, value) {
  if (dialogBefore(element) !== null) return { unmet: unfocusable(element) };
  if (value !== "" || element.value !== "") return { fill: "enter" };
  return focusOn(element) ? { fill: "done" } : { unmet: unfocusable(element) };
}

function selectContents(element, value) {
  const range = element.ownerDocument.createRange();
  range.selectNodeContents(element);
  const pause = selectionTold(element.ownerDocument);
  const selection = element.ownerDocument.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  const isEmpty = editorText(element) === "" && element.querySelector("img, hr, table") === null;
  return { ...roomFor(element, value, isEmpty), rich: true, pause };
}

function roomFor(element, value, isEmpty) {
  // These know no selection but their own.
  const isApart = element.closest(CODE_EDITORS) !== null || Boolean(element.editContext);
  const fill = value === "" ? (isEmpty && !isApart ? "done" : "erase") : "insert";
  return isApart ? { fill, selectAll: true } : { fill };
}

/** Editors learn of a selection by an event that comes later; what is typed before it would go elsewhere. */
function selectionTold(owner) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      owner.removeEventListener("selectionchange", end, true);
      // The event comes in a task of its own; the page's listeners of it run in the same.
      setTimeout(resolve, 0);
    };
    const timer = setTimeout(end, SELECTION_PATIENCE);
    owner.addEventListener("selectionchange", end, true);
  });
}

function isNumberText(text) {
  return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text);
}

function refuseUnfillable(element) {
  if (isTextField(element) || isEditor(element)) return;
  const hint =
    element.localName === "select" ? "Use `select` for a list of options."
    : isCheckable(element) ? "Use `check` or `uncheck`."
    : element.localName === "input" && element.type === "file" ? "Use `upload` for files."
    : "Name the field itself: an input, a textarea or an editable element.";
  fail("BAD_ARGS", `${phrase(element)} cannot be filled.`, hint, { element: describeElement(element) });
}

/** Sets an input whose value the browser's widgets make, with the events they send; refuses what it does not take. */
function setWidget(input, value) {
  const wanted = input.type === "color" ? value.trim().toLowerCase() : value.trim();
  const before = input.value;
  input.value = wanted;
  const taken = input.value;
  if (input.type === "range" || input.type === "color" ? !isSameValue(taken, wanted) : taken === "" && wanted !== "") {
    input.value = before;
    const range = input.type === "range" ? ` It goes from ${input.min || 0} to ${input.max || 100} in steps of ${input.step || 1}.` : "";
    fail("BAD_ARGS", `${phrase(input)} does not take "${shorten(value, 40)}".`, `Its values look like ${SET_INPUTS[input.type]}.${range}`, { element: describeElement(input) });
  }
  if (taken !== before) announceChange(input);
  return { value: input.value, matches: true };
}

function isSameValue(left, right) {
  return left === right || (right !== "" && Number(left) === Number(right));
}

/** The events a person's choice in a widget sends. */
function announceChange(element) {
  const { Event } = element.ownerDocument.defaultView;
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

/** What stands in the field now and whether it is what was meant. */
function verified(element, expected) {
  const value = heldText(element) ?? "";
  const shown = isSecret(element) && value !== "" ? MASK : shorten(value, 500);
  return { value: shown, matches: isAsMeant(element, value, expected) };
}

function isAsMeant(element, value, expected) {
  if (element.closest(CODE_EDITORS) !== null) return isShownOf(value, expected);
  if (isEditor(element)) return withoutSpace(value) === withoutSpace(expected);
  if (element.localName === "textarea") return value === expected.replace(/\r\n?/g, "\n");
  if (element.type === "number" || element.type === "range") return isSameValue(value, expected.trim());
  return value === expected || (element.type in SET_INPUTS && value !== "");
}

function checkStep(element, want) {
  if (want === undefined) return {};
  if (tickOf(element) === want) return { done: true };
  if (want === false && roleOf(element) === "radio") {
    fail("BAD_ARGS", `${phrase(element)} is a radio button and cannot be unticked.`, "Choose another one of its group.", { element: describeElement(element) });
  }
  return { done: false };
}

agent.fill = ({ key, value }) => {
  const element = byRef({ key });
  const { pause, ...room } = makeRoom(element, value);
  if (room.unmet) giveUp({ element, ...room.unmet }, { request: { timeout: 0 } });
  return pause ? pause.then(() => room) : room;
};
agent.verify = ({ key, expected }) => verified(byRef({ key }), expected);
agent.checkState = ({ key }) => {
  const element = checkableFor(byRef({ key }));
  return { key: keyOf(element), checked: tickOf(element) };
};
