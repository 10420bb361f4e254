// Roles of elements: what the author says in the role attribute, else what HTML gives. Knows nothing of names, except
// whether an author gave one, and nothing of what is visible.

/** Roles an author may give. Abstract ones are not among them. */
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

/** Attributes that every element may carry; one of them keeps an element from being presentational. */
const GLOBAL_ATTRIBUTES = [
  "aria-atomic", "aria-braillelabel", "aria-brailleroledescription", "aria-busy", "aria-controls", "aria-current",
  "aria-describedby", "aria-description", "aria-details", "aria-dropeffect", "aria-flowto", "aria-grabbed",
  "aria-keyshortcuts", "aria-label", "aria-labelledby", "aria-live", "aria-owns", "aria-relevant",
  "aria-roledescription",
];

/** Roles of elements that have the same one wherever they are. */
const PLAIN_ROLES = new Map(Object.entries({
  address: "group", article: "article", blockquote: "blockquote", caption: "caption", code: "code", dd: "definition",
  del: "deletion", details: "group", dfn: "term", dialog: "dialog", dt: "term", em: "emphasis", fieldset: "group",
  figure: "figure", form: "form", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading",
  h6: "heading", hgroup: "group", hr: "separator", html: "document", ins: "insertion", main: "main", mark: "mark",
  menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status",
  p: "paragraph", progress: "progressbar", s: "deletion", search: "search", strong: "strong",
  sub: "subscript", summary: "button", sup: "superscript", table: "table", textarea: "textbox", time: "time",
  ul: "list", button: "button", iframe: "iframe", frame: "iframe", video: "video", audio: "audio", canvas: "canvas",
}));

const INPUT_ROLES = {
  button: "button", checkbox: "checkbox", color: "textbox", date: "textbox", "datetime-local": "textbox",
  email: "textbox", file: "button", hidden: "generic", image: "button", month: "textbox", number: "spinbutton",
  password: "textbox", radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  tel: "textbox", text: "textbox", time: "textbox", url: "textbox", week: "textbox",
};

const LISTED_INPUTS = new Set(["text", "search", "email", "tel", "url"]);

/** The element's role; "generic" when it has none, or is there for looks only. */
function roleOf(element) {
  const given = element.getAttribute("role");
  if (given !== null && given !== "") {
    const role = explicitRoleOf(element, given);
    if (role !== "") return role;
  }
  return implicitRoleOf(element);
}

/** The first role of the attribute that counts; "" when none does. */
function explicitRoleOf(element, given) {
  for (const token of given.toLowerCase().split(/\s+/)) {
    if (!ARIA_ROLES.has(token)) continue;
    switch (token) {
      case "none":
      case "presentation":
        if (isPresentationRefused(element)) continue;
        return "generic";
      case "image":
        return "img";
      case "region":
      case "form":
        if (!hasAuthorName(element)) continue;
        return token;
      case "directory":
        return "list";
      default:
        return token;
    }
  }
  return "";
}

/** Whether the author named the element; a title counts. */
function hasAuthorName(element) {
  return (
    hasText(element, "aria-label") || (element.ariaLabelledByElements?.length ?? 0) > 0 || hasText(element, "title")
  );
}

function hasText(element, attribute) {
  const value = element.getAttribute(attribute);
  return value !== null && value.trim() !== "";
}

/** Elements that can have focus, or say something about themselves, cannot be presentational. */
function isPresentationRefused(element) {
  return isFocusable(element) || GLOBAL_ATTRIBUTES.some((name) => element.hasAttribute(name));
}

/** Whether the element can take focus. */
function isFocusable(element) {
  if (element.hasAttribute("tabindex") && Number.isInteger(Number(element.getAttribute("tabindex")))) return true;
  switch (element.localName) {
    case "button":
    case "input":
    case "select":
    case "textarea":
      return !element.disabled && element.type !== "hidden";
    case "a":
    case "area":
      return element.hasAttribute("href");
    case "iframe":
      return true;
    case "summary":
      return element.parentNode?.localName === "details" && summaryOf(element.parentNode) === element;
    case "audio":
    case "video":
      return element.controls;
    default:
      return isEditingHost(element);
  }
}

function isEditingHost(element) {
  const value = element.getAttribute("contenteditable");
  return value !== null && value !== "false";
}

/** The role HTML gives the element. */
function implicitRoleOf(element) {
  if (element.namespaceURI !== HTML_NAMESPACE) return foreignRoleOf(element);
  const name = element.localName;
  const plain = PLAIN_ROLES.get(name);
  switch (name) {
    case "div":
    case "span":
      return "generic";
    case "a":
    case "area":
      return element.hasAttribute("href") ? "link" : "generic";
    case "input":
      return inputRoleOf(element);
    case "select":
      return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "img":
      return imageRoleOf(element);
    case "li":
      return listItemRoleOf(element);
    case "tr":
    case "td":
    case "th":
    case "thead":
    case "tbody":
    case "tfoot":
      return tablePartRoleOf(element, name);
    case "table":
    case "ul":
    case "ol":
    case "menu":
      return plain;
    case "header":
      return isInSection(element) ? "sectionheader" : "banner";
    case "footer":
      return isInSection(element) ? "sectionfooter" : "contentinfo";
    case "section":
      return hasAuthorName(element) ? "region" : "generic";
    case "aside":
      return "complementary";
    case "summary":
      return element.parentNode?.localName === "details" && summaryOf(element.parentNode) === element
        ? plain : "generic";
    default:
      return plain ?? "generic";
  }
}

function inputRoleOf(input) {
  if (input.hasAttribute("list") && LISTED_INPUTS.has(input.type) && input.list !== null) return "combobox";
  return INPUT_ROLES[input.type] ?? "textbox";
}

/** An image without a word about itself is for looks, one with an empty alt as well. */
function imageRoleOf(image) {
  const alt = image.getAttribute("alt");
  if (alt !== null && alt.trim() === "" && !isPresentationRefused(image) && !hasText(image, "title")) return "generic";
  return "img";
}

function foreignRoleOf(element) {
  if (element.namespaceURI === SVG_NAMESPACE) {
    if (element.localName === "svg") return element.ownerSVGElement === null ? "img" : "generic";
    if (element.localName === "a") return element.hasAttribute("href") || element.hasAttribute("xlink:href") ? "link" : "generic";
    if (element.localName === "image") return "img";
    return "generic";
  }
  return element.localName === "math" ? "math" : "generic";
}

const LISTS = new Set(["ul", "ol", "menu"]);

/** Items of a list that is presentational are so too. */
function listItemRoleOf(item) {
  const list = composedParent(item);
  if (list === null || !LISTS.has(list.localName)) return "generic";
  const role = roleOf(list);
  return role === "list" ? "listitem" : "generic";
}

const SECTIONS = new Set(["article", "aside", "main", "nav", "section"]);
const SECTION_ROLES = new Set(["article", "complementary", "main", "navigation", "region"]);

/** Whether a header or footer belongs to a section rather than to the page. */
function isInSection(element) {
  for (let node = composedParent(element); node !== null; node = composedParent(node)) {
    if (SECTIONS.has(node.localName)) return true;
    const role = node.getAttribute("role");
    if (role !== null && SECTION_ROLES.has(role)) return true;
  }
  return false;
}

function tableOf(part) {
  for (let node = part.parentNode; node !== null; node = node.parentNode) {
    if (node.localName === "table") return node;
  }
  return null;
}

/** Rows and cells follow what their table is: a table, a grid, or for looks. */
function tablePartRoleOf(part, name) {
  const table = tableOf(part);
  if (table === null) return "generic";
  const role = roleOf(table);
  const isGrid = role === "grid" || role === "treegrid";
  if (!isGrid && role !== "table") return "generic";
  switch (name) {
    case "tr":
      return "row";
    case "td":
      return isGrid ? "gridcell" : "cell";
    case "th":
      return headerCellRoleOf(part);
    default:
      return "rowgroup";
  }
}

function headerCellRoleOf(cell) {
  const scope = (cell.getAttribute("scope") ?? "").toLowerCase();
  if (scope === "col" || scope === "colgroup") return "columnheader";
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  const row = cell.parentNode;
  for (const other of row.children) if (other.localName === "td") return "rowheader";
  return "columnheader";
}
