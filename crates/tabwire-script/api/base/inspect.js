// Values as text, for the console and for results.

const MOST_ENTRIES = 1000;
const MOST_TEXT = 1000000;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** One line of the console: `%s`, `%d`, `%i`, `%f`, `%j`, `%o` and `%O` are replaced as in Node. */
function formatLine(values) {
  const [first, ...rest] = values;
  if (typeof first !== "string") return values.map((value) => display(value)).join(" ");
  const text = first.replace(/%[sdifjoO%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (rest.length === 0) return mark;
    const value = rest.shift();
    if (mark === "%s") return display(value);
    if (mark === "%d" || mark === "%f") return String(Number(value));
    if (mark === "%i") return String(Math.trunc(Number(value)));
    if (mark === "%j") return stringify(value);
    return inspect(value);
  });
  return [text, ...rest.map((value) => display(value))].join(" ");
}

/** A text as it is, anything else inspected. */
function display(value) {
  return typeof value === "string" ? value : inspect(value);
}

/** A value as text, as Node prints it. */
function inspect(value, depth = 0, seen = new Set()) {
  switch (typeof value) {
    case "string":
      return quoteText(value);
    case "bigint":
      return `${value}n`;
    case "symbol":
      return value.toString();
    case "function":
      return /^class\b/.test(Function.prototype.toString.call(value)) ? `[class ${value.name || "(anonymous)"}]` : `[Function${value.name ? `: ${value.name}` : " (anonymous)"}]`;
    case "object":
      return value === null ? "null" : inspectObject(value, depth, seen);
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
}

function quoteText(text) {
  return text.includes("'") ? stringify(text) : `'${stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`;
}

function inspectObject(value, depth, seen) {
  if (seen.has(value)) return "[Circular]";
  if (value instanceof Error) return inspectError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return "Promise {}";
  if (typeof value[describeSymbol] === "function") return value[describeSymbol]();
  if (depth > 6) return Array.isArray(value) ? "[Array]" : "[Object]";
  seen.add(value);
  const text = inspectEntries(value, (one) => inspect(one, depth + 1, seen));
  seen.delete(value);
  return text;
}

const describeSymbol = Symbol("describe");

function inspectEntries(value, show) {
  if (Array.isArray(value)) return wrap("[", value.slice(0, MOST_ENTRIES).map(show), "]", value.length);
  const name = value.constructor?.name;
  if (ArrayBuffer.isView(value)) return wrap(`${name}(${value.length}) [`, Array.from(value.subarray?.(0, 100) ?? []).map(show), "]", value.length);
  if (value instanceof Map) return wrap(`Map(${value.size}) {`, [...value].slice(0, MOST_ENTRIES).map(([key, one]) => `${show(key)} => ${show(one)}`), "}", value.size);
  if (value instanceof Set) return wrap(`Set(${value.size}) {`, [...value].slice(0, MOST_ENTRIES).map(show), "}", value.size);
  const keys = Object.keys(value);
  const pairs = keys.slice(0, MOST_ENTRIES).map((key) => `${IDENTIFIER.test(key) ? key : quoteText(key)}: ${show(value[key])}`);
  const prefix = name === undefined ? "[Object: null prototype] " : name === "Object" ? "" : `${name} `;
  return wrap(`${prefix}{`, pairs, "}", keys.length);
}

/** Entries on one line when they are short, else one on each line. */
function wrap(open, parts, close, total) {
  if (total > parts.length) parts.push(`... ${total - parts.length} more`);
  if (parts.length === 0) return `${open}${close}`;
  const line = `${open} ${parts.join(", ")} ${close}`;
  if (line.length <= 100 && !line.includes("\n")) return open.endsWith("[") ? `${open}${parts.join(", ").replace(/^/, " ")} ${close}` : line;
  const text = `${open}\n${parts.map((part) => `  ${part.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

function inspectError(error) {
  const head = `${error.name ?? "Error"}: ${error.message ?? ""}`;
  const stack = scriptStack(String(error.stack ?? "")).trimEnd();
  return stack === "" ? head : `${head}\n${stack}`;
}

/** The result of a run: its text, and its JSON where it has one. */
function describeResult(value) {
  if (value === undefined) return { text: null, json: null };
  let json = null;
  try {
    json = stringify(value) ?? null;
  } catch {
    // A value with a cycle has no JSON.
  }
  return { text: display(value), json };
}

/** An uncaught error: its class, message, stack, and the failure of the action that it came from. */
function describeError(error) {
  if (!(error instanceof Error)) return { name: "Error", message: `The script threw ${inspect(error)}.`, stack: "", failure: null };
  const failure = error.failure;
  return {
    name: String(error.name),
    message: String(error.message),
    stack: String(error.stack ?? ""),
    failure: failure === undefined ? null : stringify(failure),
  };
}
