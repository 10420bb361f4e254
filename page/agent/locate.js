// Finding the elements that a target names: by ref, CSS, text, role, label, placeholder, test id or XPath. Knows
// nothing of whether they can be acted on.

const MATCHES_LISTED = 10;
const TEST_ATTRIBUTES = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy"];

/** The elements a target names, in the order of the page; hidden ones only when there are no others. */
function locate(spec, scope = document) {
  if (spec.key !== undefined) return [byRef(spec)];
  let found = scope === document ? inPass(() => matchesOf(spec, knownRoots())) : [];
  // A shadow root can come to an element that was there before, which the known roots do not tell.
  if (found.length === 0) found = inPass(() => matchesOf(spec, rootsBelow(scope)));
  const shown = found.length > 1 ? found.filter(isShown) : found;
  const kept = shown.length > 0 ? shown : found;
  return isOneTree(kept) && spec.label === undefined ? kept : kept.sort(comparePlaces);
}

function matchesOf(spec, roots) {
  if (spec.css !== undefined) return findByCss(spec.css, roots);
  if (spec.text !== undefined) return closest(findByText(spec.text, spec.exact === true, roots), spec.text, (element) => textsOf(element));
  if (spec.role !== undefined) return findByRole(spec, roots);
  if (spec.label !== undefined) return findByLabel(spec.label, spec.exact, roots);
  if (spec.placeholder !== undefined) return findByPlaceholder(spec.placeholder, spec.exact, roots);
  if (spec.testid !== undefined) return findByTestId(spec.testid, roots);
  if (spec.xpath !== undefined) return findByXPath(spec.xpath, roots);
  return fail("BAD_ARGS", "The target says nothing to look for.", "Give a ref, a CSS selector, or `text=`, `role=`, `label=`, `placeholder=`, `testid=`, `xpath=`.");
}

/** The element of a ref; never another one. */
function byRef({ key, document: name }) {
  const element = name === undefined || name === agent.document ? elementOf(key) : null;
  if (element === null) fail("REF_EXPIRED", "The element of this ref is no longer on the page.", "Take a new snapshot and use a ref from it.", { key });
  return element;
}

/** Of matches by a part of a text, those that match as a whole, if there are any. */
function closest(found, wanted, texts) {
  if (found.length < 2) return found;
  const whole = plainLabel(wanted);
  const exact = found.filter((element) => texts(element).some((text) => plainLabel(text) === whole));
  return exact.length > 0 ? exact : found;
}

/** Folded, lower case, without the marks that labels end in. */
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
  // Names are dear: first those that can have it, and only if there are none, all.
  const likely = named(ofRole.filter((element) => mayBeNamed(element, name)));
  const found = likely.length > 0 ? likely : named(ofRole);
  return nameExact ? found : closest(found, name, (element) => [nameOf(element)]);
}

/** Whether the element can have the name; wrong only for names that style sheets write. */
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

/** Whether a text has the words in it, or is exactly the words. */
function wordsFit(words, exact) {
  return exact ? (text) => foldText(text) === foldText(words) : (text) => includesText(text, words);
}

/** Controls by their labels: from the labels to the controls, because the other way costs a walk for each control. */
function findByLabel(words, exact, roots) {
  const fits = wordsFit(words, exact);
  const found = new Set();
  for (const root of roots) {
    for (const label of root.querySelectorAll("label")) if (label.control && fits(labelText(label))) found.add(label.control);
    for (const element of root.querySelectorAll("[aria-label], [aria-labelledby]")) {
      if (!found.has(element) && ariaLabelsOf(element).some(fits)) found.add(element);
    }
  }
  return closest([...found], words, labelsOf);
}

function findByPlaceholder(words, exact, roots) {
  const fits = wordsFit(words, exact);
  const found = [];
  for (const root of roots) {
    for (const element of root.querySelectorAll(PLACEHOLDING)) if (placeholdersOf(element).some(fits)) found.push(element);
  }
  return closest(found, words, placeholdersOf);
}

/** The texts that label the element, each on its own. */
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

/** A label's text without that of the control inside it, such as the options of a list. */
function labelText(label) {
  if (label.querySelector("select, textarea, button") === null) return label.textContent;
  const walker = label.ownerDocument.createTreeWalker(label, NodeFilter.SHOW_TEXT);
  let text = "";
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest("select, textarea, button") === null) text += node.data;
  }
  return text;
}

const PLACEHOLDING = "[placeholder], [aria-placeholder], [data-placeholder]";

function placeholdersOf(element) {
  return ["placeholder", "aria-placeholder", "data-placeholder"].map((name) => element.getAttribute(name) ?? "");
}

function findByTestId(id, roots) {
  for (const attribute of TEST_ATTRIBUTES) {
    const selector = `[${attribute}="${CSS.escape(id)}"]`;
    const found = roots.flatMap((root) => [...root.querySelectorAll(selector)]);
    if (found.length > 0) return found;
  }
  return [];
}

/** XPath sees documents, not shadow roots. */
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
      fail("BAD_ARGS", `"${shorten(xpath)}" is not an XPath that finds elements.`, `The browser says: ${shorten(String(error.message ?? error))}`);
    }
  }
  return [...new Set(found)];
}

/** An element in the words of a message or a list. */
function describeElement(element) {
  return { key: keyOf(element), role: roleOf(element) || "generic", name: shorten(nameOf(element), 80), text: summaryText(element), tag: element.localName };
}

/** The same as a phrase: `button "Pay"`. */
function phrase(element) {
  const role = roleOf(element);
  const name = shorten(nameOf(element) || summaryText(element), 60);
  const noun = role && role !== "generic" ? role : element.localName;
  return name === "" ? noun : `${noun} ${quoted(name)}`;
}

/** A page's text in quotes that nothing in it can end. */
function quoted(text) {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A target in words, as it was given. */
function phraseOfSpec(spec) {
  if (spec.css !== undefined) return `"${shorten(spec.css)}"`;
  if (spec.role !== undefined) return `role=${spec.role}${spec.name === undefined ? "" : `[name="${shorten(spec.name)}"]`}`;
  const kind = ["text", "label", "placeholder", "testid", "xpath"].find((name) => spec[name] !== undefined);
  return kind === undefined ? "the ref" : `${kind}="${shorten(spec[kind])}"`;
}

function scopeOf(within) {
  return within === undefined || within === null ? document : byRef({ key: within });
}

/** What a target names: at most ten of the matches, and how many there are. */
agent.locate = ({ spec, within }) => {
  const found = locate(spec, scopeOf(within));
  for (const element of found.slice(0, MATCHES_LISTED)) rememberBox(element);
  return { document: documentName, matches: found.slice(0, MATCHES_LISTED).map(describeElement), total: found.length };
};
