// Suggests elements with a similar name for a target that matches nothing.

const MAX_COMPARED = 3000;
const MAX_SUGGESTIONS = 3;
const NAMED_ELEMENTS = "a, button, input, select, textarea, summary, label, h1, h2, h3, [role], [aria-label], [contenteditable], [data-testid], [id]";

/** Elements with a name similar to the target, best first. */
function similarTo(spec) {
  const wanted = wantedName(spec);
  if (wanted === "") return [];
  const pairs = pairsOf(wanted);
  const ranked = [];
  inPass(() => {
    for (const element of namedElements()) {
      const score = Math.max(...namesFor(spec, element).map((name) => similarity(pairs, wanted, name.toLowerCase())), 0);
      if (score >= 0.4) ranked.push({ element, score });
    }
  });
  ranked.sort((left, right) => right.score - left.score);
  return ranked.slice(0, MAX_SUGGESTIONS).map(({ element }) => element);
}

function* namedElements() {
  let left = MAX_COMPARED;
  for (const root of rootsBelow(document)) {
    for (const element of root.querySelectorAll(NAMED_ELEMENTS)) {
      if (left-- === 0) return;
      if (isShown(element)) yield element;
    }
  }
}

function wantedName(spec) {
  if (spec.chain !== undefined) return wantedName(spec.chain.findLast((step) => step.nth === undefined) ?? {});
  const name = spec.text ?? spec.name ?? spec.label ?? spec.placeholder ?? spec.title ?? spec.testid ?? /[#.]([\w-]+)[^#.]*$/.exec(spec.css ?? "")?.[1] ?? "";
  return typeof name === "string" ? foldText(name).toLowerCase() : "";
}

function namesFor(spec, element) {
  if (spec.css !== undefined) return [element.id, ...element.classList];
  if (spec.testid !== undefined) return TEST_ATTRIBUTES.map((name) => element.getAttribute(name) ?? "");
  if (spec.placeholder !== undefined) return placeholdersOf(element);
  if (spec.role !== undefined && roleOf(element) === "generic") return [];
  return [nameOf(element), element.localName === "label" ? foldText(labelText(element)) : ""];
}

/** Similarity of two names from 0 to 1: the share of letter pairs in common; 1 when one contains the other. */
function similarity(pairs, wanted, name) {
  if (name === "") return 0;
  if (name.includes(wanted) || wanted.includes(name)) return Math.min(name.length, wanted.length) > 2 ? 1 : 0.5;
  const others = pairsOf(name);
  let common = 0;
  for (const [pair, count] of pairs) common += Math.min(count, others.get(pair) ?? 0);
  return (2 * common) / (wanted.length + name.length - 2 || 1);
}

function pairsOf(text) {
  const pairs = new Map();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}
