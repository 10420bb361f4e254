// Values that JSON cannot carry, written as tagged objects, for arguments and results of `evaluate`.

/** A value as JSON: `{v: "undefined"}`, `{n: "NaN"}`, `{d: "..."}` (date), `{r: {p, f}}` (pattern), `{a: [...]}`, `{o: [[key, value], ...]}`. */
function encodeValue(value, seen = new Map()) {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return { v: "undefined" };
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { n: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value === "bigint") return { b: String(value) };
  if (value instanceof ElementHandle) return { h: value.reference };
  if (seen.has(value)) return { ref: seen.get(value) };
  const id = seen.size;
  seen.set(value, id);
  if (value instanceof Date) return { d: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  if (value instanceof RegExp) return { r: { p: value.source, f: value.flags } };
  if (value instanceof ScriptURL) return { u: value.href };
  if (value instanceof Error) return { e: { n: value.name, m: value.message, s: String(value.stack ?? "") } };
  if (Array.isArray(value)) return { id, a: value.map((one) => encodeValue(one, seen)) };
  return { id, o: entries(value).map(([key, one]) => [key, encodeValue(one, seen)]) };
}

function decodeValue(data, seen = new Map()) {
  if (data === null || typeof data !== "object") return data;
  if ("v" in data) return undefined;
  if ("n" in data) return data.n === "-0" ? -0 : Number(data.n);
  if ("b" in data) return BigInt(data.b);
  if ("d" in data) return new Date(data.d ?? NaN);
  if ("r" in data) return new RegExp(data.r.p, data.r.f);
  if ("u" in data) return new ScriptURL(data.u);
  if ("ref" in data) return seen.get(data.ref);
  if ("t" in data) return new Uint8Array(data.t);
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
