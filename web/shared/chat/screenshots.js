// Screenshots of steps: what the agent saw. They are read when they can be seen first.
// @ts-check

import { make } from "../element.js";

/**
 * @param {(number: number) => Promise<{type: string, data: string}>} load
 */
export function createScreenshots(load) {
  /** @type {Map<number, Promise<string>>} */
  let known = new Map();
  /** @type {WeakMap<Element, number>} */
  const numbers = new WeakMap();

  /** The URL of a screenshot, empty if the daemon has it no longer. @param {number} number */
  const urlOf = (number) => {
    const loaded = known.get(number) ?? load(number).then(({ type, data }) => URL.createObjectURL(new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type })), () => "");
    known.set(number, loaded);
    return loaded;
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLImageElement)) continue;
      seen.unobserve(target);
      void urlOf(numbers.get(target) ?? 0).then((url) => {
        if (url) target.src = url;
        else target.closest(".shot")?.remove();
      });
    }
  });

  return {
    /** @param {number} number */
    image(number) {
      const image = make("img", { alt: "What the agent saw", width: "142", height: "89" });
      numbers.set(image, number);
      seen.observe(image);
      return image;
    },
    /** Forgets all: another chat is shown. */
    clear() {
      for (const url of known.values()) void url.then((one) => URL.revokeObjectURL(one));
      known = new Map();
    },
  };
}
