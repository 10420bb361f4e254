// CSS selectors of scripts, with Playwright's pseudo-classes: `:has-text`, `:text`, `:text-is`, `:text-matches`,
// `:visible`, `:nth-match` and those of the layout: `:right-of`, `:left-of`, `:above`, `:below`, `:near`.

const CSS_EXTENSION = /:(?:has-text|text|text-is|text-matches|visible|nth-match|right-of|left-of|above|below|near)(?![\w-])/;
const CSS_FUNCTIONS = /^:(has-text|text-is|text-matches|text|visible|nth-match|right-of|left-of|above|below|near|has|is|not|where)(?![\w-])/;
const CSS_LOGIC = new Set(["has", "is", "not", "where"]);
const CSS_SCOPE = /:scope(?![\w-])/;

function findByChainCss(selector, scope, roots) {
  const relative = /^\s*[>+~]/.test(selector) ? `:scope ${selector}` : selector;
  if (isPlainCss(relative, scope, roots)) {
    checkChainCss(relative, selector);
    return findByCss(relative, roots).filter((element) => element !== scope);
  }
  if (!CSS_EXTENSION.test(relative)) checkChainCss(relative, selector);
  const lists = parseCompounds(relative);
  const scores = new Map();
  const found = [];
  const isMatch = (element, steps) => matchesCompound(element, steps.at(-1).compound, scope, scores) && matchesChainSteps(element, steps, steps.length - 1, scope);
  const around = lists.filter(namesScope);
  for (const element of aroundScope(around, scope)) if (around.some((steps) => isMatch(element, steps))) found.push(element);
  const outside = new Set(found);
  for (const element of chainCandidates(scope, roots)) if (!outside.has(element) && lists.some((steps) => isMatch(element, steps))) found.push(element);
  // Those nearest to the other element come first.
  return scores.size === 0 ? found : found.sort((one, other) => (scores.get(one) ?? Infinity) - (scores.get(other) ?? Infinity));
}

/** Whether the browser itself finds the same elements: no pseudo-class of ours, and no element outside of the scope counts. */
function isPlainCss(selector, scope, roots) {
  if (CSS_EXTENSION.test(selector) || CSS_SCOPE.test(selector)) return false;
  const hasSteps = /[\s>+~]/.test(selector.trim().replace(/\[[^\]]*\]/g, ""));
  if (scope !== document) return !hasSteps || /,/.test(selector) === false && !hasSteps;
  return roots.length === 1 || !/:(?:is|not|has|where)\(/.test(selector);
}

/** Whether a selector names the scope itself, also in `:is()`; inside of `:has()` and `:not()`, `:scope` does not count. */
function namesScope(steps) {
  const isNamed = ({ name, argument }) => (name === "is" || name === "where") && CSS_SCOPE.test(argument);
  return steps.some(({ compound }) => CSS_SCOPE.test(compound.plain) || compound.tests.some(isNamed));
}

/** Elements outside of the scope that selectors with `:scope` can mean: the scope, and its siblings with what is in them. */
function* aroundScope(lists, scope) {
  if (lists.length === 0) return;
  const own = scope === document ? document.documentElement : scope;
  if (own !== null) yield own;
  const isBeside = lists.some((steps) => steps.some(({ combinator }, at) => (combinator === "+" || combinator === "~") && CSS_SCOPE.test(steps[at - 1].compound.plain)));
  if (isBeside) for (let next = own?.nextElementSibling; next; next = next.nextElementSibling) yield* [next, ...next.querySelectorAll("*")];
}

/** Fails for text that is no CSS selector, naming the first letter that makes it wrong. */
function checkChainCss(selector, given) {
  const isValid = (text) => {
    try {
      document.createDocumentFragment().querySelector(text);
      return true;
    } catch {
      return false;
    }
  };
  if (isValid(selector)) return;
  const at = Array.from(given).findIndex((letter, place) => /[^\w\s.#*>+~,:"'([=-]/.test(letter) && !isValid(given.slice(0, place + 1)) && !(letter === "]" && given.includes("[")) && letter !== ")");
  const token = at < 0 ? given.at(-1) : given[at];
  fail("BAD_ARGS", `Unexpected token "${token}" while parsing css selector "${given}". Did you mean to CSS.escape it?`);
}

function parseCompounds(selector) {
  return selectorSteps(selector).map((steps) => steps.map(({ compound, combinator }) => ({ combinator, compound: splitCompound(compound) })));
}

/** A compound as the part that the browser matches, and the tests that it does not know. */
function splitCompound(compound) {
  let plain = "";
  const tests = [];
  for (let at = 0; at < compound.length; ) {
    const name = compound[at] === ":" ? CSS_FUNCTIONS.exec(compound.slice(at))?.[1] : undefined;
    const open = name === undefined ? at : at + name.length + 1;
    const end = name !== undefined && compound[open] === "(" ? pieceEnd(compound, open) : name === undefined ? pieceEnd(compound, at) : open;
    const argument = compound.slice(open + 1, end - 1);
    const isNative = name === undefined || (CSS_LOGIC.has(name) && name !== "has" && !CSS_EXTENSION.test(argument) && !CSS_SCOPE.test(argument) && !/[\s>+~]/.test(argument.replace(/\s*,\s*/g, ",").trim()));
    if (isNative) plain += compound.slice(at, end);
    else tests.push({ name, argument });
    at = end;
  }
  return { plain: plain === "" ? "*" : plain, tests };
}

function matchesCompound(element, { plain, tests }, scope, scores) {
  let rest = plain;
  if (CSS_SCOPE.test(plain)) {
    if (element !== (scope === document ? document.documentElement : scope)) return false;
    rest = plain.replace(CSS_SCOPE, "") || "*";
  }
  try {
    if (!element.matches(rest)) return false;
  } catch {
    fail("BAD_ARGS", `"${shorten(plain)}" is not a CSS selector.`, "Check the selector.");
  }
  return tests.every((test) => passesCssTest(element, test, scope, scores));
}

function passesCssTest(element, { name, argument }, scope, scores) {
  const text = () => {
    if (!/^\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*$/s.test(argument)) fail("BAD_ARGS", `"${name}" engine expects a single string`, "Put the text in quotes.");
    return unquoteCss(argument);
  };
  switch (name) {
    case "visible":
      return isShown(element);
    case "has-text":
      return !UNMATCHED_TAGS.has(element.localName) && textMatcher(text(), false)(matchText(element));
    case "text":
      return isSmallestMatch(element, textMatcher(text(), false));
    case "text-is": {
      const wanted = plainMatchText(text()).plain;
      const runs = UNMATCHED_TAGS.has(element.localName) || element.closest("head") !== null ? null : textRuns(element);
      return runs !== null && ((wanted === "" && runs.length === 0) || runs.some((run) => plainMatchText(run).plain === wanted));
    }
    case "text-matches": {
      const [, pattern, flags = '""'] = /^\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(?:,\s*(.*))?$/s.exec(argument) ?? [null, argument];
      return isSmallestMatch(element, textMatcher({ re: unquoteCss(pattern, true), flags: unquoteCss(flags) }, false));
    }
    case "nth-match":
      return nthMatch(argument, scope) === element;
    case "has":
      return findByChainCss(argument, element, rootsOfChain(element, knownRoots())).length > 0;
    case "not":
      return !matchesAnyCompound(element, argument, scope);
    case "is":
    case "where":
      return matchesAnyCompound(element, argument, scope);
    default:
      return isPlaced(element, name, argument, scope, scores);
  }
}

/** `:nth-match(a, b, 2)`: the second of the elements that match the list. */
function nthMatch(argument, scope) {
  const at = argument.lastIndexOf(",");
  if (at < 0 || argument.slice(0, at).trim() === "") fail("BAD_ARGS", '"nth-match" engine expects non-empty selector list and an index argument', "Write :nth-match(selector, 1).");
  const index = Number(argument.slice(at + 1));
  if (!(index >= 1)) fail("BAD_ARGS", '"nth-match" engine expects a one-based index as the last argument', "Write :nth-match(selector, 1).");
  return findByChainCss(argument.slice(0, at), scope, rootsOfChain(scope, knownRoots())).sort(compareLightFirst)[index - 1];
}

/** How far the places of two elements are apart; undefined when one is not placed so. */
function placeScore(name, box, other, most) {
  const outside = (...gaps) => gaps.reduce((sum, gap) => sum + Math.max(gap, 0), 0);
  if (name === "near") {
    const score = outside(box.left - other.right, other.left - box.right, other.top - box.bottom, box.top - other.bottom);
    return score > (most ?? 50) ? undefined : score;
  }
  const distance = { "right-of": box.left - other.right, "left-of": other.left - box.right, above: other.top - box.bottom, below: box.top - other.bottom }[name];
  if (distance < 0 || (most !== undefined && distance > most)) return undefined;
  const isSide = name === "right-of" || name === "left-of";
  return distance + (isSide ? outside(other.bottom - box.bottom, box.top - other.top) : outside(box.left - other.left, other.right - box.right));
}

/** `:right-of(selector, pixels)` and the others. Keeps the score of the element. */
function isPlaced(element, name, argument, scope, scores) {
  const [, list, pixels] = /^(.*?)(?:,\s*(\d+(?:\.\d+)?)\s*)?$/s.exec(argument);
  if (/^\s*[\d.]*\s*$/.test(list)) fail("BAD_ARGS", `"${name}" engine expects a selector list and optional maximum distance in pixels`, `Write :${name}(selector).`);
  const box = element.getBoundingClientRect();
  let best;
  for (const other of findByChainCss(list, document, rootsOfChain(document, knownRoots()))) {
    if (other === element) continue;
    const score = placeScore(name, box, other.getBoundingClientRect(), pixels === undefined ? undefined : Number(pixels));
    if (score !== undefined && (best === undefined || score < best)) best = score;
  }
  if (best !== undefined) scores?.set(element, Math.min(best, scores.get(element) ?? Infinity));
  return best !== undefined;
}

function matchesAnyCompound(element, selector, scope) {
  return parseCompounds(selector).some((steps) => matchesCompound(element, steps.at(-1).compound, scope) && matchesChainSteps(element, steps, steps.length - 1, scope));
}

/** Whether the element, which matches the compound `at`, also satisfies those before it. */
function matchesChainSteps(element, steps, at, scope) {
  if (at === 0) return true;
  // Elements around the scope do not count; for a selector that names it, those around its parent.
  const limit = scope === document ? null : namesScope(steps) ? parentInDocument(scope) : scope;
  const isInside = (node) => limit === null || (node !== limit && isWithin(node, limit));
  const fits = (node) => isInside(node) && matchesCompound(node, steps[at - 1].compound, scope) && matchesChainSteps(node, steps, at - 1, scope);
  switch (steps[at].combinator) {
    case ">": {
      const parent = parentInDocument(element);
      return parent !== null && fits(parent);
    }
    case "+":
      return element.previousElementSibling !== null && fits(element.previousElementSibling);
    case "~":
      for (let node = element.previousElementSibling; node !== null; node = node.previousElementSibling) if (fits(node)) return true;
      return false;
    default:
      for (let node = parentInDocument(element); node !== null; node = parentInDocument(node)) if (fits(node)) return true;
      return false;
  }
}

/** The parent element, or the host of the shadow root. */
function parentInDocument(element) {
  return element.parentElement ?? element.getRootNode().host ?? null;
}

/** The text in quotes. In a pattern, a backslash before a letter is part of the pattern. */
function unquoteCss(text, isPattern = false) {
  const trimmed = text.trim();
  const inner = /^"(.*)"$/s.exec(trimmed) ?? /^'(.*)'$/s.exec(trimmed);
  if (inner === null) return trimmed;
  if (isPattern) return inner[1].replace(/\\(.)/gs, "$1");
  return inner[1].replace(/\\([0-9a-fA-F]{1,6})\s?|\\(.)/gs, (_, code, letter) => letter ?? String.fromCodePoint(Number.parseInt(code, 16)));
}
