// DOM elements for popup and options. Text from pages and agents is inserted as text, never as markup.

/** An element with a class, attributes and children; strings become text nodes. */
export function make(tag, { look = "", ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button for the user; clicks that scripts generate are ignored. */
export function button(text, press, { look = "", label = "" } = {}) {
  const made = make("button", { look, type: "button", ...(label ? { "aria-label": label } : {}) }, text);
  made.addEventListener("click", (event) => {
    if (event.isTrusted && window.top === window) press();
  });
  return made;
}

/** Sets the text and the look of an element. */
export function say(element, text, look = "") {
  element.textContent = text;
  element.className = look;
}

/** Fills a list with rows, or shows a sentence when there are none. Keeps the focus. */
export function fill(list, rows, empty, sentence) {
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  list.replaceChildren(...rows);
  if (focused) [...list.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === focused)?.focus();
  empty.hidden = rows.length > 0;
  empty.textContent = sentence;
}

/** A row for a denied command. */
export function denialRow({ when, what, who, message, by }) {
  const time = make("time", {}, new Date(when).toLocaleTimeString());
  const asked = who ? `${who}: ${what}` : what;
  return make("li", {}, time, make("span", {}, asked), make("span", { look: "quiet" }, ` — ${by}: ${message}`));
}

/** A row for a grant or denial, with a button to revoke it. */
export function grantRow({ id, stance, site, capabilities, term }, revoke) {
  const what = stance === "deny" ? "denied" : capabilities.join(", ");
  const until = term === "always" ? "" : typeof term === "object" && "session" in term ? " · this session" : " · temporary";
  const words = make("span", { look: "grow" }, make("strong", {}, site), make("span", { look: "quiet" }, ` ${what}${until}`));
  return make("li", { look: "row" }, words, button("Revoke", () => revoke(id), { look: "small", label: `Revoke ${site}` }));
}
