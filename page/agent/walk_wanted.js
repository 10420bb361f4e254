// Which of many children a search need not look at, because no line of theirs could have the words. Told from a child's
// markup, which is much faster than walking it. In doubt a child is looked at.

/** Children of long containers that a search looks at; those after them are only counted. */
const WANTED_CHILDREN = 1000;

/** What is not in an element's own markup, or not as it is told. */
const COMPUTED = "progress, meter, select, [role=slider], [role=spinbutton], [role=scrollbar], [role=progressbar], [role=meter]";

/** The words that a line must have, and what was left out because it has none of them. */
class Wanted {
  constructor(words, root) {
    this.words = words;
    this.admitted = 0;
    this.uncounted = 0;
    // Signs that cannot be seen do not count, and may stand in the middle of a word.
    this.isPossible = words.length > 0 && !/\p{Cf}/u.test(root.outerHTML);
    // Asking each control for its labels would go through the whole document every time.
    this.labelled = new Map();
    for (const label of root.ownerDocument.getElementsByTagName("label")) {
      if (label.control) this.labelled.set(label.control, `${this.labelled.get(label.control) ?? ""} ${label.outerHTML}`);
    }
    this.hasNumber = words.some((word) => /^\d+$/.test(word));
  }

  /** Whether a child of a long container is looked at. */
  admits(element) {
    if (!this.isPossible) return true;
    if (!this.mayHave(element)) return false;
    if (this.admitted < WANTED_CHILDREN) {
      this.admitted += 1;
      return true;
    }
    this.uncounted += 1;
    return false;
  }

  mayHave(element) {
    const text = element.textContent.toLowerCase();
    let missing = this.words.filter((word) => !text.includes(word));
    if (missing.length === 0) return true;
    const markup = element.outerHTML.toLowerCase();
    missing = missing.filter((word) => !markup.includes(word));
    if (missing.length === 0 || (this.hasNumber && element.querySelector(COMPUTED) !== null)) return true;
    if (this.mayShowMore(element, missing)) return true;
    for (const inside of element.getElementsByTagName("*")) if (this.mayShowMore(inside, missing)) return true;
    return false;
  }

  /** Whether one of the words may be told of an element though its markup does not have it. */
  mayShowMore(element, words) {
    if (shadowRootOf(element) !== null || isFrameElement(element) || element.localName === "slot") return true;
    if (element.hasAttribute("aria-owns") || hasGeneratedText(element)) return true;
    let more = "";
    if (element.localName === "a" || element.localName === "area") more += element.href;
    if (typeof element.value === "string") more += ` ${element.value}`;
    more += this.labelled.get(element) ?? "";
    for (const label of element.ariaLabelledByElements ?? []) more += ` ${label.outerHTML} ${label.value ?? ""}`;
    if (more === "") return false;
    more = more.toLowerCase();
    return words.some((word) => more.includes(word));
  }
}
