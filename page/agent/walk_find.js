// The whole page for a search, a portion at a time. Knows nothing of what is searched for: patterns are tried outside
// the page, where a bad one cannot hold it up.

/** Characters of one portion unless told otherwise. */
const PORTION = 1048576;

/** The entries above the one at `at`, outermost first. */
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

/** How long the entries of a search are kept for its next portion, in milliseconds. */
const PORTION_KEPT = 5000;
let searched = null;

/** Everything on the page, or what was there when this search began. */
function searchedEntries(from, within, words) {
  if (from > 0 && searched !== null && searched.within === within && searched.next === from) return searched;
  const walk = new Walk({ full: true, within });
  walk.budget = Infinity;
  return inPass(() => {
    const root = startOf({ within }, walk);
    walk.wanted = root === null ? null : new Wanted(words, root);
    const entries = root === null ? [] : entriesOf(listOf(walk.run(root), walk.settings));
    const uncounted = walk.wanted?.uncounted ?? 0;
    return { entries, uncounted, within, next: 0, left: { spent: walk.isSpent(), behind: walk.behind } };
  });
}

/** Keeps a search for its next portion, but not for ever. */
function keepSearch(search) {
  searched = search.next === null ? null : search;
  if (searched !== null) setTimeout(() => { if (searched === search) searched = null; }, PORTION_KEPT);
}

/**
 * Everything on the page from the entry `from` on, as JSON text: `{document, url, title, scroll, nodes, above, next}`.
 *
 * The first `above` nodes only say where the others stand. `next` is where the next portion starts; null at the end.
 * With `words` only lines that may have all of them matter; `uncounted` tells how many long lists' children may have
 * them too and were not looked at.
 */
agent.find = ({ from = 0, characters = PORTION, within = null, words = [] } = {}) => {
  const search = searchedEntries(from, within, words);
  const { entries } = search;
  const above = entriesAbove(entries, from);
  let end = from;
  for (let room = characters; end < entries.length && room > 0; end++) room -= entries[end][2].length + 40;
  search.next = end < entries.length ? end : null;
  keepSearch(search);
  return JSON.stringify({
    document: agent.document, url: location.href, title: lineOf(document.title, 200), scroll: scrollOf(document),
    nodes: [...above, ...entries.slice(from, end)], above: above.length, next: search.next, left: search.left, uncounted: search.uncounted,
  });
};
