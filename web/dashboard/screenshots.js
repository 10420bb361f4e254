// Screenshots of rows of the log, read when they are needed and kept while they are likely to be needed again.
// @ts-check

import { make } from "./shared/element.js";
import { blobUrl } from "./requests.js";

/** @typedef {import("./dashboard.js").Row} Row */

const MOST = 80;

/** @param {import("./dashboard.js").Actions["request"]} request */
export function createScreenshots(request) {
  /** @type {Map<number, Promise<string>>} */
  const known = new Map();
  /** @param {number} number */
  const drop = (number) => {
    void known.get(number)?.then((url) => URL.revokeObjectURL(url));
    known.delete(number);
  };
  /**
   * The URL of a row's screenshot, empty if it is gone.
   * @param {number} number
   */
  const load = (number) => {
    const before = known.get(number);
    if (before) return before;
    const loaded = request("screenshot", { number }).then(blobUrl, () => "");
    known.set(number, loaded);
    if (known.size > MOST) drop(/** @type {number} */ (known.keys().next().value));
    return loaded;
  };
  /** @type {WeakMap<Element, number>} */
  const numbers = new WeakMap();
  /** @type {WeakMap<Element, string>} */
  const names = new WeakMap();
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLImageElement)) continue;
      seen.unobserve(target);
      void load(numbers.get(target) ?? 0).then((url) => {
        if (!url) return target.remove();
        target.src = url;
        target.alt = names.get(target) ?? "";
      });
    }
  });
  return {
    load,
    /**
     * A thumbnail of a row, which is read once it can be seen.
     * @param {Row} row
     */
    thumbnail({ number, action }) {
      const image = make("img", { look: "small-screenshot", alt: "", width: "132", height: "74" });
      numbers.set(image, number);
      names.set(image, `The page after ${action}`);
      seen.observe(image);
      return image;
    },
    /** Forgets all screenshots. */
    clear() {
      for (const number of [...known.keys()]) drop(number);
    },
  };
}
