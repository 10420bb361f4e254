// Reads and writes the local and session storage of the document's origin. Knows nothing of other origins.

/** The storage area of a name; a document without an origin of its own has none. */
function storageArea(area) {
  try {
    return area === "local" ? window.localStorage : window.sessionStorage;
  } catch (error) {
    return fail(
      "NOT_ACTIONABLE",
      `The page at ${location.href.slice(0, 200)} has no ${area} storage: ${error.name}.`,
      "Pages with data: or about: addresses and sandboxed ones have none; open a page of the site first.",
    );
  }
}

/** Does one thing with a storage area: `list`, `get`, `set`, `remove` or `clear`. */
agent.storage = ({ area, verb, key, value }) => {
  const storage = storageArea(area);
  const before = verb === "list" ? null : storage.getItem(key ?? "");
  const entries = () => Array.from({ length: storage.length }, (_, at) => storage.key(at))
    .map((name) => ({ key: name, value: storage.getItem(name) }));
  const answer = { origin: location.origin, entries: [], before: before !== null };
  if (verb === "list") answer.entries = entries();
  if (verb === "get" && before !== null) answer.entries = [{ key, value: before }];
  if (verb === "set") {
    try {
      storage.setItem(key, value);
    } catch (error) {
      fail("NOT_ACTIONABLE", `The ${area} storage does not take the value: ${error.name}.`, "An origin has about 5 MB; remove something.");
    }
    answer.entries = [{ key, value: storage.getItem(key) }];
  }
  if (verb === "remove") storage.removeItem(key);
  if (verb === "clear") {
    answer.entries = entries();
    storage.clear();
  }
  return answer;
};
