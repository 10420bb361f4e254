// Values that JSON cannot carry, written as tagged objects, for arguments and results of `evaluate`.

/** Typed arrays by name, taken before a script can change them. */
const TYPED_ARRAYS = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array };

/**
 * A value as JSON: `{v: "undefined"}`, `{n: "NaN"}`, `{d: "..."}` (date), `{r: {p, f}}` (pattern), `{t: {k, b}}` (typed
 * array), `{h: 0}` (a handle, in `handles`), `{a: [...]}`, `{o: [[key, value], ...]}`.
 */
function encodeValue(value, seen = new Map(), handles = [], title = "", path = "") {
  if (typeof value === "function" && handles.functions !== undefined) return { f: handles.functions.push(value) - 1 + handles.firstFunction };
  if (typeof value === "function" || typeof value === "symbol") throw withMessage(new Error(""), title, `Attempting to serialize unexpected value${path === "" ? "" : ` at position "${path}"`}: ${String(value)}`);
  if (value === undefined) return { v: "undefined" };
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { n: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value === "bigint") return { b: String(value) };
  if (value instanceof JSHandle && value.isPlainValue) return encodeValue(value.handleFacts.value, seen, handles, title, path);
  if (value instanceof JSHandle) return { h: handles.push(value.reference) - 1 };
  if (seen.has(value)) return { ref: seen.get(value) };
  const id = seen.size;
  seen.set(value, id);
  if (value instanceof Date) return { d: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  if (value instanceof RegExp) return { r: { p: value.source, f: value.flags } };
  if (value instanceof ScriptURL) return { u: value.href };
  if (value instanceof Error) return { e: { n: value.name, m: value.message, s: String(value.stack ?? "") } };
  if (value instanceof ArrayBuffer) return { t: { k: "ArrayBuffer", b: toBase64(new Uint8Array(value)) } };
  if (ArrayBuffer.isView(value)) {
    const kind = Object.keys(TYPED_ARRAYS).find((name) => value instanceof TYPED_ARRAYS[name]) ?? "Uint8Array";
    return { t: { k: kind, b: toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) } };
  }
  if (Array.isArray(value)) return { id, a: Array.from(value, (one, at) => encodeValue(one, seen, handles, title, `${path}[${at}]`)) };
  return { id, o: entries(value).map(([key, one]) => [key, encodeValue(one, seen, handles, title, path === "" ? key : `${path}.${key}`)]) };
}

function decodeValue(data, seen = new Map()) {
  if (!(seen instanceof Map)) return decodeValue(data);
  if (data === null || typeof data !== "object") return data;
  if ("v" in data) return undefined;
  if ("n" in data) return data.n === "-0" ? -0 : Number(data.n);
  if ("b" in data) return BigInt(data.b);
  if ("d" in data) return new Date(data.d ?? NaN);
  if ("r" in data) return new RegExp(data.r.p, data.r.f);
  if ("u" in data) return new ScriptURL(data.u);
  if ("ref" in data) return seen.get(data.ref);
  if ("t" in data) return decodeBytes(data.t);
  if ("e" in data) return assign(new Error(data.e.m), { name: data.e.n, stack: data.e.s });
  if ("a" in data) {
    const list = [];
    seen.set(data.id, list);
    for (const one of data.a) list.push(decodeValue(one, seen));
    return list;
  }
  const object = {};
  seen.set(data.id, object);
  for (const [key, one] of data.o ?? []) defineProperty(object, key, { value: decodeValue(one, seen), enumerable: true, writable: true, configurable: true });
  return object;
}

function decodeBytes({ k, b }) {
  const { buffer } = Uint8Array.from(fromBase64(b));
  return k === "ArrayBuffer" ? buffer : new (TYPED_ARRAYS[k] ?? Uint8Array)(buffer);
}
