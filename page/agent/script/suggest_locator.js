// The locator that names one element, for errors of strict mode.

/** Longest text or name in a suggested locator. */
const SUGGESTED_TEXT = 80;

const literal = (text) => `'${text.replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\n/g, "\\n")}'`;
const isShortText = (text) => text !== null && text !== undefined && text !== "" && text.length <= SUGGESTED_TEXT;

/** Locators that may name the element, the best first, as `[steps, text]`. */
function* locatorCandidates(element) {
  const testId = element.getAttribute("data-testid");
  if (isShortText(testId)) yield [[{ attribute: "data-testid", value: testId, exact: true }], `getByTestId(${literal(testId)})`];
  const role = roleOf(element);
  const hasRole = role && role !== "generic" && role !== "none" && role !== "presentation";
  const name = hasRole ? plainMatchText(nameOf(element)).plain : "";
  if (isShortText(name)) {
    yield [[{ role, name }], `getByRole(${literal(role)}, { name: ${literal(name)} })`];
    yield [[{ role, name, exact: true }], `getByRole(${literal(role)}, { name: ${literal(name)}, exact: true })`];
  }
  for (const [attribute, method] of [["placeholder", "getByPlaceholder"], ["alt", "getByAltText"], ["title", "getByTitle"]]) {
    const value = element.getAttribute(attribute);
    if (isShortText(value)) yield [[{ attribute, value }], `${method}(${literal(value)})`];
  }
  const { plain } = matchText(element);
  if (isShortText(plain)) {
    yield [[{ text: plain }], `getByText(${literal(plain)})`];
    yield [[{ text: plain, exact: true }], `getByText(${literal(plain)}, { exact: true })`];
  }
  const css = (selector) => [{ css: selector }];
  if (element.id !== "") yield [css(`#${CSS.escape(element.id)}`), `locator(${literal(`#${CSS.escape(element.id)}`)})`];
  const [first] = element.classList;
  if (first !== undefined) yield [css(`.${CSS.escape(first)}`), `locator(${literal(`.${CSS.escape(first)}`)})`];
  if (hasRole) yield [[{ role }], `getByRole(${literal(role)})`];
  const tag = CSS.escape(element.localName);
  yield [css(tag), `locator(${literal(tag)})`];
  const parent = element.parentElement;
  if (parent === null || parent === document.body) return;
  const above = CSS.escape(parent.localName);
  if (hasRole) yield [[{ css: above }, { role }], `locator(${literal(above)}).getByRole(${literal(role)})`];
  yield [css(`${above} ${tag}`), `locator(${literal(`${above} ${tag}`)})`];
}

/** The path of an element from the body: `body > div:nth-child(2)`. */
function pathOf(element) {
  const parts = [];
  for (let at = element; at !== null; at = at.parentElement) {
    const tag = CSS.escape(at.localName);
    if (at === document.body) {
      parts.unshift(tag);
      break;
    }
    const { parentElement } = at;
    parts.unshift(parentElement === null || parentElement.childElementCount === 1 ? tag : `${tag}:nth-child(${[...parentElement.children].indexOf(at) + 1})`);
  }
  return parts.join(" > ");
}

/** A locator that matches only this element. */
function locatorOf(element) {
  let first = null;
  for (const [steps, text] of locatorCandidates(element)) {
    const found = locateChain(steps);
    if (found[0] !== element) continue;
    if (found.length === 1) return text;
    first ??= `${text}.first()`;
  }
  return first ?? `locator(${literal(pathOf(element))})`;
}
