// Inputs that a page hides behind their visible label: file inputs, checkboxes, radio buttons.

/** The control of a label when a walk does not list the control itself, else null. */
function hiddenControlOf(label) {
  const { control } = label;
  if (!control || control.type === "hidden") return null;
  for (let node = control; node !== null && !isAround(node, label); node = composedParent(node)) {
    if (invisibleReasonOf(node) === "clipped") return control;
  }
  return control.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false }) ? null : control;
}

/** Whether a click on its label operates the control. */
function isOperatedByLabel(control) {
  return control.localName === "input" && (control.type === "file" || control.type === "checkbox" || control.type === "radio");
}

/** The visible text of a label. */
function labelNameOf(label) {
  const walk = new NameWalk(new Set(), null);
  return concealsText(label) ? perceivableText(label) : foldSpace(contentOf(label, walk));
}
