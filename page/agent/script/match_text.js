// Text matching of scripts, as in Playwright: the text of an element with its descendants, whitespace folded.

const UNMATCHED_TAGS = new Set(["script", "noscript", "style", "head"]);

/** The text of an element as `{full, plain}`: as written, and with whitespace folded. Kept for one pass. */
function matchText(node, cache = textsOfPass()) {
  const kept = cache.get(node);
  if (kept !== undefined) return kept;
  const full = UNMATCHED_TAGS.has(node.localName) ? "" : node.localName === "input" && node.matches(BUTTON_INPUTS) ? node.value : joinedText(node, cache);
  const text = plainMatchText(full);
  cache.set(node, text);
  return text;
}

function joinedText(node, cache) {
  let full = "";
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) full += child.data;
    else if (child.nodeType === Node.ELEMENT_NODE) full += matchText(child, cache).full;
  }
  const shadow = node.nodeType === Node.ELEMENT_NODE ? shadowRootOf(node) : null;
  return shadow === null ? full : full + joinedText(shadow, cache);
}

function plainMatchText(full) {
  return { full, plain: full.replace(/[\u200b\u00ad]/g, "").trim().replace(/\s+/g, " ") };
}

let passTexts = new WeakMap();
let passOfTexts = null;

/** Texts that were computed in this pass. */
function textsOfPass() {
  if (passOfTexts !== passDisplays || passDisplays === null) passTexts = new WeakMap();
  passOfTexts = passDisplays;
  return passTexts;
}

/** A test of a text: a substring without case, the whole text with case when `exact`, or a pattern. */
function textMatcher(wanted, exact) {
  if (typeof wanted === "object") {
    const test = regexTest(wanted);
    return ({ full }) => test(full);
  }
  const text = plainMatchText(wanted).plain;
  const lower = text.toLowerCase();
  return exact ? ({ plain }) => plain === text : ({ plain }) => plain.toLowerCase().includes(lower);
}

/** The smallest elements whose text matches; the scope itself counts. */
function findByMatchText({ text, exact, runs }, scope, roots) {
  if (runs === true) return findByTextRuns(text, scope, roots);
  const fits = textMatcher(text, exact === true);
  const found = scope.nodeType === Node.ELEMENT_NODE && isSmallestMatch(scope, fits) ? [scope] : [];
  for (const element of chainCandidates(scope, roots)) if (isSmallestMatch(element, fits)) found.push(element);
  return found;
}

/** Elements with a run of own text that equals the text, as `text="..."` in Playwright. */
function findByTextRuns(wanted, scope, roots) {
  const text = plainMatchText(wanted).plain;
  const fits = (element) => {
    if (UNMATCHED_TAGS.has(element.localName) || element.closest("head") !== null) return false;
    const runs = textRuns(element);
    return (text === "" && runs.length === 0) || runs.some((run) => plainMatchText(run).plain === text);
  };
  const found = scope.nodeType === Node.ELEMENT_NODE && fits(scope) ? [scope] : [];
  for (const element of chainCandidates(scope, roots)) if (fits(element)) found.push(element);
  return found;
}

/** The texts between the child elements. */
function textRuns(element) {
  if (element.localName === "input" && element.matches(BUTTON_INPUTS)) return [element.value];
  const runs = [];
  let run = "";
  const close = () => {
    if (run !== "") runs.push(run);
    run = "";
  };
  const read = (nodes) => {
    for (const child of nodes) {
      if (child.nodeType === Node.TEXT_NODE) run += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE) close();
    }
    close();
  };
  read(element.childNodes);
  const shadow = shadowRootOf(element);
  if (shadow !== null) read(shadow.childNodes);
  return runs;
}

function isSmallestMatch(element, fits) {
  if (UNMATCHED_TAGS.has(element.localName) || element.closest("head") !== null || !fits(matchText(element))) return false;
  for (const child of element.children) if (!UNMATCHED_TAGS.has(child.localName) && fits(matchText(child))) return false;
  const shadow = shadowRootOf(element);
  if (shadow === null) return true;
  for (const child of shadow.children) if (!UNMATCHED_TAGS.has(child.localName) && fits(matchText(child))) return false;
  return true;
}
