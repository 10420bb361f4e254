// Selects options of native select elements.

/** Selects options and fires events. Returns `unmet` while an option does not exist yet. */
function choose(select, choices) {
  if (select.localName !== "select") {
    fail("BAD_ARGS", `${phrase(select)} is not a select element.`, remedy("Use {} on it, then on the option that appears.", { action: "click" }), { element: describeElement(select) });
  }
  if (choices.length > 1 && !select.multiple) {
    fail("BAD_ARGS", `${phrase(select)} accepts one option, not ${choices.length}.`, "Give one value or label.", { element: describeElement(select) });
  }
  const options = [];
  for (const choice of choices) {
    const option = findOption(select, choice);
    if (option === undefined) return { unmet: missingOption(select, choice) };
    if (option.disabled || option.closest("optgroup")?.disabled) return { unmet: { condition: "enabled", message: `has the option ${quoted(shorten(foldText(option.label), 40))} disabled` } };
    options.push(option);
  }
  select.focus();
  if (applyChoice(select, options)) fireChange(select);
  return { chosen: Array.from(select.selectedOptions, (option) => ({ value: option.value, label: shorten(foldText(option.label)) })) };
}

function applyChoice(select, options) {
  const before = Array.from(select.selectedOptions);
  if (select.multiple) for (const option of select.options) option.selected = options.includes(option);
  else if (options.length > 0) options[0].selected = true;
  else select.selectedIndex = -1;
  const after = Array.from(select.selectedOptions);
  return before.length !== after.length || before.some((option, at) => option !== after[at]);
}

function findOption(select, { value, label, index, any }) {
  const options = Array.from(select.options);
  if (index !== undefined) return options[index];
  const byLabel = (wanted) => options.find((option) => foldText(option.label) === foldText(wanted)) ?? options.find((option) => plainLabel(option.label) === plainLabel(wanted));
  if (value !== undefined) return options.find((option) => option.value === value);
  if (label !== undefined) return byLabel(label);
  return options.find((option) => option.value === any) ?? byLabel(String(any));
}

function missingOption(select, choice) {
  const wanted = choice.value ?? choice.label ?? choice.any ?? choice.index;
  const listed = Array.from(select.options).slice(0, 20).map((option) => quoted(shorten(foldText(option.label), 40)));
  const rest = select.options.length - listed.length;
  const options = listed.length === 0 ? "It has no options yet." : `It has ${listed.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
  return { condition: "option", message: `has no option "${shorten(String(wanted), 40)}"`, remedy: options };
}

agent.select = ({ key, choices }) => {
  const element = byRef({ key });
  const chosen = choose(element, choices);
  if (chosen.unmet) failUnmet({ element, ...chosen.unmet }, { request: { timeout: 0 } });
  return chosen;
};

/** Whether exactly these options are selected. */
agent.areSelected = ({ key, choices }) => {
  const select = byRef({ key });
  const wanted = new Set(choices.map((choice) => findOption(select, choice)));
  const chosen = Array.from(select.selectedOptions);
  return chosen.length === wanted.size && chosen.every((option) => wanted.has(option));
};
