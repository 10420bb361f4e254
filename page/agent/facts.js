// Single facts about an element: an attribute, a property, its value, its styles. Knows nothing of waiting.

/** Entries of a property that is a list or an object. */
const FACT_ENTRIES = 100;
const FACT_CHARACTERS = 100_000;

const FACTS = {
  attribute(element, names, reveal) {
    return collected(names, (name) => (isHiddenFact(element, name, reveal) ? MASK : element.getAttribute(name)));
  },
  property(element, names, reveal) {
    return collected(names, (name) => (isHiddenFact(element, name, reveal) ? MASK : plainValue(element[name])));
  },
  value(element, names, reveal) {
    const value = heldText(element);
    if (value === null && isCheckable(element)) return checkedOf(element, roleOf(element)) ?? false;
    if (value === null) fail("BAD_ARGS", `${phrase(element)} holds no value.`, "Name a field, or read its text with `get-text`.", { element: describeElement(element) });
    return isSecret(element) && value !== "" && !reveal ? MASK : value;
  },
  styles(element, names) {
    const style = getComputedStyle(element);
    return collected(names.length > 0 ? names : STYLES_OF_NOTE, (name) => style.getPropertyValue(name));
  },
};

const STYLES_OF_NOTE = [
  "display", "visibility", "position", "z-index", "opacity", "overflow", "cursor", "pointer-events", "color",
  "background-color", "font-family", "font-size", "font-weight", "line-height", "text-align", "margin", "padding", "border",
];

/** Whether a fact would tell what stands in a field for secrets. */
function isHiddenFact(element, name, reveal) {
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
  if (typeof value === "string") return value.length > FACT_CHARACTERS ? `${value.slice(0, FACT_CHARACTERS)}…` : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean") return value;
  if (typeof value !== "object") return `(${typeof value})`;
  if (value instanceof Element) return phrase(value);
  if (value instanceof Node || value === globalThis || depth > 1) return String(value);
  if (typeof value[Symbol.iterator] === "function") return Array.from(value).slice(0, FACT_ENTRIES).map((one) => plainValue(one, depth + 1));
  const plain = {};
  let left = FACT_ENTRIES;
  for (const name in value) {
    if (left-- === 0) break;
    if (typeof value[name] !== "function") plain[name] = plainValue(value[name], depth + 1);
  }
  return plain;
}

/** One kind of fact about an element. */
agent.fact = ({ key, document: name, what, names = [], reveal = false }) => {
  const element = byRef({ key, document: name });
  return { fact: FACTS[what](element, names, reveal) };
};

/** The element itself, for the browser to hand over to the page's own world. */
agent.element = (wanted) => byRef(wanted);
