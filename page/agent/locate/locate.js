// Finds the elements that a target names: by ref, CSS, text, role, label, placeholder, test id or XPath.

const MAX_LISTED = 10;
const TEST_ATTRIBUTES = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];

/** The elements that match a target, in page order; hidden ones only when nothing visible matches. */
function locate(spec, scope = document) {
  if (spec.key !== undefined) return [byRef(spec)];
  if (spec.chain !== undefined) return locateChain(spec.chain, scope);
  let found = scope === document ? inPass(() => matchesOf(spec, knownRoots())) : [];
  // A page can attach a shadow root to an existing element. That does not change the element count that `knownRoots`
  // checks.
  if (found.length === 0) found = inPass(() => matchesOf(spec, rootsBelow(scope)));
  const shown = found.length > 1 ? found.filter(isShown) : found;
  const kept = shown.length > 0 ? shown : found;
  return isOneTree(kept) && spec.label === undefined ? kept : kept.sort(comparePageOrder);
}

function matchesOf(spec, roots) {
  if (spec.css !== undefined) return findByCss(spec.css, roots);
  if (spec.text !== undefined) return exactFirst(findByText(spec.text, spec.exact === true, roots), spec.text, (element) => textsOf(element));
  if (spec.role !== undefined) return findByRole(spec, roots);
  if (spec.label !== undefined) return findByLabel(spec.label, spec.exact, roots);
  if (spec.placeholder !== undefined) return findByPlaceholder(spec.placeholder, spec.exact, roots);
  if (spec.title !== undefined) return findByTitle(spec.title, spec.exact, roots);
  if (spec.testid !== undefined) return findByTestId(spec.testid, roots);
  if (spec.xpath !== undefined) return findByXPath(spec.xpath, roots);
  return fail("BAD_ARGS", "The target is empty.", "Use a ref, a CSS selector, or `text=`, `role=`, `label=`, `placeholder=`, `title=`, `testid=`, `xpath=`.");
}

/** The element of a ref. Fails when it is gone. */
function byRef({ key, document: name }) {
  const element = name === undefined || name === agent.document ? elementOf(key) : null;
  if (element === null) fail("REF_EXPIRED", "The element of this ref is no longer on the page.", takeNewSnapshot(), { key });
  return element;
}

/** Narrows substring matches to the exact ones, if there are any. */
function exactFirst(found, wanted, texts) {
  if (found.length < 2) return found;
  const whole = plainLabel(wanted);
  const exact = found.filter((element) => texts(element).some((text) => plainLabel(text) === whole));
  return exact.length > 0 ? exact : found;
}

/** Folded, lower case, without trailing colons and asterisks. */
function plainLabel(text) {
  return foldText(text).toLowerCase().replace(/[\s:*]+$/, "");
}

function includesText(text, wanted) {
  return foldText(text).toLowerCase().includes(foldText(wanted).toLowerCase());
}

function* elementsIn(roots) {
  for (const root of roots) {
    if (root.nodeType === Node.ELEMENT_NODE) yield root;
    const walker = (root.ownerDocument ?? root).createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let element = walker.nextNode(); element !== null; element = walker.nextNode()) yield element;
  }
}

function findByRole({ role, name, nameExact, states }, roots) {
  const ofRole = [];
  for (const element of elementsIn(roots)) if (roleOf(element) === role && hasStates(element, states)) ofRole.push(element);
  if (name === undefined) return ofRole.filter(isExposed);
  const fits = nameExact ? (given) => given === foldText(name) : (given) => includesText(given, name);
  const named = (elements) => elements.filter((element) => fits(nameOf(element)) && isExposed(element));
  // Computing a name is slow: try likely elements first.
  const likely = named(ofRole.filter((element) => mayBeNamed(element, name)));
  const found = likely.length > 0 ? likely : named(ofRole);
  return nameExact ? found : exactFirst(found, name, (element) => [nameOf(element)]);
}

/** Whether the element can have the name. Wrong only for names that come from style sheets. */
function mayBeNamed(element, name) {
  if (element.childElementCount > 0 || shadowRootOf(element) !== null || !NAMED_BY_CONTENT.has(roleOf(element))) return true;
  for (const attribute of element.getAttributeNames()) if (NAMING_ATTRIBUTES.has(attribute)) return true;
  return element.localName === "input" || includesText(element.textContent, name);
}

const NAMING_ATTRIBUTES = new Set(["aria-label", "aria-labelledby", "title", "alt", "placeholder", "label"]);

function hasStates(element, wanted) {
  if (!wanted || Object.keys(wanted).length === 0) return true;
  const states = statesOf(element);
  return Object.entries(wanted).every(([state, value]) => String(states[state] ?? false) === String(value));
}

/** A predicate for text that contains `words`, or equals them when `exact`. */
function textPredicate(words, exact) {
  return exact ? (text) => foldText(text) === foldText(words) : (text) => includesText(text, words);
}

/**
 * Controls by their labels. Goes from labels to controls: the other direction would search the document for each
 * control.
 */
function findByLabel(words, exact, roots) {
  const fits = textPredicate(words, exact);
  const found = new Set();
  for (const root of roots) {
    for (const label of root.querySelectorAll("label")) if (label.control && fits(labelText(label))) found.add(label.control);
    for (const element of root.querySelectorAll("[aria-label], [aria-labelledby]")) {
      if (!found.has(element) && ariaLabelsOf(element).some(fits)) found.add(element);
    }
  }
  return exactFirst([...found], words, labelsOf);
}

function findByPlaceholder(words, exact, roots) {
  const fits = textPredicate(words, exact);
  const found = [];
  for (const root of roots) {
    for (const element of root.querySelectorAll(WITH_PLACEHOLDER)) if (placeholdersOf(element).some(fits)) found.push(element);
  }
  return exactFirst(found, words, placeholdersOf);
}

function labelsOf(element) {
  return [...ariaLabelsOf(element), ...Array.from(element.labels ?? [], labelText)];
}

function ariaLabelsOf(element) {
  const texts = [];
  const referenced = element.ariaLabelledByElements;
  if (referenced?.length > 0) texts.push(referenced.map((part) => part.textContent).join(" "));
  const given = element.getAttribute("aria-label");
  if (given) texts.push(given);
  return texts;
}

/** The text of a label without that of a control inside it, such as the options of a select. */
function labelText(label) {
  if (label.querySelector("select, textarea, button") === null) return label.textContent;
  const walker = label.ownerDocument.createTreeWalker(label, NodeFilter.SHOW_TEXT);
  let text = "";
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest("select, textarea, button") === null) text += node.data;
  }
  return text;
}

const WITH_PLACEHOLDER = "[placeholder], [aria-placeholder], [data-placeholder]";

function placeholdersOf(element) {
  return ["placeholder", "aria-placeholder", "data-placeholder"].map((name) => element.getAttribute(name) ?? "");
}

function findByTitle(words, exact, roots) {
  const fits = textPredicate(words, exact);
  const found = [];
  for (const root of roots) {
    for (const element of root.querySelectorAll("[title]")) if (fits(element.title)) found.push(element);
  }
  return exactFirst(found, words, (element) => [element.title]);
}

function findByTestId(id, roots) {
  for (const attribute of TEST_ATTRIBUTES) {
    const selector = `[${attribute}="${CSS.escape(id)}"]`;
    const found = roots.flatMap((root) => [...root.querySelectorAll(selector)]);
    if (found.length > 0) return found;
  }
  return [];
}

/** XPath does not see shadow roots. */
function findByXPath(xpath, roots) {
  const found = [];
  for (const root of roots) {
    if (root.nodeType === Node.DOCUMENT_FRAGMENT_NODE) continue;
    const owner = root.ownerDocument ?? root;
    try {
      const result = owner.evaluate(xpath, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      for (let at = 0; at < result.snapshotLength; at++) {
        const node = result.snapshotItem(at);
        const element = node.nodeType === Node.ELEMENT_NODE ? node : (node.ownerElement ?? node.parentElement);
        if (element) found.push(element);
      }
    } catch (error) {
      fail("BAD_ARGS", `"${shorten(xpath)}" is not an XPath for elements.`, `The browser reports: ${shorten(String(error.message ?? error))}`);
    }
  }
  return [...new Set(found)];
}

/** An element as data for a message or a list. */
function describeElement(element) {
  return { key: keyOf(element), role: roleOf(element) || "generic", name: shorten(nameOf(element), 80), text: summaryText(element), tag: element.localName };
}

/** Roles that say nothing about an element. */
const EMPTY_ROLES = new Set(["", "generic", "none", "presentation"]);

/**
 * Role and name of an element as a snapshot writes them. An element without a role is `clickable`, or has its tag where
 * nothing shows that it is; the name of such an element is its text.
 */
function shownNames(element) {
  const role = roleOf(element);
  const isEmpty = EMPTY_ROLES.has(role);
  const text = isEmpty || NAMED_BY_TEXT_ROLES.has(role) ? summaryText(element) : "";
  const shown = !isEmpty ? role : isClickable(element) ? "clickable" : element.localName;
  return { role: shown, name: shorten(foldText(nameOf(element)) || text || foldText(element.getAttribute("title") ?? "")) };
}

function isClickable(element) {
  return element.matches("[onclick], [onmousedown], [onpointerdown], [tabindex], [draggable=true]") || isListening(element) || styleOf(element).cursor === "pointer";
}

/** An element as a phrase: `button "Pay"`. */
function phrase(element) {
  const role = roleOf(element);
  const name = shorten(nameOf(element) || summaryText(element), 60);
  const noun = EMPTY_ROLES.has(role) ? element.localName : role;
  return name === "" ? noun : `${noun} ${quoted(name)}`;
}

/** Page text in quotes, with its own quotes escaped. */
function quoted(text) {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A target as a phrase, in the form the caller wrote. */
function phraseOfSpec(spec) {
  if (spec.chain !== undefined) return "the locator";
  if (spec.css !== undefined) return `"${shorten(spec.css)}"`;
  if (spec.role !== undefined) return `role=${spec.role}${spec.name === undefined ? "" : `[name="${shorten(spec.name)}"]`}`;
  const kind = ["text", "label", "placeholder", "title", "testid", "xpath"].find((name) => spec[name] !== undefined);
  return kind === undefined ? "the ref" : `${kind}="${shorten(spec[kind])}"`;
}

function scopeOf(within) {
  return within === undefined || within === null ? document : byRef({ key: within });
}

/** The first matches of a target and how many there are. */
agent.locate = ({ spec, within }) => {
  const found = locate(spec, scopeOf(within));
  for (const element of found.slice(0, MAX_LISTED)) recordBox(element);
  return { document: documentName, matches: found.slice(0, MAX_LISTED).map(describeElement), total: found.length };
};
