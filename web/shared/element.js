// DOM elements for every view. Text from pages and agents is inserted as text, never as markup.
// @ts-check

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with a class, attributes and children; strings become text nodes.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} [attributes] `look` is the class
 * @param {...(Node | string | null | false)} children empty ones are left out
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, { look = "", ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {...Node} children
 */
export function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * A button for the user. Clicks that scripts generate are ignored, and so are all clicks in a frame.
 * @param {string | (Node | string)[]} content
 * @param {() => void} press
 * @param {{look?: string, label?: string}} [options]
 */
export function button(content, press, { look = "", label = "" } = {}) {
  const children = typeof content === "string" ? [content] : content;
  const made = make("button", { look, type: "button", ...(label ? { "aria-label": label, title: label } : {}) }, ...children);
  made.addEventListener("click", onlyUser(press));
  return made;
}

/**
 * A listener for clicks of the user.
 * @param {(event: Event) => void} press
 * @returns {(event: Event) => void}
 */
export function onlyUser(press) {
  return (event) => {
    if (event.isTrusted && window.top === window) press(event);
  };
}

/**
 * The element of this page with an id.
 * @param {string} id
 */
export function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/**
 * Sets the text and the class of an element. An unchanged element is not touched, so that screen readers stay silent.
 * @param {HTMLElement} element
 * @param {string} text
 * @param {string} [look]
 */
export function say(element, text, look = element.className) {
  if (element.textContent !== text) element.textContent = text;
  if (element.className !== look) element.className = look;
}
