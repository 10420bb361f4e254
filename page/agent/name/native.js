// Names and descriptions from HTML and SVG markup: labels, alt, legends, captions, values.

let labelsInPass = null;

function cacheNames() {
  labelsInPass = new Map();
}

function forgetNames() {
  labelsInPass = null;
  forgetTreeFacts();
  forgetGeneratedText();
}

const NO_LABELS = [];

/**
 * The labels of a control.
 *
 * `control.labels` searches the whole document each time. During a pass, all labels of a tree are collected once
 * instead.
 */
function labelsFor(control) {
  return labelsIn(control.getRootNode()).get(control) ?? NO_LABELS;
}

/** All labels of a tree, by their control. */
function labelsIn(root) {
  let labels = labelsInPass.get(root);
  if (labels === undefined) {
    labels = new Map();
    labelsInPass.set(root, labels);
    for (const label of root.querySelectorAll("label")) {
      const labelled = label.control;
      if (labelled) labels.set(labelled, [...(labels.get(labelled) ?? []), label]);
    }
  }
  return labels;
}

/** The text of all visible labels of a control. */
function labelTextOf(control, walk) {
  let text = "";
  for (const label of labelsFor(control)) {
    const part = textOfVisible(label, walk);
    if (part !== "") text += text === "" ? part : ` ${part}`;
  }
  walk.from = FROM_REFERENCE;
  return text;
}

/** The text of an element that names another, if it is visible. */
function textOfVisible(element, walk) {
  if (walk.visited.has(element) || element.getAttribute("aria-hidden") === "true") return "";
  const style = styleOf(element);
  if (style.visibility !== "visible") return "";
  if (style.display !== "contents" && !element.checkVisibility()) return "";
  const text = alternativeOf(element, new NameWalk(walk.visited, null), semanticsOf(element), true);
  return isBlank(text) ? "" : text;
}

/** The name from the element's own markup, or "". */
function nativeNameOf(element, walk) {
  if (element.namespaceURI !== HTML_NAMESPACE) return svgTextOf(element, "title");
  switch (element.localName) {
    case "button":
    case "meter":
    case "output":
    case "progress":
    case "select":
      return labelTextOf(element, walk);
    case "input":
      return labelTextOf(element, walk) || inputNameOf(element, walk);
    case "textarea":
      return labelTextOf(element, walk) || placeholderNameOf(element, walk);
    case "img":
    case "area":
      return element.getAttribute("alt") ?? "";
    case "fieldset":
      return childText(element, "legend", walk);
    case "table":
      return captionTextOf(element, walk) || (element.getAttribute("summary") ?? "");
    case "optgroup":
      return element.label;
    case "option":
      return element.firstElementChild === null || element.hasAttribute("label") ? element.label : "";
    case "html":
      return element.ownerDocument.title;
    default:
      return otherNameOf(element, walk);
  }
}

/** Custom elements can have labels; text fields can have a placeholder. */
function otherNameOf(element, walk) {
  if (element.localName.includes("-")) {
    const label = labelTextOf(element, walk);
    if (label !== "") return label;
  }
  const placeholder = element.getAttribute("aria-placeholder");
  return placeholder !== null && holdsText(element, roleOf(element)) ? placeholder : "";
}

function inputNameOf(input, walk) {
  walk.from = FROM_VALUE;
  switch (input.type) {
    case "submit":
      return input.getAttribute("value") ?? "Submit";
    case "reset":
      return input.getAttribute("value") ?? "Reset";
    case "button":
      return input.getAttribute("value") ?? "";
    case "image":
      return input.getAttribute("alt") ?? input.getAttribute("value") ?? titleOr("Submit", input, walk);
    case "file":
      return input.multiple ? "Choose Files" : "Choose File";
    default:
      return TEXT_INPUTS.has(input.type) ? placeholderNameOf(input, walk) : "";
  }
}

function titleOr(otherwise, input, walk) {
  const title = input.getAttribute("title");
  if (title === null) return otherwise;
  walk.from = FROM_TITLE;
  return title;
}

function placeholderNameOf(field, walk) {
  const title = field.getAttribute("title");
  walk.from = FROM_TITLE;
  if (title !== null && title !== "") return title;
  walk.from = FROM_ATTRIBUTE;
  return field.getAttribute("placeholder") || (field.getAttribute("aria-placeholder") ?? "");
}

function captionTextOf(table, walk) {
  const text = childText(table, "caption", walk);
  walk.from = text === "" ? FROM_ATTRIBUTE : FROM_CAPTION;
  return text;
}

function childText(element, name, walk) {
  for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === name) return textOfVisible(child, walk);
  }
  return "";
}

/** The text of the first SVG child with this tag name. */
function svgTextOf(element, name) {
  if (element.namespaceURI !== SVG_NAMESPACE) return "";
  for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === name) return child.textContent;
  }
  return "";
}

/** Elements with native descriptions other than a title. */
const DESCRIBED_TAGS = new Set(["g", "input", "path", "rect", "circle", "ruby", "summary", "svg", "table"]);

/** The description from the element's own markup; depends on the source of its name. */
function nativeDescriptionOf(element, from) {
  const walk = new NameWalk(new Set(), null);
  switch (element.localName) {
    case "input":
      return from !== FROM_VALUE && ["submit", "reset", "button"].includes(element.type) ? element.value : "";
    case "ruby":
      return element.querySelector("rt")?.textContent ?? "";
    case "summary":
      return from === FROM_CONTENT ? "" : contentOf(element, walk);
    case "table":
      return from === FROM_CAPTION ? "" : childText(element, "caption", walk);
    default:
      return svgTextOf(element, "desc") || (isNamedByAria(element) ? svgTextOf(element, "title") : "");
  }
}

function isNamedByAria(element) {
  return hasText(element, "aria-label") || (element.ariaLabelledByElements?.length ?? 0) > 0;
}
