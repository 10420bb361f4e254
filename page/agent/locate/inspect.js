// Describes the element at a point of the page. Of a cross-origin frame it sees only the frame element.

const MAX_ANCESTORS = 6;

/** A short selector that is unique in the element's tree. */
function selectorFor(element) {
  const steps = [];
  for (let node = element; node !== null && node.nodeType === Node.ELEMENT_NODE && steps.length < 8; node = node.parentElement) {
    if (node.id !== "" && isOnlyMatch(node, `#${CSS.escape(node.id)}`)) {
      steps.unshift(`#${CSS.escape(node.id)}`);
      break;
    }
    steps.unshift(stepFor(node));
    if (isOnlyMatch(element, steps.join(" > "))) break;
  }
  return steps.join(" > ");
}

function isOnlyMatch(element, selector) {
  const found = element.getRootNode().querySelectorAll(selector);
  return found.length === 1 && found[0] === element;
}

function stepFor(element) {
  const name = CSS.escape(element.localName);
  const alike = element.parentElement === null ? [] : Array.from(element.parentElement.children).filter((one) => one.localName === element.localName);
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

function inspectElement(element) {
  const style = getComputedStyle(element);
  const ancestors = [];
  for (let node = composedParent(element); node !== null && ancestors.length < MAX_ANCESTORS; node = composedParent(node)) {
    if (node.localName !== "slot") ancestors.push({ ...describeElement(node), selector: selectorFor(node) });
  }
  const disabled = disabledReason(element);
  return {
    ...describeElement(element),
    document: documentName,
    selector: selectorFor(element),
    box: outwardBox(outerBox(element), element.ownerDocument),
    states: disabled === null ? [] : [disabled],
    acted: controlAround(element),
    styles: unusualStyles(style),
    ancestors,
  };
}

/** The control that a click on the element would activate, such as the button around an icon. */
function controlAround(element) {
  const control = interactiveAround(element);
  return control === null || control === element ? null : describeElement(control);
}

/** Styles that differ from their usual value. */
function unusualStyles(style) {
  const usual = { position: "static", "z-index": "auto", opacity: "1", cursor: "auto", "pointer-events": "auto", overflow: "visible", visibility: "visible", transform: "none" };
  const noted = { display: style.display, color: style.color, "background-color": style.backgroundColor, font: `${style.fontSize} ${style.fontFamily}` };
  for (const [name, value] of Object.entries(usual)) {
    const own = style.getPropertyValue(name);
    if (own !== value) noted[name] = own;
  }
  return noted;
}

/** The element at a point of this document's viewport; `{frame}` when a cross-origin frame covers the point. */
agent.inspect = ({ x, y }) => {
  const element = hitAt(x, y);
  if (element === null) return null;
  const frame = frameNames.get(element);
  if (frame !== undefined) {
    const place = frameInView(element);
    return { frame, x: (x - place.x) / place.scaleX, y: (y - place.y) / place.scaleY, box: place };
  }
  return inspectElement(element);
};
