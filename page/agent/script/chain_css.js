// CSS selectors of scripts, with Playwright's pseudo-classes: `:has-text`, `:text`, `:text-is`, `:text-matches`,
// `:visible` and `:nth-match`.

const CSS_EXTENSION = /:(?:has-text|text|text-is|text-matches|visible|nth-match)(?![\w-])/;
const CSS_FUNCTIONS = /^:(has-text|text-is|text-matches|text|visible|nth-match|has|is|not|where)(?![\w-])/;

function findByChainCss(selector, scope, roots) {
  const relative = /^\s*[>+~]/.test(selector) ? `:scope ${selector}` : selector;
  if (!CSS_EXTENSION.test(relative)) return findByCss(relative, roots).filter((element) => element !== scope);
  const nth = /^:nth-match\((.*),\s*(\d+)\)$/s.exec(relative.trim());
  if (nth !== null) return findByChainCss(nth[1], scope, roots).slice(nth[2] - 1, nth[2]);
  const lists = parseCompounds(relative);
  const found = [];
  for (const element of chainCandidates(scope, roots)) {
    if (lists.some((steps) => matchesCompound(element, steps.at(-1).compound, scope) && matchesChainSteps(element, steps, steps.length - 1, scope))) found.push(element);
  }
  return found;
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
    if (name === undefined || (["has", "is", "not", "where"].includes(name) && !CSS_EXTENSION.test(argument))) plain += compound.slice(at, end);
    else tests.push({ name, argument });
    at = end;
  }
  return { plain: plain === "" ? "*" : plain, tests };
}

function matchesCompound(element, { plain, tests }, scope) {
  try {
    if (plain === ":scope" ? element !== scope : !element.matches(plain)) return false;
  } catch {
    fail("BAD_ARGS", `"${shorten(plain)}" is not a CSS selector.`, "Check the selector.");
  }
  return tests.every((test) => passesCssTest(element, test, scope));
}

function passesCssTest(element, { name, argument }, scope) {
  const text = () => unquoteCss(argument);
  switch (name) {
    case "visible":
      return isShown(element);
    case "has-text":
      return textMatcher(text(), false)(matchText(element));
    case "text":
      return isSmallestMatch(element, textMatcher(text(), false));
    case "text-is":
      return isSmallestMatch(element, textMatcher(text(), true));
    case "text-matches": {
      const [, pattern, flags = '""'] = /^\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(?:,\s*(.*))?$/s.exec(argument) ?? [null, argument];
      return isSmallestMatch(element, textMatcher({ re: unquoteCss(pattern), flags: unquoteCss(flags) }, false));
    }
    case "has":
      return findByChainCss(argument, element, rootsOfChain(element, knownRoots())).length > 0;
    case "not":
      return !matchesAnyCompound(element, argument, scope);
    default:
      return matchesAnyCompound(element, argument, scope);
  }
}

function matchesAnyCompound(element, selector, scope) {
  return parseCompounds(selector).some((steps) => matchesCompound(element, steps.at(-1).compound, scope) && matchesChainSteps(element, steps, steps.length - 1, scope));
}

/** Whether the element, which matches the compound `at`, also satisfies those before it. */
function matchesChainSteps(element, steps, at, scope) {
  if (at === 0) return true;
  const fits = (node) => matchesCompound(node, steps[at - 1].compound, scope) && matchesChainSteps(node, steps, at - 1, scope);
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

function unquoteCss(text) {
  const trimmed = text.trim();
  const inner = /^"(.*)"$/s.exec(trimmed) ?? /^'(.*)'$/s.exec(trimmed);
  return inner === null ? trimmed : inner[1].replace(/\\(.)/gs, "$1");
}
