// `expect(value)`: assertions about values, as in Jest.

const asymmetric = Symbol("asymmetric");

/** Whether two values are equal in depth. `isStrict` also compares classes and undefined properties. */
function isEqual(left, right, isStrict = false, pairs = []) {
  if (right !== null && typeof right === "object" && typeof right[asymmetric] === "function") return right[asymmetric](left);
  if (left !== null && typeof left === "object" && typeof left[asymmetric] === "function") return left[asymmetric](right);
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  const tag = (value) => Object.prototype.toString.call(value);
  if (tag(left) !== tag(right)) return false;
  if (left instanceof Date) return left.getTime() === right.getTime() || (Number.isNaN(left.getTime()) && Number.isNaN(right.getTime()));
  if (left instanceof RegExp) return String(left) === String(right);
  if (left instanceof Number || left instanceof String || left instanceof Boolean) return Object.is(left.valueOf(), right.valueOf());
  if (left instanceof Error && right instanceof Error) return left.message === right.message && (!isStrict || left.name === right.name);
  if (left instanceof ScriptURL && right instanceof ScriptURL) return left.href === right.href;
  const known = pairs.find((pair) => pair[0] === left || pair[1] === right);
  if (known !== undefined) return known[0] === left && known[1] === right;
  const below = [...pairs, [left, right]];
  const same = (one, other) => isEqual(one, other, isStrict, below);
  if (left instanceof ArrayBuffer) return same(new Uint8Array(left), new Uint8Array(right));
  if (left instanceof Map) return left.size === right.size && [...left].every(([key, value]) => [...right].some(([other, one]) => same(key, other) && same(value, one)));
  if (left instanceof Set) return left.size === right.size && [...left].every((value) => [...right].some((other) => same(value, other)));
  if (isStrict && left.constructor !== right.constructor) return false;
  if ((Array.isArray(left) || ArrayBuffer.isView(left)) && left.length !== right.length) return false;
  const keys = (value) => [...Object.keys(value), ...Object.getOwnPropertySymbols(value).filter((key) => Object.getOwnPropertyDescriptor(value, key).enumerable)].filter((key) => isStrict || value[key] !== undefined);
  const [own, others] = [keys(left), keys(right)];
  return own.length === others.length && own.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]));
}

/** Whether the value has the part, in depth. */
function isSubset(value, part, seen = []) {
  if (part === null || typeof part !== "object" || part[asymmetric] || part instanceof Date || part instanceof Set || part instanceof Map || part instanceof RegExp) return isEqual(value, part);
  if (part instanceof Error) return value instanceof Error && value.message === part.message;
  if (seen.includes(part)) return true;
  const below = [...seen, part];
  if (Array.isArray(part)) return Array.isArray(value) && value.length === part.length && part.every((one, at) => isSubset(value[at], one, below));
  if (value === null || typeof value !== "object") return false;
  const isOwn = (key) => Object.hasOwn(value, key) || (value instanceof Error && key in value) || (Object.getPrototypeOf(value) !== Object.prototype && !Object.hasOwn(Object.getPrototypeOf(value) ?? {}, key) === false && typeof value.constructor === "function" && value.constructor !== Object && key in value);
  return Object.keys(part).every((key) => isOwn(key) && isSubset(value[key], part[key], below));
}

/** The property at a path: `[found, value]`. */
function propertyAt(value, path) {
  const names = Array.isArray(path) ? path : path === "" ? [""] : path.replaceAll(/\[(\w+)\]/g, ".$1").split(".");
  let at = value;
  for (const name of names) {
    if (at === null || at === undefined || !(name in Object(at))) return [false, undefined];
    at = at[name];
  }
  return [true, at];
}

function needs(condition, name, problem) {
  if (!condition) throw new Error(`expect(received).${name}(expected)\n\nMatcher error: ${problem}`);
}

const isCloseTo = (value, expected, digits = 2) => value === expected || Math.abs(value - expected) < 10 ** -digits / 2;
const isNumeric = (value) => typeof value === "number" || typeof value === "bigint";

function compares(name, test) {
  return (value, expected) => {
    needs(isNumeric(value) && isNumeric(expected), name, "received and expected value must be a number or bigint");
    return test(value, expected);
  };
}

const VALUE_MATCHERS = {
  toBe: (value, expected) => Object.is(value, expected),
  toEqual: (value, expected) => isEqual(value, expected),
  toStrictEqual: (value, expected) => isEqual(value, expected, true),
  toMatchObject: (value, expected) => {
    needs(typeof value === "object" && value !== null, "toMatchObject", "received value must be a non-null object");
    needs(typeof expected === "object" && expected !== null, "toMatchObject", "expected value must be a non-null object");
    return isSubset(value, expected);
  },
  toBeTruthy: (value) => Boolean(value),
  toBeFalsy: (value) => !value,
  toBeNull: (value) => value === null,
  toBeUndefined: (value) => value === undefined,
  toBeDefined: (value) => value !== undefined,
  toBeNaN: (value) => Number.isNaN(value),
  toBeGreaterThan: compares("toBeGreaterThan", (value, expected) => value > expected),
  toBeGreaterThanOrEqual: compares("toBeGreaterThanOrEqual", (value, expected) => value >= expected),
  toBeLessThan: compares("toBeLessThan", (value, expected) => value < expected),
  toBeLessThanOrEqual: compares("toBeLessThanOrEqual", (value, expected) => value <= expected),
  toBeCloseTo: isCloseTo,
  toContain: (value, expected) => {
    needs(value !== null && value !== undefined, "toContain", "received value must not be null nor undefined");
    return typeof value === "string" ? value.includes(expected) : [...value].includes(expected);
  },
  toContainEqual: (value, expected) => {
    needs(value !== null && value !== undefined, "toContainEqual", "received value must not be null nor undefined");
    return [...value].some((one) => isEqual(one, expected));
  },
  toHaveLength: (value, expected) => {
    needs(typeof value?.length === "number", "toHaveLength", "received value must have a length property whose value must be a number");
    return value.length === expected;
  },
  toMatch: (value, expected) => {
    needs(typeof value === "string", "toMatch", "received value must be a string");
    needs(typeof expected === "string" || expected instanceof RegExp, "toMatch", "expected value must be a string or regular expression");
    return typeof expected === "string" ? value.includes(expected) : new RegExp(expected.source, expected.flags.replace(/[gy]/g, "")).test(value);
  },
  toBeInstanceOf: (value, expected) => {
    needs(typeof expected === "function", "toBeInstanceOf", "expected value must be a function");
    return value instanceof expected;
  },
  toHaveProperty: (value, path, ...expected) => {
    needs(value !== null && value !== undefined, "toHaveProperty", "received value must not be null nor undefined");
    needs(typeof path === "string" || Array.isArray(path), "toHaveProperty", "expected path must be a string or array");
    const [isThere, found] = propertyAt(value, path);
    return expected.length === 0 ? isThere : isThere && isEqual(found, expected[0]);
  },
  toThrow: (value, expected) => throwsAs(value, expected),
  toThrowError: (value, expected) => throwsAs(value, expected),
};

function throwsAs(value, expected) {
  try {
    value();
  } catch (error) {
    const message = error !== null && typeof error === "object" && "message" in error ? String(error.message) : String(error);
    if (expected === undefined) return true;
    if (expected instanceof RegExp) return expected.test(message);
    if (typeof expected === "function") return error instanceof expected;
    if (expected !== null && typeof expected === "object") return typeof expected[asymmetric] === "function" ? expected[asymmetric](error) : message === expected.message && (expected.cause === undefined || isEqual(error.cause, expected.cause));
    return message.includes(expected);
  }
  return false;
}

function assertValue(name, value, given, isNot, isSoft, message) {
  if (VALUE_MATCHERS[name](value, ...given) !== isNot) return;
  const call = `expect(received)${isNot ? ".not" : ""}.${name}(${given.length === 0 ? "" : "expected"})`;
  const lines = [`${call}${name === "toBe" ? " // Object.is equality" : name === "toEqual" ? " // deep equality" : ""}`, ""];
  if (given.length === 0) lines.push(`Received: ${isNot ? "" : ""}${printValue(value)}`);
  else lines.push(...comparisonLines(given[0], value, isNot, name === "toContain" && typeof value === "string" ? ["Expected substring", "Received string"] : name === "toMatch" ? [given[0] instanceof RegExp ? "Expected pattern" : "Expected substring", "Received string"] : undefined));
  failAssertion(message === undefined ? lines.join("\n") : `${message}\n\n${lines.join("\n")}`, isSoft, { name, pass: isNot, expected: given[0], actual: value });
}

/** Throws the error of an assertion, or keeps it when it is soft. */
function failAssertion(text, isSoft, result, made = new Error("")) {
  const error = withMessage(made, undefined, text);
  defineProperty(error, "matcherResult", { value: { ...result, message: text }, enumerable: false, configurable: true });
  if (!isSoft) throw error;
  softErrors.push(error);
}

/** Takes the failed soft assertions as one error: the first, with the messages of the others. */
function takeSoftError() {
  const [first, ...others] = softErrors.splice(0);
  if (first === undefined) return null;
  if (others.length > 0) first.message = [first, ...others].map(({ message }) => message).join("\n\n");
  return first;
}

/** Matchers that `expect.extend` added. */
const addedMatchers = {};

function assertAdded(name, value, given, isNot, isSoft, message) {
  const context = { isNot, promise: "", utils: { printReceived: printValue, printExpected: printValue, stringify: printValue, matcherHint: (hint) => hint, diff: (expected, received) => diffLines(expected, received).join("\n") }, equals: isEqual, timeout: expectTimeout.value };
  const judge = (result) => {
    if (result.pass !== isNot) return;
    const text = result.message();
    failAssertion(message === undefined ? text : `${message}\n\n${text}`, isSoft, { name, ...result, pass: result.pass });
  };
  const result = addedMatchers[name].call(context, value, ...given);
  return typeof result?.then === "function" ? result.then(judge) : judge(result);
}

function valueAssertions(value, isSoft, message, isNot = false) {
  const made = {};
  for (const name of Object.keys(VALUE_MATCHERS)) made[name] = (...given) => assertValue(name, value, given, isNot, isSoft, message);
  for (const name of Object.keys(addedMatchers)) made[name] = (...given) => assertAdded(name, value, given, isNot, isSoft, message);
  made.toPass = (options) => passAssertion(value, options, isNot);
  if (!isNot) defineProperty(made, "not", { configurable: true, get: () => valueAssertions(value, isSoft, message, true) });
  defineProperty(made, "resolves", { get: () => settledAssertions(value, isSoft, message, isNot, false) });
  defineProperty(made, "rejects", { get: () => settledAssertions(value, isSoft, message, isNot, true) });
  return made;
}

/** `expect(fn).toPass()`: calls the function until it does not throw (or, with `not`, until it does). */
async function passAssertion(body, { timeout = 0, intervals = [100, 250, 500, 1000] } = {}, isNot = false) {
  const error = new Error("");
  const end = timeout > 0 ? host.now() + timeout : Infinity;
  let last = null;
  for (let turn = 0; ; turn++) {
    try {
      await body();
      if (!isNot) return;
      last = null;
    } catch (thrown) {
      if (isNot) return;
      last = thrown;
    }
    const wait = intervals[Math.min(turn, intervals.length - 1)] ?? 1000;
    if (host.now() + wait > end) throw withMessage(error, undefined, `${last?.message ?? "Expected the function to throw."}\n\nCall Log:\n- Timeout ${timeout}ms exceeded while waiting on the predicate`);
    await new Promise((resolve) => addTimer(resolve, wait, [], false));
  }
}

/** Assertions about what a promise comes to. */
function settledAssertions(promise, isSoft, message, isNot, isRejection) {
  const made = {};
  const check = (name) => async (...given) => {
    const pending = typeof promise === "function" ? promise() : promise;
    let value;
    try {
      value = await pending;
    } catch (error) {
      if (!isRejection) throw new Error(`expect(received).resolves.${name}(expected)\n\nReceived promise rejected instead of resolved\nRejected to value: ${inspect(error)}`);
      const thrown = name.startsWith("toThrow") ? () => { throw error; } : error;
      return assertValue(name, thrown, given, isNot, isSoft, message);
    }
    if (isRejection) throw new Error(`expect(received).rejects.${name}(expected)\n\nReceived promise resolved instead of rejected\nResolved to value: ${printValue(value)}`);
    return assertValue(name, value, given, isNot, isSoft, message);
  };
  for (const name of Object.keys(VALUE_MATCHERS)) made[name] = check(name);
  if (!isNot) defineProperty(made, "not", { get: () => settledAssertions(promise, isSoft, message, true, isRejection) });
  return made;
}

/** A value that equals every value that passes a test. */
function matching(name, sample, test) {
  return { [asymmetric]: test, asymmetricMatch: test, sample, toString: () => (sample === undefined ? name : `${name}<${typeof sample === "function" ? sample.name : printValue(sample)}>`), get [Symbol.toStringTag]() { return name; } };
}

function isOfKind(kind, value) {
  const plain = { String: "string", Number: "number", Boolean: "boolean", Function: "function", BigInt: "bigint", Symbol: "symbol" }[kind.name];
  if (kind === Object) return typeof value === "object" && value !== null;
  if (kind === Array) return Array.isArray(value);
  return (plain !== undefined && typeof value === plain) || value instanceof kind;
}

function needsNumber(what) {
  throw new Error(`${what} is not a Number`);
}

function offerAsymmetric(target, isNot = false) {
  const offer = (name, make) => {
    target[name] = (...given) => {
      const { label, sample, test } = make(...given);
      return matching(isNot ? `Not${label}` : label, sample, (value) => test(value) !== isNot);
    };
  };
  offer("stringContaining", (part) => ({ label: "StringContaining", sample: part, test: (value) => typeof value === "string" && value.includes(part) }));
  offer("stringMatching", (pattern) => ({ label: "StringMatching", sample: pattern, test: (value) => typeof value === "string" && new RegExp(pattern).test(value) }));
  offer("objectContaining", (part) => ({
    label: "ObjectContaining",
    sample: part,
    test: (value) => {
      if (typeof part !== "object") throw new Error(`You must provide an object to ObjectContaining, not '${typeof part}'.`);
      return value !== null && typeof value === "object" && Object.keys(part).every((key) => key in value && isEqual(value[key], part[key]));
    },
  }));
  offer("arrayContaining", (part) => ({ label: "ArrayContaining", sample: part, test: (value) => Array.isArray(value) && part.every((one) => value.some((other) => isEqual(other, one))) }));
  offer("arrayOf", (one) => ({ label: "ArrayOf", sample: one, test: (value) => Array.isArray(value) && value.every((item) => isEqual(item, one)) }));
  offer("closeTo", (number, digits = 2) => typeof number !== "number" ? needsNumber("Expected") : typeof digits !== "number" ? needsNumber("Precision") : ({ label: "NumberCloseTo", sample: number, test: (value) => typeof value === "number" && isCloseTo(value, number, digits) }));
  if (isNot) return;
  target.anything = () => matching("Anything", undefined, (value) => value !== null && value !== undefined);
  target.any = (...kinds) => {
    if (typeof kinds[0] !== "function") throw new TypeError("any() expects to be passed a constructor function. Please pass one or use anything() to match any object.");
    return matching("Any", kinds[0], (value) => isOfKind(kinds[0], value));
  };
  target.not = {};
  offerAsymmetric(target.not, true);
}
offerAsymmetric(expect);
