// What a person sees of an interactive element without a name: its tooltip, its icon, else its colour. Computed only for
// such elements.

/** Attributes with a text that the page shows for the element. */
const TOOLTIP_ATTRIBUTES = [
  "title", "aria-label", "alt", "data-tooltip", "data-title", "data-tip", "data-original-title", "data-bs-original-title",
  "aria-description",
];
/** Attributes that name an icon. */
const ICON_ATTRIBUTES = ["data-icon", "data-lucide", "data-feather", "icon", "data-action"];
/** Classes of icon sets, with the icon after the prefix. */
const ICON_CLASS = /^(?:fa[bdlrs]?|bi|mdi|glyphicon|icons?|ico|octicon|lucide|ti|ri|ph|pi|ui-icon|codicon|feather|icofont|la|uil|bxs?|anticon|el-icon)-+(.+)$/;
/** Classes of icon sets that say how an icon looks. */
const ICON_STYLE = /^(?:\d?x?[smlx]*|\d+x|fw|lg|sm|xs|spin|pulse|solid|regular|light|thin|brands|duotone|border|inverse|stack|icon|btn|button|wrapper|container)$/;
/** Words of classes and ids that say what a control does. */
const ACTION_WORDS = new Set(
  ("add archive attach back bold bookmark calendar cancel cart check clear clock close collapse copy cut date decrease " +
    "delete dislike dismiss down download edit expand favorite favourite filter first flag forward fullscreen gear heart " +
    "help home important increase info italic last left like link list lock login logout mail menu microphone minus mute " +
    "next open paste pause pencil photo pin play plus prev previous print profile redo refresh reload remove reply " +
    "resize restore retweet right save search send settings share sort spam star stop submit thumbs toggle trash " +
    "underline undo unlock up upload user view volume zoom").split(" "),
);
/** Most descendants that are searched for an icon. */
const SEARCHED_ICONS = 16;

/** Names a node by a tooltip, or adds the state `icon` or `color`. */
function describeLooks(node) {
  const element = elementOf(node.key);
  if (element === null || node.extra?.concealed !== undefined || holdsValue(element, node.role)) return;
  const parts = [element, ...iconsIn(element)];
  node.name = lineOf(firstOf(parts, tooltipOf), 80);
  if (node.name !== "") return;
  const icon = lineOf(firstOf(parts, iconOf) || firstOf(parts, actionWordsOf), 40);
  if (icon !== "") addState(node, "icon", icon);
  const colour = icon === "" ? firstOf(parts, colourOf) : "";
  if (colour !== "") addState(node, "color", colour);
}

/** Whether the element is a field, which its value and type describe. */
function holdsValue(element, role) {
  return element.localName === "input" || CONTROLS_WITH_VALUE.has(role);
}

const CONTROLS_WITH_VALUE = new Set("checkbox combobox listbox radio scrollbar searchbox slider spinbutton switch textbox".split(" "));

/** The first elements inside that are visible. */
function iconsIn(element) {
  const found = [];
  const inside = element.getElementsByTagName("*");
  for (let at = 0; at < inside.length && at < SEARCHED_ICONS; at++) {
    const isDrawn = inside[at].localName !== "title" && inside[at].localName !== "desc";
    if (isDrawn && inside[at].checkVisibility({ opacityProperty: true, visibilityProperty: true })) found.push(inside[at]);
  }
  return found;
}

function firstOf(elements, textOf) {
  for (const element of elements) {
    const text = textOf(element);
    if (text !== "") return text;
  }
  return "";
}

function tooltipOf(element) {
  for (const attribute of TOOLTIP_ATTRIBUTES) if (hasText(element, attribute)) return element.getAttribute(attribute);
  return foldSpace(svgTextOf(element, "title"));
}

/** The words of the element's icon: from its attributes, its classes or the name of its file. */
function iconOf(element) {
  for (const attribute of ICON_ATTRIBUTES) if (hasText(element, attribute)) return wordsOf(element.getAttribute(attribute));
  for (const name of element.classList) {
    const icon = ICON_CLASS.exec(name)?.[1] ?? "";
    if (icon !== "" && !ICON_STYLE.test(icon)) return wordsOf(icon);
  }
  if (element.localName === "use") return fileWordsOf(`#${(element.getAttribute("href") ?? element.getAttribute("xlink:href") ?? "").split("#")[1] ?? ""}`);
  if (element.localName === "img") return fileWordsOf(element.getAttribute("src") ?? "");
  return fileWordsOf(/^url\("(.*)"\)$/.exec(styleOf(element).backgroundImage)?.[1] ?? "");
}

/** The words of a file name; "" for data, and for names that a program made. */
function fileWordsOf(url) {
  if (/^(data|blob):/.test(url)) return "";
  const file = url.split(/[?]/)[0].split(/[/#]/).pop().replace(/\.\w+$/, "");
  return /\d{3}|^.{33}|^.?$/.test(file) ? "" : wordsOf(file);
}

/** An identifier as words, without words that every icon has. */
function wordsOf(identifier) {
  const words = identifier.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "" && !ICON_STYLE.test(word)).slice(0, 4).join(" ");
}

/** The words of a class or id that say what the element does. */
function actionWordsOf(element) {
  for (const identifier of [...element.classList, element.id]) {
    const words = wordsOf(identifier).split(" ").filter((word) => ACTION_WORDS.has(word));
    if (words.length > 0) return words.join(" ");
  }
  return "";
}

/** The colour of the element where it differs from what is behind it, as a word. */
function colourOf(element) {
  const box = element.getBoundingClientRect();
  if (box.width < 2 || box.height < 2) return "";
  const style = styleOf(element);
  const colour = SVG_SHAPES.has(element.localName) && style.fill !== "none" ? style.fill : style.backgroundColor;
  const parent = composedParent(element);
  const behind = colourPartsOf(parent === null ? "rgb(255, 255, 255)" : backgroundOf(parent));
  const parts = isTransparent(colour) ? null : colourPartsOf(colour);
  if (parts === null || (behind !== null && colourDistance(parts, behind) < MIN_COLOUR_DISTANCE)) return "";
  return COLOUR_WORDS.reduce((best, word) => (colourDistance(word[1], parts) < colourDistance(best[1], parts) ? word : best))[0];
}

/** A smaller distance does not tell an element from its background, for instance that of a plain button. */
const MIN_COLOUR_DISTANCE = 60 ** 2;

const COLOUR_WORDS = Object.entries({
  black: [0, 0, 0], white: [255, 255, 255], gray: [128, 128, 128], red: [255, 0, 0], maroon: [128, 0, 0], orange: [255, 165, 0],
  yellow: [255, 255, 0], olive: [128, 128, 0], lime: [0, 255, 0], green: [0, 128, 0], teal: [0, 128, 128], cyan: [0, 255, 255],
  blue: [0, 0, 255], navy: [0, 0, 128], purple: [128, 0, 128], magenta: [255, 0, 255], pink: [255, 192, 203], brown: [165, 42, 42],
});

function colourPartsOf(colour) {
  return colour.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)/)?.slice(1).map(Number) ?? null;
}

function colourDistance(one, other) {
  return one.reduce((sum, part, at) => sum + (part - other[at]) ** 2, 0);
}
