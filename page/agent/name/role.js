// Roles of elements: the role attribute, else the implicit HTML role.

/** Roles that authors may set. Abstract roles are not valid. */
const ARIA_ROLES = new Set(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "comment complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
    "generic grid gridcell group heading img image insertion link list listbox listitem log main mark marquee math " +
    "menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation " +
    "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox sectionfooter " +
    "sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table " +
    "tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem " +
    "graphics-document graphics-object graphics-symbol " +
    "doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography " +
    "doc-biblioref doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication " +
    "doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword " +
    "doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice doc-pagebreak doc-pagefooter " +
    "doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc"
  ).split(" "),
);

/** Global ARIA attributes. One of them stops an element from being presentational. */
const GLOBAL_ATTRIBUTES = [
  "aria-atomic", "aria-braillelabel", "aria-brailleroledescription", "aria-busy", "aria-controls", "aria-current",
  "aria-describedby", "aria-description", "aria-details", "aria-flowto", "aria-keyshortcuts", "aria-label",
  "aria-labeledby", "aria-labelledby", "aria-live", "aria-owns", "aria-relevant", "aria-roledescription",
];

/** Implicit roles that do not depend on context. */
const PLAIN_ROLES = new Map(Object.entries({
  address: "group", article: "article", audio: "audio", blockquote: "blockquote", button: "button", canvas: "canvas",
  code: "code", dd: "definition", del: "deletion", details: "group", dfn: "term", dialog: "dialog", dir: "list",
  dt: "term", em: "emphasis", fieldset: "group", figure: "figure", form: "form", frame: "iframe", h1: "heading",
  h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", hgroup: "group", hr: "separator",
  html: "document", iframe: "iframe", ins: "insertion", main: "main", mark: "mark", menu: "list", meter: "meter",
  nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", progress: "progressbar",
  s: "deletion", search: "search", strong: "strong", sub: "subscript", sup: "superscript", textarea: "textbox",
  time: "time", ul: "list", video: "video",
}));

const INPUT_ROLES = new Map(Object.entries({
  button: "button", checkbox: "checkbox", file: "button", hidden: "generic", image: "button", number: "spinbutton",
  radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
}));

/** The element's role; "generic" when it has none or is presentational. */
function roleOf(element) {
  const role = semanticsOf(element);
  return role === "none" ? "generic" : role;
}

/** The element's role; "none" when it is presentational, unlike `roleOf`. */
function semanticsOf(element) {
  const given = element.getAttribute("role");
  if (given !== null && given !== "") {
    const role = explicitRoleOf(element, given);
    if (role !== "") return role;
  }
  return implicitRoleOf(element);
}

/** The first valid role of the attribute, or "". */
function explicitRoleOf(element, given) {
  for (const token of given.toLowerCase().split(/\s+/)) {
    if (!ARIA_ROLES.has(token)) continue;
    switch (token) {
      case "none":
      case "presentation":
        if (element.localName !== "iframe" && isPresentationRefused(element)) return "";
        return "none";
      case "image":
        return "img";
      case "directory":
        return "list";
      case "form":
      case "region":
        if (hasAuthorName(element) || element.hasAttribute("aria-roledescription")) return token;
        break;
      case "listitem":
      case "option":
      case "treeitem":
        if (isInContext(element, token)) return token;
        break;
      case "combobox":
        return element.localName === "select" && opensMenu(element) ? "" : token;
      default:
        return token;
    }
  }
  return "";
}

/** The parent that an item role requires; without it the role is invalid. */
const CONTEXTS = { listitem: ["list", "group"], option: ["listbox", "group"], treeitem: ["tree", "group"] };
const LIST_TAGS = new Set(["ul", "ol", "menu"]);
const WRAPPER_TAGS = new Set(["div", "span", "slot"]);

function isInContext(element, item) {
  const owner = ownerOf(element);
  if (owner !== null && CONTEXTS[item].includes(roleOf(owner))) return true;
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    if (item === "listitem" && LIST_TAGS.has(node.localName)) return true;
    const given = node.getAttribute("role");
    const role = given === null ? "" : (given.toLowerCase().split(/\s+/).find((token) => ARIA_ROLES.has(token)) ?? "");
    if (CONTEXTS[item].includes(role)) return true;
    if (role === "none" || role === "presentation" || role === "generic") continue;
    if (role === "treeitem" && item === "treeitem") continue;
    if (role !== "" || !(WRAPPER_TAGS.has(node.localName) || node.localName.includes("-"))) return false;
  }
  return false;
}

let ownersInPass = null;

function cacheRoles() {
  ownersInPass = new Map();
  cacheTables();
}

function forgetRoles() {
  ownersInPass = null;
  forgetTables();
}

/** The element that owns this one by aria-owns, or null. */
function ownerOf(element) {
  if (element.id === "") return null;
  const root = element.getRootNode();
  let owners = ownersInPass?.get(root);
  if (owners === undefined) {
    owners = ownersIn(root);
    ownersInPass?.set(root, owners);
  }
  return owners.get(element) ?? null;
}

/** Owners by owned element in a document or shadow root. The first owner wins; an element cannot own its ancestor. */
function ownersIn(root) {
  const owners = new Map();
  for (const owner of root.querySelectorAll?.("[aria-owns]") ?? []) {
    for (const owned of ownedBy(owner)) {
      if (!owners.has(owned) && !isBelow(owner, owned, owners)) owners.set(owned, owner);
    }
  }
  return owners;
}

/** Whether `element` is `other` or a descendant, given the owners so far. Prevents cycles. */
function isBelow(element, other, owners) {
  for (let node = element; node !== null; node = owners.get(node) ?? composedParent(node)) if (node === other) return true;
  return false;
}

/** The elements that this one owns by aria-owns. */
function ownedBy(owner) {
  if (owner.ariaOwnsElements != null) return owner.ariaOwnsElements;
  return elementsOfIds(owner, "aria-owns");
}

/** The elements whose ids the attribute lists. */
function elementsOfIds(element, attribute) {
  const root = element.getRootNode();
  const ids = (element.getAttribute(attribute) ?? "").split(/\s+/);
  return ids.map((id) => root.getElementById?.(id) ?? null).filter((found) => found !== null);
}

/** Whether the author named the element; a title counts. */
function hasAuthorName(element) {
  return hasText(element, "aria-label") || hasText(element, "title") || (element.ariaLabelledByElements?.length ?? 0) > 0;
}

function hasText(element, attribute) {
  const value = element.getAttribute(attribute);
  return value !== null && !isBlank(value);
}

/** Whether the text is only HTML whitespace. */
function isBlank(text) {
  return !/[^\t\n\f\r ]/.test(text);
}

/** Focusable elements, and elements with global ARIA attributes, cannot be presentational. */
function isPresentationRefused(element) {
  return isFocusable(element) || GLOBAL_ATTRIBUTES.some((name) => element.hasAttribute(name));
}

/** Whether the element is focusable on its own. */
function isFocusable(element) {
  const index = element.getAttribute("tabindex");
  if (index !== null && /^\s*[+-]?\d/.test(index)) return true;
  switch (element.localName) {
    case "button":
    case "input":
    case "select":
    case "textarea":
      return !element.matches(":disabled") && element.type !== "hidden";
    case "a":
    case "area":
      return element.hasAttribute("href") || element.hasAttribute("xlink:href");
    case "iframe":
      return true;
    case "summary":
      return isSummary(element);
    case "audio":
    case "video":
      return element.controls;
    default:
      return isEditingHost(element);
  }
}

/** Whether the element itself sets contenteditable. */
function isEditingHost(element) {
  const value = element.getAttribute("contenteditable");
  return value !== null && value !== "false" && value !== "inherit";
}

function isSummary(element) {
  return element.localName === "summary" && composedParent(element)?.localName === "details";
}

/** Whether the markup declares a click handler. */
function hasClickHandler(element) {
  return element.hasAttribute("onclick") || element.hasAttribute("onmousedown") || element.hasAttribute("onmouseup");
}

/** The implicit role of an HTML element. */
function implicitRoleOf(element) {
  if (element.namespaceURI !== HTML_NAMESPACE) return foreignRoleOf(element);
  const name = element.localName;
  switch (name) {
    case "a":
    case "area":
      return element.hasAttribute("href") || hasClickHandler(element) ? "link" : minimalRoleOf(element);
    case "input":
      return inputRoleOf(element);
    case "select":
      return opensMenu(element) ? "combobox" : "listbox";
    case "img":
      return imageRoleOf(element);
    case "li":
      return listItemRoleOf(element);
    case "p":
      return hasContent(element) ? "paragraph" : "generic";
    case "caption":
      return hasContent(element) ? "caption" : "generic";
    case "table":
    case "tr":
    case "td":
    case "th":
    case "thead":
    case "tbody":
    case "tfoot":
      return tableRoleOf(element, name);
    case "aside":
      return hasAuthorName(element) || !isInSection(element, false) ? "complementary" : "generic";
    case "header":
      return isInSection(element, true) ? "sectionheader" : "banner";
    case "footer":
      return isInSection(element, true) ? "sectionfooter" : "contentinfo";
    case "section":
      return hasAuthorName(element) ? "region" : "generic";
    case "summary":
      return isSummary(element) ? "button" : "generic";
    default:
      return PLAIN_ROLES.get(name) ?? minimalRoleOf(element);
  }
}

/** The role of an element without semantics: a group for popovers and draggable elements. */
function minimalRoleOf(element) {
  if (!element.hasAttributes()) return "generic";
  if (element.getAttribute("role")) return "generic";
  if (element.hasAttribute("popover")) return "group";
  const isMoved = element.hasAttribute("draggable") || element.hasAttribute("autofocus");
  return isMoved && element.localName === "div" ? "group" : "generic";
}

function hasContent(element) {
  return element.firstElementChild !== null || !isBlank(element.textContent);
}

/** The types of inputs that suggest values of a `datalist` as text. */
const LISTED_TYPES = new Set(["date", "datetime-local", "email", "month", "number", "search", "tel", "text", "time", "url", "week"]);

function inputRoleOf(input) {
  const type = input.type;
  // Firefox gives every type a list.
  if (LISTED_TYPES.has(type) && input.hasAttribute("list") && input.list) return "combobox";
  return INPUT_ROLES.get(type) ?? "textbox";
}

/** An image with an empty alt is presentational, unless it has other semantics. */
function imageRoleOf(image) {
  if (image.getAttribute("alt") !== "") return "img";
  const speaks = isPresentationRefused(image) || hasClickHandler(image) || image.hasAttribute("title");
  return speaks ? "img" : "none";
}

/** Items of a list with another role have no role of their own. */
function listItemRoleOf(item) {
  const list = composedParent(item);
  if (list === null || !LIST_TAGS.has(list.localName)) return "listitem";
  const given = list.getAttribute("role");
  return given === null || given === "" || given === "list" || given === "directory" ? "listitem" : "none";
}

const SECTION_ROLES = new Set(["article", "complementary", "navigation"]);

/** Whether a header, footer or aside belongs to a section instead of the page. */
function isInSection(element, orMain) {
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    const name = node.localName;
    if (name === "section" && !node.getAttribute("role")) return true;
    if (!node.hasAttribute("role") && name !== "article" && name !== "aside" && name !== "nav" && name !== "main") continue;
    const role = semanticsOf(node);
    if (SECTION_ROLES.has(role) || (orMain && role === "main")) return true;
  }
  return false;
}

const SVG_SHAPES = new Set(["circle", "ellipse", "line", "path", "polygon", "polyline", "rect"]);

function foreignRoleOf(element) {
  const name = element.localName;
  if (element.namespaceURI !== SVG_NAMESPACE) return name === "math" ? "math" : "generic";
  if (name === "a") return element.hasAttribute("href") || element.hasAttribute("xlink:href") ? "link" : "generic";
  if (!hasSemantics(element)) return name === "svg" && isOutermost(element) && element.firstElementChild ? "img" : "generic";
  if (name === "svg") return isOutermost(element) ? "img" : "group";
  if (name === "image") return "img";
  if (name === "g") return "group";
  if (name === "use") return "graphics-object";
  return SVG_SHAPES.has(name) ? "graphics-symbol" : "generic";
}

function isOutermost(svg) {
  return svg.ownerSVGElement === null;
}

/** Whether an SVG element is named, described or interactive. */
function hasSemantics(element) {
  for (let child = element.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.localName === "title" || child.localName === "desc") return true;
  }
  return element.hasAttribute("title") || isPresentationRefused(element) || hasClickHandler(element);
}
