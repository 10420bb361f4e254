// Locators of scripts, as in Playwright: a chain of steps, each applied to the matches of the step before. Hidden elements
// match too, frames are entered only by a step of their own, and an action needs exactly one match.

/** The matches of a chain, in page order. `scope` is the document, or an element to search below. */
function locateChain(chain, scope = document) {
  return inPass(() => {
    let found = null;
    for (const step of chain) found = applyStep(step, found, scope);
    return found ?? [];
  });
}

function applyStep(step, found, scope) {
  if (step.key !== undefined) return [byRef(step)];
  if (step.nth !== undefined) return found.at(step.nth) === undefined ? [] : [found.at(step.nth)];
  if (step.visible !== undefined) return found.filter((element) => isShown(element) === step.visible);
  if (step.filter !== undefined) return found.filter((element) => passesFilter(element, step.filter));
  if (step.and !== undefined) {
    const others = new Set(locateChain(step.and, scope));
    return found.filter((element) => others.has(element));
  }
  if (step.or !== undefined) return [...new Set([...found, ...locateChain(step.or, scope)])].sort(comparePageOrder);
  const all = new Set();
  for (const one of found ?? [scope]) for (const element of matchesBelow(step, one)) all.add(element);
  const list = [...all];
  return (found?.length ?? 1) > 1 || !isOneTree(list) ? list.sort(comparePageOrder) : list;
}

function passesFilter(element, { hasText, hasNotText, has, hasNot, visible }) {
  if (hasText !== undefined && !textMatcher(hasText, false)(matchText(element))) return false;
  if (hasNotText !== undefined && textMatcher(hasNotText, false)(matchText(element))) return false;
  if (has !== undefined && locateChain(has, element).length === 0) return false;
  if (hasNot !== undefined && locateChain(hasNot, element).length > 0) return false;
  return visible === undefined || isShown(element) === visible;
}

function matchesBelow(step, scope) {
  const roots = rootsOfChain(scope, knownRoots());
  const found = matchesInRoots(step, scope, roots);
  if (found.length > 0) return found;
  // A page can attach a shadow root to an existing element, which `knownRoots` does not notice.
  const scanned = rootsOfChain(scope, rootsBelow(document));
  return scanned.length === roots.length ? found : matchesInRoots(step, scope, scanned);
}

/** The scope and the shadow roots below it, without documents of frames. */
function rootsOfChain(scope, known) {
  const shadows = known.filter((root) => root.host !== undefined && root.ownerDocument === document);
  return [scope, ...(scope === document ? shadows : shadows.filter((root) => isWithin(root.host, scope)))];
}

function matchesInRoots(step, scope, roots) {
  if (step.css !== undefined) return findByChainCss(step.css, scope, roots);
  if (step.xpath !== undefined) return findByXPath(step.xpath, scope === document ? [document] : [scope]);
  if (step.text !== undefined) return findByMatchText(step, scope, roots);
  if (step.role !== undefined) return findByChainRole(step, scope, roots);
  if (step.label !== undefined) return findByChainLabel(step, scope, roots);
  if (step.attribute !== undefined) return findByAttribute(step, roots);
  return fail("BAD_ARGS", "A step of the locator is unknown.", "Use the locators of the script API.");
}

/** Elements below the scope, without the scope itself. */
function* chainCandidates(scope, roots) {
  for (const element of elementsIn(roots)) if (element !== scope) yield element;
}

function findByChainRole({ role, name, exact, includeHidden, states }, scope, roots) {
  const fits = name === undefined ? null : textMatcher(name, exact === true);
  const found = [];
  for (const element of chainCandidates(scope, roots)) {
    if (roleOf(element) !== role || !hasChainStates(element, states)) continue;
    if (includeHidden !== true && !isExposed(element)) continue;
    if (fits === null || fits(plainMatchText(nameOf(element)))) found.push(element);
  }
  return found;
}

function hasChainStates(element, wanted = {}) {
  const names = Object.keys(wanted);
  if (names.length === 0) return true;
  const states = statesOf(element);
  return names.every((name) => {
    const is = name === "disabled" ? isDisabled(element) : (states[name] ?? false);
    return String(is) === String(wanted[name]);
  });
}

/** Elements whose label matches: `aria-labelledby`, `aria-label`, or a `label` element. */
function findByChainLabel({ label, exact }, scope, roots) {
  const fits = textMatcher(label, exact === true);
  const found = new Set();
  for (const root of roots) {
    for (const one of root.querySelectorAll("label")) if (one.control && fits(matchText(one))) found.add(one.control);
    for (const one of root.querySelectorAll("[aria-label], [aria-labelledby]")) {
      if (ariaLabelsOf(one).some((text) => fits(plainMatchText(text)))) found.add(one);
    }
  }
  found.delete(scope);
  return [...found].sort(comparePageOrder);
}

function findByAttribute({ attribute, value, exact }, roots) {
  const fits = attributeMatcher(value, exact === true);
  const selector = `[${CSS.escape(attribute)}]`;
  return roots.flatMap((root) => [...root.querySelectorAll(selector)]).filter((element) => fits(element.getAttribute(attribute)));
}

function attributeMatcher(value, exact) {
  if (typeof value === "object") return regexTest(value);
  return exact ? (text) => text === value : (text) => text.toLowerCase().includes(value.toLowerCase());
}

function regexTest({ re, flags }) {
  const pattern = new RegExp(re, flags.replace(/[gy]/g, ""));
  return (text) => pattern.test(text);
}

/** A short picture of an element's tag, for the list of matches in an error. */
function previewOf(element) {
  const attributes = Array.from(element.attributes, ({ name, value }) => (value === "" ? name : `${name}="${shorten(name === "value" && isSecret(element) ? MASK : value, 40)}"`));
  const tag = element.localName;
  const text = shorten(foldText(element.textContent), 50);
  return `<${[tag, ...attributes].join(" ").slice(0, 200)}>${text === "" && element.childElementCount > 0 ? "…" : text}</${tag}>`;
}

/** Fails because a chain has several matches, where one is needed. */
function failStrict(found) {
  const lines = found.slice(0, MAX_LISTED).map((element, at) => `    ${at + 1}) ${previewOf(element)}`);
  fail("AMBIGUOUS", `strict mode violation: the locator resolved to ${found.length} elements:\n${lines.join("\n")}`,
    "Make the locator more specific, or use first(), last() or nth().", { strict: true, count: found.length });
}
