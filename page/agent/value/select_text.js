// Selects text in an element, as a drag of the mouse over it would.

/** Text nodes below an element that are shown, shadow roots included. */
function shownTextNodes(root) {
  const found = [];
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.data !== "" && node.parentElement?.checkVisibility({ visibilityProperty: true }) !== false) found.push(node);
      return;
    }
    for (const child of (shadowRootOf(node) ?? node).childNodes) visit(child);
  };
  visit(root);
  return found;
}

/** Where the text begins and ends in the nodes. Runs of white space count as one space, as they are shown. */
function findInNodes(nodes, text) {
  let shown = "";
  const places = [];
  for (const node of nodes) {
    for (let offset = 0; offset < node.data.length; offset++) {
      const letter = /\s/.test(node.data[offset]) ? " " : node.data[offset];
      if (letter === " " && shown.endsWith(" ")) continue;
      shown += letter;
      places.push({ node, offset });
    }
  }
  const wanted = text.replace(/\s+/g, " ").trim();
  const at = shown.indexOf(wanted);
  if (at < 0 || wanted === "") return null;
  return { from: places[at], to: places[at + wanted.length - 1] };
}

function selectInField(element, text) {
  const start = text === null ? 0 : element.value.indexOf(text);
  if (start < 0) return null;
  element.focus({ preventScroll: true });
  element.setSelectionRange(start, text === null ? element.value.length : start + text.length);
  const box = element.getBoundingClientRect();
  return { text: element.value.slice(element.selectionStart, element.selectionEnd), end: { x: box.right - 2, y: box.top + box.height / 2 } };
}

function selectInContent(element, text) {
  const nodes = shownTextNodes(element);
  if (nodes.length === 0) return null;
  const last = nodes.at(-1);
  const whole = { from: { node: nodes[0], offset: 0 }, to: { node: last, offset: last.data.length - 1 } };
  const found = text === null ? whole : findInNodes(nodes, text);
  if (found === null) return null;
  const range = element.ownerDocument.createRange();
  range.setStart(found.from.node, found.from.offset);
  range.setEnd(found.to.node, found.to.offset + 1);
  const selection = element.ownerDocument.defaultView.getSelection();
  selection.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  const boxes = range.getClientRects();
  const box = boxes.length > 0 ? boxes[boxes.length - 1] : range.getBoundingClientRect();
  return { text: range.toString(), end: { x: Math.max(box.left, box.right - 1), y: box.top + box.height / 2 } };
}

/** Selects the text, or all of the element's text, and returns it with the end of the selection, from the element's top left. */
agent.selectText = ({ key, text = null }) => {
  const element = byRef({ key });
  if (text !== null && isSecret(element)) {
    fail("BAD_ARGS", `The text of ${phrase(element)} is secret and cannot be searched.`, "Leave the text out to select everything.");
  }
  const isField = isTextField(element) && typeof element.setSelectionRange === "function" && element.selectionStart !== null;
  const found = isField ? selectInField(element, text) : selectInContent(element, text);
  if (found === null) {
    const what = text === null ? "no text" : `no text "${shorten(text)}"`;
    fail("SELECTOR_NOT_FOUND", `${phrase(element)} has ${what}.`, "Give text as the element shows it, or leave it out to select everything.");
  }
  const box = element.getBoundingClientRect();
  return { text: isSecret(element) ? MASK : found.text, end: { x: found.end.x - box.left, y: found.end.y - box.top } };
};
