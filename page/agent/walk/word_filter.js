// Skips children of long lists that cannot match a search, judged by their markup, which is much faster than walking
// them. Doubtful children are visited.

/** Most children of long lists that a search visits; further matches are only counted. */
const MAX_CANDIDATES = 1000;

/** Elements whose text differs from their markup. */
const COMPUTED = "progress, meter, select, [role=slider], [role=spinbutton], [role=scrollbar], [role=progressbar], [role=meter]";

/** The words that a line must contain, and the count of skipped candidates. */
class WordFilter {
  constructor(words, root) {
    this.words = words;
    this.accepted = 0;
    this.uncounted = 0;
    // Invisible characters are ignored in matching and can stand inside a word.
    this.isPossible = words.length > 0 && !/\p{Cf}/u.test(root.outerHTML);
    // `control.labels` would search the whole document for each control.
    this.labelled = new Map();
    for (const label of root.ownerDocument.getElementsByTagName("label")) {
      if (label.control) this.labelled.set(label.control, `${this.labelled.get(label.control) ?? ""} ${label.outerHTML}`);
    }
    this.hasNumber = words.some((word) => /^\d+$/.test(word));
  }

  /** Whether a child of a long list is visited. */
  accepts(element) {
    if (!this.isPossible) return true;
    if (!this.mayMatch(element)) return false;
    if (this.accepted < MAX_CANDIDATES) {
      this.accepted += 1;
      return true;
    }
    this.uncounted += 1;
    return false;
  }

  mayMatch(element) {
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

  /** Whether the element may show one of the words although its markup does not contain it. */
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
