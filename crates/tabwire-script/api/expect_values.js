// `expect(value)`: assertions about values, as in Jest.

/** Whether two values are equal in depth. `isStrict` also compares classes and undefined properties. */
function isEqual(left, right, isStrict = false) {
  if (right !== null && typeof right === "object" && typeof right[asymmetric] === "function") return right[asymmetric](left);
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (left instanceof RegExp && right instanceof RegExp) return String(left) === String(right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (left instanceof Map && right instanceof Map) return left.size === right.size && [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key), isStrict));
  if (left instanceof Set && right instanceof Set) return left.size === right.size && [...left].every((value) => [...right].some((other) => isEqual(value, other, isStrict)));
  if (left instanceof Error && right instanceof Error) return left.message === right.message;
  if (isStrict && left.constructor !== right.constructor) return false;
  const keys = (value) => Object.keys(value).filter((key) => isStrict || value[key] !== undefined);
  const [own, others] = [keys(left), keys(right)];
  return own.length === others.length && own.every((key) => key in right && isEqual(left[key], right[key], isStrict));
}

const asymmetric = Symbol("asymmetric");

function isSubset(value, part) {
  if (part === null || typeof part !== "object" || part[asymmetric]) return isEqual(value, part);
  if (Array.isArray(part)) return Array.isArray(value) && value.length === part.length && part.every((one, at) => isSubset(value[at], one));
  return value !== null && typeof value === "object" && Object.keys(part).every((key) => key in value && isSubset(value[key], part[key]));
}

function propertyAt(value, path) {
  const names = Array.isArray(path) ? path : String(path).split(".");
  return names.reduce((at, name) => (at === null || at === undefined ? undefined : at[name]), value);
}

const VALUE_MATCHERS = {
  toBe: (value, expected) => Object.is(value, expected),
  toEqual: (value, expected) => isEqual(value, expected),
  toStrictEqual: (value, expected) => isEqual(value, expected, true),
  toMatchObject: (value, expected) => isSubset(value, expected),
  toBeTruthy: (value) => Boolean(value),
  toBeFalsy: (value) => !value,
  toBeNull: (value) => value === null,
  toBeUndefined: (value) => value === undefined,
  toBeDefined: (value) => value !== undefined,
  toBeNaN: (value) => Number.isNaN(value),
  toBeGreaterThan: (value, expected) => value > expected,
  toBeGreaterThanOrEqual: (value, expected) => value >= expected,
  toBeLessThan: (value, expected) => value < expected,
  toBeLessThanOrEqual: (value, expected) => value <= expected,
  toBeCloseTo: (value, expected, digits = 2) => Math.abs(value - expected) < 10 ** -digits / 2,
  toContain: (value, expected) => (typeof value === "string" ? value.includes(expected) : [...value].includes(expected)),
  toContainEqual: (value, expected) => [...value].some((one) => isEqual(one, expected)),
  toHaveLength: (value, expected) => value.length === expected,
  toMatch: (value, expected) => (expected instanceof RegExp ? expected.test(value) : String(value).includes(expected)),
  toBeInstanceOf: (value, expected) => value instanceof expected,
  toHaveProperty: (value, path, ...expected) => {
    const found = propertyAt(value, path);
    return expected.length === 0 ? found !== undefined : isEqual(found, expected[0]);
  },
  toThrow: (value, expected) => throwsAs(value, expected),
  toThrowError: (value, expected) => throwsAs(value, expected),
};

function throwsAs(value, expected) {
  try {
    value();
  } catch (error) {
    if (expected === undefined) return true;
    if (expected instanceof RegExp) return expected.test(error.message);
    return typeof expected === "function" ? error instanceof expected : String(error.message).includes(expected.message ?? expected);
  }
  return false;
}

function assertValue(name, value, given, isNot, isSoft, message) {
  if (VALUE_MATCHERS[name](value, ...given) !== isNot) return;
  const lines = [`expect(received)${isNot ? ".not" : ""}.${name}(${given.length === 0 ? "" : "expected"})`, ""];
  if (given.length > 0) lines.push(`Expected: ${isNot ? "not " : ""}${given.map((one) => inspect(one)).join(", ")}`);
  lines.push(`Received: ${inspect(value)}`);
  const error = withMessage(new Error(""), undefined, message === undefined ? lines.join("\n") : `${message}\n\n${lines.join("\n")}`);
  if (!isSoft) throw error;
  softErrors.push(error);
}

function valueAssertions(value, isSoft, message, isNot = false) {
  const made = {};
  for (const name of Object.keys(VALUE_MATCHERS)) made[name] = (...given) => assertValue(name, value, given, isNot, isSoft, message);
  made.toPass = async ({ timeout = 0 } = {}) => {
    let last = null;
    await poll("expect.toPass", timeout === 0 ? NO_TIMEOUT : timeout, async () => {
      try {
        await value();
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    }, () => `the last error is: ${last?.message}`);
  };
  if (!isNot) defineProperty(made, "not", { get: () => valueAssertions(value, isSoft, message, true) });
  defineProperty(made, "resolves", { get: () => settledAssertions(value, isSoft, message, isNot, false) });
  defineProperty(made, "rejects", { get: () => settledAssertions(value, isSoft, message, isNot, true) });
  return made;
}

/** Assertions about what a promise comes to. */
function settledAssertions(promise, isSoft, message, isNot, isRejection) {
  const made = {};
  for (const name of Object.keys(VALUE_MATCHERS)) {
    made[name] = async (...given) => {
      let value;
      try {
        value = await promise;
      } catch (error) {
        if (!isRejection) throw error;
        const thrown = name.startsWith("toThrow") ? () => { throw error; } : error;
        return assertValue(name, thrown, given, isNot, isSoft, message);
      }
      if (isRejection) throw new Error(`expect(promise).rejects: the promise resolved to ${inspect(value)}`);
      return assertValue(name, value, given, isNot, isSoft, message);
    };
  }
  return made;
}

function offerAsymmetric(target) {
  target.anything = () => ({ [asymmetric]: (value) => value !== null && value !== undefined });
  target.any = (kind) => ({ [asymmetric]: (value) => (kind === Number ? typeof value === "number" : kind === String ? typeof value === "string" : kind === Boolean ? typeof value === "boolean" : value instanceof kind) });
  target.stringContaining = (part) => ({ [asymmetric]: (value) => typeof value === "string" && value.includes(part) });
  target.stringMatching = (pattern) => ({ [asymmetric]: (value) => typeof value === "string" && new RegExp(pattern).test(value) });
  target.objectContaining = (part) => ({ [asymmetric]: (value) => isSubset(value, part) });
  target.arrayContaining = (part) => ({ [asymmetric]: (value) => Array.isArray(value) && part.every((one) => value.some((other) => isEqual(other, one))) });
  target.closeTo = (number, digits = 2) => ({ [asymmetric]: (value) => Math.abs(value - number) < 10 ** -digits / 2 });
}
offerAsymmetric(expect);
