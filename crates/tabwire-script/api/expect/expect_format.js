// Values in messages of assertions, as Jest writes them, and the lines in which two values differ.

/** A value over several lines: `Object {`, `Array [`. */
function prettyLines(value, indent = "", seen = []) {
  if (value === null || typeof value !== "object") return [`${indent}${printPlain(value)}`];
  if (seen.includes(value)) return [`${indent}[Circular]`];
  if (typeof value[asymmetric] === "function") return [`${indent}${value.toString()}`];
  if (value instanceof Date) return [`${indent}${Number.isNaN(value.getTime()) ? "Date { NaN }" : value.toISOString()}`];
  if (value instanceof RegExp) return [`${indent}${value}`];
  if (value instanceof Error) return [`${indent}[${value.name}: ${value.message}]`];
  if (typeof value[describeSymbol] === "function") return [`${indent}${value[describeSymbol]()}`];
  const inner = `${indent}  `;
  const below = [...seen, value];
  const nested = (prefix, one) => {
    const lines = prettyLines(one, inner, below);
    return [`${inner}${prefix}${lines[0].slice(inner.length)}`, ...lines.slice(1)].map((line, at, all) => (at === all.length - 1 ? `${line},` : line));
  };
  const wrapLines = (open, parts, close) => (parts.length === 0 ? [`${indent}${open}${close}`] : [`${indent}${open}`, ...parts.flat(), `${indent}${close}`]);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return wrapLines(`${Array.isArray(value) ? "Array" : value.constructor.name} [`, Array.from(value, (one) => nested("", one)), "]");
  if (value instanceof Set) return wrapLines("Set {", Array.from(value, (one) => nested("", one)), "}");
  if (value instanceof Map) return wrapLines("Map {", Array.from(value, ([key, one]) => nested(`${printPlain(key)} => `, one)), "}");
  const name = value.constructor?.name ?? "Object";
  return wrapLines(`${name} {`, Object.keys(value).sort().map((key) => nested(`${stringify(key)}: `, value[key])), "}");
}

function printPlain(value) {
  if (typeof value === "string") return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[Function ${value.name || "anonymous"}]`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A value on one line. */
function printValue(value) {
  if (value === null || typeof value !== "object") return printPlain(value);
  if (Array.isArray(value)) return `[${Array.from(value, printValue).join(", ")}]`;
  const lines = prettyLines(value);
  if (lines.length === 1) return lines[0].replace(/^Object \{\}$/, "{}");
  if (Object.getPrototypeOf(value) === Object.prototype) return `{${Object.keys(value).map((key) => `${stringify(key)}: ${printValue(value[key])}`).join(", ")}}`;
  return lines.map((line) => line.trim()).join(" ");
}

/** The lines of two values with `-` before those expected and `+` before those received. */
function diffLines(expected, received) {
  const left = typeof expected === "string" ? expected.split("\n") : prettyLines(expected);
  const right = typeof received === "string" ? received.split("\n") : prettyLines(received);
  const lengths = Array.from({ length: left.length + 1 }, () => new Array(right.length + 1).fill(0));
  for (let at = left.length - 1; at >= 0; at--) {
    for (let to = right.length - 1; to >= 0; to--) lengths[at][to] = left[at] === right[to] ? lengths[at + 1][to + 1] + 1 : Math.max(lengths[at + 1][to], lengths[at][to + 1]);
  }
  const lines = [];
  let [at, to, missing, added] = [0, 0, 0, 0];
  while (at < left.length || to < right.length) {
    if (at < left.length && to < right.length && left[at] === right[to]) {
      lines.push(`  ${left[at++]}`);
      to++;
    } else if (at < left.length && (to >= right.length || lengths[at + 1][to] >= lengths[at][to + 1])) {
      lines.push(`- ${left[at++]}`);
      missing++;
    } else {
      lines.push(`+ ${right[to++]}`);
      added++;
    }
  }
  return [`- Expected  - ${missing}`, `+ Received  + ${added}`, "", ...lines];
}

/** Expected and received as lines: a difference for structures and long texts, else each on its line. */
function comparisonLines(expected, received, isNot, labels = ["Expected", "Received"]) {
  const isStructure = (value) => value !== null && typeof value === "object" && !(value instanceof RegExp) && !(value instanceof Date);
  const isLong = typeof expected === "string" && typeof received === "string" && (expected.includes("\n") || received.includes("\n"));
  if (!isNot && ((isStructure(expected) && isStructure(received)) || isLong) && diffSize(expected, received)) return diffLines(expected, received);
  return [`${labels[0]}: ${isNot ? "not " : ""}${printValue(expected)}`, `${labels[1]}: ${printValue(received)}`];
}

/** Whether a difference of two values stays small enough to compute. */
function diffSize(expected, received) {
  const count = (value) => (typeof value === "string" ? value.split("\n").length : prettyLines(value).length);
  return count(expected) * count(received) < 4000000;
}
