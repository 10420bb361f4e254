// The whole page for a search, in portions. Rust matches the patterns, so a slow pattern cannot block the page.

/** Default size of a portion, in characters. */
const PORTION = 1048576;

/** The ancestors of the entry at `at`, outermost first. */
function entriesAbove(entries, at) {
  const above = [];
  let depth = entries[at]?.[0] ?? 0;
  for (let place = at - 1; place >= 0 && depth > 0; place--) {
    if (entries[place][0] >= depth) continue;
    depth = entries[place][0];
    above.push(entries[place]);
  }
  return above.reverse();
}

/** How long the entries of a search are kept for the next portion, in ms. */
const PORTION_LIFETIME = 5000;
let searched = null;

/** All entries of the page, or the kept entries of this search. */
function entriesForSearch(from, within, words) {
  if (from > 0 && searched !== null && searched.within === within && searched.next === from) return searched;
  const walk = new Walk({ full: true, within });
  walk.budget = Infinity;
  return inPass(() => {
    const root = startOf({ within }, walk);
    walk.wanted = root === null ? null : new WordFilter(words, root);
    const entries = root === null ? [] : entriesOf(listOf(walk.run(root), walk.settings));
    const uncounted = walk.wanted?.uncounted ?? 0;
    return { entries, uncounted, within, next: 0, left: { spent: walk.isSpent(), behind: walk.behind } };
  });
}

/** Keeps the entries for the next portion, for a limited time. */
function keepForNextPortion(search) {
  searched = search.next === null ? null : search;
  if (searched !== null) setTimeout(() => { if (searched === search) searched = null; }, PORTION_LIFETIME);
}

/**
 * All entries of the page from `from` on, as JSON text: `{document, url, title, scroll, nodes, above, next}`.
 *
 * The first `above` nodes are ancestors, for context. `next` is the start of the next portion; null at the end. With
 * `words`, only lines that may contain all of them matter; `uncounted` is the number of children of long lists that may
 * match and were not visited.
 */
agent.find = ({ from = 0, characters = PORTION, within = null, words = [] } = {}) => {
  const search = entriesForSearch(from, within, words);
  const { entries } = search;
  const above = entriesAbove(entries, from);
  let end = from;
  for (let room = characters; end < entries.length && room > 0; end++) room -= entries[end][2].length + 40;
  search.next = end < entries.length ? end : null;
  keepForNextPortion(search);
  return JSON.stringify({
    document: agent.document, url: location.href, title: lineOf(document.title, 200), scroll: scrollOf(document),
    nodes: [...above, ...entries.slice(from, end)], above: above.length, next: search.next, left: search.left, uncounted: search.uncounted,
  });
};
