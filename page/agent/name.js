// Accessible names and descriptions, by the accname algorithm as Chrome runs it. Knows nothing of snapshots or
// locators.
//
// A name is gathered as raw text with line breaks of blocks as spaces, and its whitespace is folded once at the end.

/** Roles whose name may come from what is inside. */
const NAMED_BY_CONTENT = new Set(
  ("button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row " +
    "rowheader switch tab term tooltip treeitem " +
    "doc-backlink doc-biblioref doc-glossref doc-noteref").split(" "),
);

let labelsByControl = null;

/** Forgets what was remembered for the pass. */
function forgetNames() {
  labelsByControl = null;
}

/** Where in the algorithm a piece of text is gathered. */
class NameWalk {
  constructor() {
    this.visited = new Set();
    /** Inside aria-labelledby or aria-describedby: such references are not followed again. */
    this.referenced = false;
    /** Inside something hidden that was referred to directly: hidden things count. */
    this.hidden = false;
    /** Inside the content of something else. */
    this.inside = false;
  }
}

/** The element's accessible name; "" when it has none. */
function nameOf(element) {
  return foldSpace(alternativeOf(element, new NameWalk(), roleOf(element)));
}

function foldSpace(text) {
  return text.replace(/[\t\n\f\r \u200b]+/g, " ").trim();
}

/** The element's text alternative, whitespace as it comes. */
function alternativeOf(element, walk, role) {
  if (walk.visited.has(element)) return "";
  walk.visited.add(element);
  if (!walk.referenced && element.hasAttribute("aria-labelledby")) {
    const text = referencedText(element.ariaLabelledByElements, walk);
    if (text !== "") return text;
  }
  if (walk.inside) {
    const value = embeddedValueOf(element, role);
    if (value !== null) return value;
  }
  const label = element.getAttribute("aria-label");
  if (label !== null && label.trim() !== "") return label;
  const native = nativeNameOf(element, walk, role);
  if (native !== "") return native;
  if (walk.inside || NAMED_BY_CONTENT.has(role)) {
    const text = contentOf(element, walk);
    if (text.trim() !== "") return text;
  }
  return tooltipOf(element);
}

function tooltipOf(element) {
  const title = element.getAttribute("title");
  if (title !== null && title.trim() !== "") return title;
  return "";
}

/** The texts of elements that a reference names, joined by spaces. */
function referencedText(elements, walk) {
  const parts = [];
  for (const element of elements ?? []) {
    const inner = new NameWalk();
    inner.visited = new Set(walk.visited);
    inner.visited.delete(element);
    inner.referenced = true;
    inner.inside = true;
    inner.hidden = !isExposed(element);
    const text = foldSpace(alternativeOf(element, inner, roleOf(element)));
    if (text !== "") parts.push(text);
  }
  return parts.join(" ");
}

/** The value of a control that stands inside a label or another name; null for anything else. */
function embeddedValueOf(element, role) {
  switch (role) {
    case "textbox":
    case "searchbox":
      return isHtml(element) && "value" in element ? element.value : null;
    case "combobox":
    case "listbox":
      if (element.localName === "select") return chosenTextOf(element);
      if (element.localName === "input") return element.value;
      return null;
    case "slider":
    case "spinbutton":
    case "progressbar":
    case "meter":
      return element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow") ?? element.value ?? null;
    default:
      return null;
  }
}

function chosenTextOf(select) {
  return Array.from(select.selectedOptions, (option) => option.label).join(" ");
}

/** The name HTML gives the element by its own means: labels, alt, legend, caption, value. */
function nativeNameOf(element, walk, role) {
  if (element.namespaceURI !== HTML_NAMESPACE) return foreignNameOf(element);
  switch (element.localName) {
    case "input":
      return inputNameOf(element, walk);
    case "button":
    case "meter":
    case "output":
    case "progress":
      return labelTextOf(element, walk);
    case "select":
      return labelTextOf(element, walk);
    case "textarea":
      return labelTextOf(element, walk) || tooltipOf(element) || (element.getAttribute("placeholder") ?? "");
    case "img":
    case "area":
      return element.getAttribute("alt") ?? "";
    case "fieldset":
      return childText(element, "legend", walk);
    case "table":
      return childText(element, "caption", walk);
    case "figure":
      return "";
    case "optgroup":
      return element.label;
    case "option":
      return element.getAttribute("label") ?? "";
    case "html":
      return element.ownerDocument.title;
    default:
      return element.localName.includes("-") ? labelTextOf(element, walk) : "";
  }
}

function foreignNameOf(element) {
  if (element.namespaceURI !== SVG_NAMESPACE) return "";
  for (const child of element.children) if (child.localName === "title") return child.textContent;
  return "";
}

function inputNameOf(input, walk) {
  const label = labelTextOf(input, walk);
  if (label !== "") return label;
  switch (input.type) {
    case "submit":
      return input.getAttribute("value") ?? (tooltipOf(input) || "Submit");
    case "reset":
      return input.getAttribute("value") ?? (tooltipOf(input) || "Reset");
    case "button":
      return input.getAttribute("value") ?? "";
    case "image":
      return input.getAttribute("alt") ?? input.getAttribute("value") ?? (tooltipOf(input) || "Submit");
    case "file":
      return tooltipOf(input) || (input.multiple ? "Choose Files" : "Choose File");
    default:
      return tooltipOf(input) || (input.getAttribute("placeholder") ?? input.getAttribute("aria-placeholder") ?? "");
  }
}

/** The text of all labels of a control. */
function labelTextOf(control, walk) {
  const parts = [];
  for (const label of control.labels ?? []) {
    if (walk.visited.has(label)) continue;
    const inner = new NameWalk();
    inner.visited = walk.visited;
    inner.referenced = true;
    inner.inside = true;
    inner.hidden = false;
    const text = foldSpace(alternativeOf(label, inner, roleOf(label)));
    if (text !== "") parts.push(text);
  }
  return parts.join(" ");
}

function childText(element, name, walk) {
  for (const child of element.children) {
    if (child.localName !== name) continue;
    const inner = new NameWalk();
    inner.visited = walk.visited;
    inner.referenced = true;
    inner.inside = true;
    return alternativeOf(child, inner, "generic");
  }
  return "";
}

/** The text of what is inside the element, with spaces where blocks meet. */
function contentOf(element, walk) {
  const inner = new NameWalk();
  inner.visited = walk.visited;
  inner.referenced = walk.referenced;
  inner.hidden = walk.hidden;
  inner.inside = true;
  let text = pseudoText(element, "::before");
  if (element.localName === "details" && !element.open && !walk.hidden) {
    const summary = summaryOf(element);
    return text + (summary === null ? "" : pieceOf(summary, inner));
  }
  for (const child of composedChildren(element)) {
    if (child.nodeType === Node.TEXT_NODE) {
      text += shownText(child.data, element);
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      text += pieceOf(child, inner);
    }
  }
  return text + pseudoText(element, "::after");
}

/** Text as it is shown: CSS may change its case. */
function shownText(data, element) {
  if (!/\S/.test(data)) return " ";
  switch (styleOf(element).textTransform) {
    case "uppercase":
      return data.toUpperCase();
    case "lowercase":
      return data.toLowerCase();
    case "capitalize":
      return data.replace(/(^|[\s"'(\[{-])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase());
    default:
      return data;
  }
}

function pieceOf(element, walk) {
  if (element.localName === "br") return " ";
  const exposure = walk.hidden ? SHOWS_SELF | SHOWS_CHILDREN : exposureOf(element);
  if (exposure === 0) return "";
  if (exposure === SHOWS_CHILDREN) {
    let text = "";
    for (const child of composedChildren(element)) {
      if (child.nodeType === Node.ELEMENT_NODE) text += pieceOf(child, walk);
    }
    return text;
  }
  const text = alternativeOf(element, walk, roleOf(element));
  const display = styleOf(element).display;
  return display === "inline" || display === "contents" ? text : ` ${text} `;
}

/** The text CSS puts before or after the element; its alternative text if it has one. */
function pseudoText(element, which) {
  const content = getComputedStyle(element, which).content;
  if (content === "none" || content === "normal" || content === "") return "";
  const slash = content.lastIndexOf(' / "');
  const source = slash >= 0 ? content.slice(slash + 3) : content;
  let text = "";
  for (const [, quoted] of source.matchAll(/"((?:[^"\\]|\\.)*)"/g)) text += quoted.replace(/\\(.)/g, "$1");
  return text;
}

/** The element's accessible description; "" when it has none. */
function descriptionOf(element) {
  if (element.hasAttribute("aria-describedby")) {
    const text = referencedText(element.ariaDescribedByElements, new NameWalk());
    if (text !== "") return foldSpace(text);
  }
  const description = element.getAttribute("aria-description");
  if (description !== null && description.trim() !== "") return foldSpace(description);
  const title = element.getAttribute("title");
  if (title !== null && title.trim() !== "" && nameOf(element) !== foldSpace(title)) return foldSpace(title);
  return "";
}
