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
  if (step.problem !== undefined) fail("BAD_ARGS", step.problem);
  if (step.key !== undefined) return [byRef(step)];
  if (step.nth !== undefined) return found.at(step.nth) === undefined ? [] : [found.at(step.nth)];
  if (step.visible !== undefined) return found.filter((element) => isShown(element) === step.visible);
  if (step.filter !== undefined) return found.filter((element) => passesFilter(element, step.filter));
  if (step.and !== undefined) {
    const others = new Set(locateChain(step.and, scope));
    return found.filter((element) => others.has(element));
  }
  if (step.or !== undefined) return [...new Set([...found, ...locateChain(step.or, scope)])].sort(compareLightFirst);
  const all = new Set();
  for (const one of found ?? [scope]) for (const element of matchesBelow(step, one)) all.add(element);
  const list = [...all];
  return (found?.length ?? 1) > 1 || !isOneTree(list) ? list.sort(compareLightFirst) : list;
}

/** Page order in which the children of an element come before those of its shadow root, as in Playwright. */
function compareLightFirst(left, right) {
  const path = (element) => {
    const above = [];
    for (let at = element; at !== null; at = parentInDocument(at)) above.push(at);
    return above.reverse();
  };
  const [first, second] = [path(left), path(right)];
  let at = 0;
  while (at < first.length && at < second.length && first[at] === second[at]) at++;
  if (at === first.length || at === second.length) return first.length - second.length;
  const place = first[at].compareDocumentPosition(second[at]);
  if ((place & Node.DOCUMENT_POSITION_DISCONNECTED) !== 0) return first[at].getRootNode().host === first[at - 1] ? 1 : -1;
  return (place & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 ? -1 : 1;
}

function passesFilter(element, { hasText, hasNotText, has, hasNot, visible }) {
  if (hasText !== undefined && !textMatcher(hasText, false)(matchText(element))) return false;
  if (hasNotText !== undefined && textMatcher(hasNotText, false)(matchText(element))) return false;
  if (has !== undefined && locateChain(has, element).length === 0) return false;
  if (hasNot !== undefined && locateChain(hasNot, element).length > 0) return false;
  return visible === undefined || isShown(element) === visible;
}

function matchesBelow(step, scope) {
  if (step.chain !== undefined) return locateChain(step.chain, scope);
  if (step.light === true) return matchesInRoots(step, scope, [scope]);
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
  if (step.xpath !== undefined) return findByXPath(scope !== document && step.xpath.startsWith("/") ? `.${step.xpath}` : step.xpath, [scope]);
  if (step.text !== undefined) return findByMatchText(step, scope, roots);
  if (step.role !== undefined) return findByChainRole(step, scope, roots);
  if (step.label !== undefined) return findByChainLabel(step, scope, roots);
  if (step.attribute !== undefined) return findByAttribute(step, scope, roots);
  return fail("BAD_ARGS", "A step of the locator is unknown.", "Use the locators of the script API.");
}

/** Elements below the scope, without the scope itself. */
function* chainCandidates(scope, roots) {
  for (const element of elementsIn(roots)) if (element !== scope) yield element;
}

function findByChainRole({ role, name, exact, description, exactDescription, includeHidden, states }, scope, roots) {
  const fits = name === undefined ? null : textMatcher(name, exact === true);
  const describes = description === undefined ? null : textMatcher(description, exactDescription === true);
  const found = [];
  for (const element of chainCandidates(scope, roots)) {
    if (chainRoleOf(element) !== role || !hasChainStates(element, role, states)) continue;
    if (includeHidden !== true && (!isExposed(element) || isOptionLeftOut(element))) continue;
    if (fits !== null && !fits(foldedText(nameOf(element)))) continue;
    if (describes === null || describes(foldedText(descriptionOf(element) ?? ""))) found.push(element);
  }
  return found;
}

/** The role by which scripts find an element. An item counts outside of its list too, as in Playwright. */
function chainRoleOf(element) {
  const role = roleOf(element);
  if (role !== "generic" && role !== "") return role;
  const [given] = (element.getAttribute("role") ?? "").trim().toLowerCase().split(/\s+/);
  return given in CONTEXTS ? given : role;
}

/** Whether `display: none` hides an option; options of a closed drop-down have no boxes of their own. */
function isOptionLeftOut(element) {
  return element.localName === "option" && getComputedStyle(element).display === "none";
}

/** A text that a pattern, too, sees with its whitespace folded. */
function foldedText(text) {
  const { plain } = plainMatchText(text);
  return { full: plain, plain };
}

function hasChainStates(element, role, wanted = {}) {
  const names = Object.keys(wanted);
  if (names.length === 0) return true;
  const states = statesOf(element, role);
  return names.every((name) => {
    // An element without `aria-expanded` is neither expanded nor collapsed.
    const is = name === "disabled" ? isDisabled(element) : name === "expanded" ? states.expanded : (states[name] ?? false);
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
  return [...found].sort(compareLightFirst);
}

function findByAttribute({ attribute, value, exact }, scope, roots) {
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

const FLAG_ATTRIBUTES = new Set(["checked", "selected", "disabled", "readonly", "multiple"]);

/** A short picture of an element on one line, as Playwright writes it in logs. */
function previewOf(element) {
  const shown = ({ name, value }) => (value === "" && FLAG_ATTRIBUTES.has(name) ? ` ${name}` : ` ${name}="${name === "value" && isSecret(element) ? MASK : value}"`);
  const attributes = shorten(Array.from(element.attributes).filter(({ name }) => name !== "style").map(shown).sort((one, other) => one.length - other.length).join(""), 500);
  const tag = element.localName;
  const oneLine = (text) => text.replace(/\n/g, "↵").replace(/\t/g, "⇆");
  if (VOID_TAGS.has(tag)) return oneLine(`<${tag}${attributes}/>`);
  const children = element.childNodes;
  const isText = children.length <= 5 && Array.from(children).every((child) => child.nodeType === Node.TEXT_NODE);
  const text = isText ? (element.textContent ?? "") : children.length > 0 ? "…" : "";
  return oneLine(`<${tag}${attributes}>${shorten(text, 50)}</${tag}>`);
}

/** Fails because a chain has several matches, where one is needed. */
function failStrict(found) {
  const lines = found.slice(0, MAX_LISTED).map((element, at) => `    ${at + 1}) ${previewOf(element)} aka ${locatorOf(element)}`);
  fail("AMBIGUOUS", `strict mode violation: the locator resolved to ${found.length} elements:\n${lines.join("\n")}`,
    "Make the locator more specific, or use first(), last() or nth().", { strict: true, count: found.length });
}
