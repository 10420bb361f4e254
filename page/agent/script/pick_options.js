// Selects options of a drop-down for a script: by value, label, index or element.

function fitsOption(option, at, one) {
  const plain = (text) => plainMatchText(text).plain;
  if (one.key !== undefined) return elementsByKey.get(one.key)?.deref() === option;
  if (one.either !== undefined) return option.value === one.either || plain(option.label) === plain(one.either);
  return (one.value === undefined || one.value === option.value) && (one.label === undefined || plain(one.label) === plain(option.label)) && (one.index === undefined || one.index === at);
}

/** Selects the wanted options. Returns `{values}`, `{problem}`, or neither when some options are not there or enabled yet. */
agent.pickOptions = ({ key, wanted }) => {
  const select = retargeted(byRef({ key }));
  if (select.localName !== "select") return { problem: "Element is not a <select> element" };
  const left = [...wanted];
  const chosen = [];
  for (const [at, option] of Array.from(select.options).entries()) {
    const place = left.findIndex((one) => fitsOption(option, at, one));
    if (place < 0) continue;
    if (isDisabled(option) || option.closest("optgroup")?.disabled === true) return { isDisabled: true };
    chosen.push(option);
    if (!select.multiple) {
      left.length = 0;
      break;
    }
    left.splice(place, 1);
  }
  if (left.length > 0) return {};
  select.value = undefined;
  for (const option of chosen) option.selected = true;
  select.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  select.dispatchEvent(new Event("change", { bubbles: true }));
  return { values: chosen.map((option) => option.value) };
};
