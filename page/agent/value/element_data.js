// Attributes, properties, value and styles of an element.

/** Most entries of a list or object. */
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 100_000;

const READERS = {
  attribute(element, names, reveal) {
    return collected(names, (name) => (isSecretData(element, name, reveal) ? MASK : element.getAttribute(name)));
  },
  property(element, names, reveal) {
    return collected(names, (name) => (isSecretData(element, name, reveal) ? MASK : plainValue(element[name])));
  },
  value(element, names, reveal) {
    const value = heldText(element);
    if (value === null && isCheckable(element)) return checkedOf(element, roleOf(element)) ?? false;
    if (value === null) fail("BAD_ARGS", `${phrase(element)} has no value.`, remedy("Target a field, or read the text with {}.", { action: "get_text" }), { element: describeElement(element) });
    return isSecret(element) && value !== "" && !reveal ? MASK : value;
  },
  styles(element, names) {
    const style = getComputedStyle(element);
    return collected(names.length > 0 ? names : DEFAULT_STYLES, (name) => style.getPropertyValue(name));
  },
};

const DEFAULT_STYLES = [
  "display", "visibility", "position", "z-index", "opacity", "overflow", "cursor", "pointer-events", "color",
  "background-color", "font-family", "font-size", "font-weight", "line-height", "text-align", "margin", "padding", "border",
];

/** Whether the attribute or property would reveal a secret field. */
function isSecretData(element, name, reveal) {
  return !reveal && isSecret(element) && /value/i.test(name) && element.value !== "";
}

function collected(names, read) {
  const facts = {};
  for (const name of names) facts[name] = read(name) ?? null;
  return facts;
}

/** A property as plain data: elements as phrases, lists and objects one level deep. */
function plainValue(value, depth = 0) {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value !== "object") return `(${typeof value})`;
  if (value instanceof Element) return phrase(value);
  if (value instanceof Node || value === globalThis || depth > 1) return String(value);
  if (typeof value[Symbol.iterator] === "function") return Array.from(value).slice(0, MAX_ENTRIES).map((one) => plainValue(one, depth + 1));
  const plain = {};
  let left = MAX_ENTRIES;
  for (const name in value) {
    if (left-- === 0) break;
    if (typeof value[name] !== "function") plain[name] = plainValue(value[name], depth + 1);
  }
  return plain;
}

agent.elementData = ({ key, document: name, what, names = [], reveal = false }) => {
  const element = byRef({ key, document: name });
  return { fact: READERS[what](element, names, reveal) };
};

/** The element itself. Rust resolves it in the page's main world. */
agent.element = (wanted) => byRef(wanted);
