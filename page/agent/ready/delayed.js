// What appears a moment after an action: lists that open with a delay, short messages, and texts such as "Searching...".

/** Most added elements that are searched for a text that says the page is at work. */
const MAX_ADDED = 50;
const MAX_MESSAGES = 5;
const MESSAGE_CHARACTERS = 200;

/** Elements for short messages. */
const MESSAGE_PLACES =
  "[role=alert], [role=status], [role=log], [aria-live=polite], [aria-live=assertive], output, [class*=toast i], [class*=snackbar i]";
/** Messages since the last report, by their element. */
const newMessages = new Map();

/** Records the text of a message that was added or changed. Most messages are gone before the next snapshot. */
function noteMessage(node) {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  if (!element?.isConnected) return;
  const place = element.closest(MESSAGE_PLACES) ?? element.querySelector(MESSAGE_PLACES);
  if (place === null || place.isContentEditable || !isShown(place)) return;
  const text = foldText(place.innerText ?? "");
  if (text === "" || text.length > MESSAGE_CHARACTERS) return;
  newMessages.delete(place);
  newMessages.set(place, text);
  if (newMessages.size > MAX_MESSAGES) newMessages.delete(newMessages.keys().next().value);
}

function takeMessages() {
  const messages = [...new Set(newMessages.values())];
  newMessages.clear();
  return messages;
}

const BUSY = /^(searching|loading|please wait|one moment|working)\b.{0,30}$/i;

/** The visible text among these elements that says the page is still at work; "" for none. */
function busyText(elements) {
  for (const element of elements) {
    if (!element.isConnected || !isShown(element)) continue;
    const text = foldText(element.innerText ?? "");
    const line = text.length > 400 ? "" : ((element.innerText ?? "").split("\n").map(foldText).find((one) => BUSY.test(one)) ?? "");
    if (line !== "") return line;
  }
  return "";
}

const LIST_FIELDS =
  "[role=combobox], [role=searchbox], [type=search], [list], [aria-autocomplete]:not([aria-autocomplete=none]), [aria-controls], [aria-owns], [aria-haspopup]:not([aria-haspopup=false])";
const LIST_WORDS = /search|suggest|autocomplete|typeahead|lookup|filter|combo|tags?-?input|select2|choices/i;

/** Whether the page may open a list for this element some time after the input. After hovering it always may. */
function opensLater(element, hovered) {
  if (hovered) return true;
  if (element === null || (!isTextField(element) && !isEditor(element))) return false;
  if (element.matches(LIST_FIELDS) || element.closest("[role=combobox], [role=search], search") !== null) return true;
  const words = ["id", "name", "class", "placeholder", "aria-label"].map((name) => element.getAttribute(name) ?? "").join(" ");
  return LIST_WORDS.test(words) || LIST_WORDS.test(element.parentElement?.className ?? "") || element.getAttribute("autocomplete") === "off";
}

/** Resolves when the page has added an element, or after `timeout` ms. */
function firstAddition(watch, timeout) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      observer.disconnect();
      watch.total();
      resolve();
    };
    const timer = setTimeout(end, timeout);
    const shows = new Set(["hidden", "style", "class", "open"]);
    const isAddition = ({ type, target, addedNodes, attributeName }) => addedNodes.length > 0 || (type === "attributes" && target !== watch.element && shows.has(attributeName));
    const observer = new MutationObserver((records) => records.some(isAddition) && end());
    for (const root of knownRoots()) observer.observe(root, ALL_CHANGES);
  });
}
