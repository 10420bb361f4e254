// Reads and writes the local and session storage of the document's origin.

/** The storage area; a document with an opaque origin has none. */
function storageArea(area) {
  try {
    return area === "local" ? window.localStorage : window.sessionStorage;
  } catch (error) {
    return fail(
      "NOT_ACTIONABLE",
      `The page at ${location.href.slice(0, 200)} has no ${area} storage: ${error.name}.`,
      "Pages with a data: or about: URL and sandboxed pages have none. Open a page of the site.",
    );
  }
}

/** Runs one operation on a storage area: `list`, `get`, `set`, `remove` or `clear`. */
agent.storage = ({ area, verb, key, value }) => {
  const storage = storageArea(area);
  const before = verb === "list" ? null : storage.getItem(key ?? "");
  const entries = () => Array.from({ length: storage.length }, (_, at) => storage.key(at))
    .map((name) => ({ key: name, value: storage.getItem(name) }));
  const result = { origin: location.origin, entries: [], before: before !== null };
  if (verb === "list") result.entries = entries();
  if (verb === "get" && before !== null) result.entries = [{ key, value: before }];
  if (verb === "set") {
    try {
      storage.setItem(key, value);
    } catch (error) {
      fail("NOT_ACTIONABLE", `The ${area} storage rejects the value: ${error.name}.`, "The quota of an origin is about 5 MB. Remove entries.");
    }
    result.entries = [{ key, value: storage.getItem(key) }];
  }
  if (verb === "remove") storage.removeItem(key);
  if (verb === "clear") {
    result.entries = entries();
    storage.clear();
  }
  return result;
};
