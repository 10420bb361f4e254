// Lists that change in place: an item keeps its element, its focus and its scroll position while its key is in the list.
// @ts-check

/** @type {WeakMap<Element, Map<string, {element: HTMLElement, shown: string}>>} */
const lists = new WeakMap();

/** The items that a list shows once the pointer is released. @type {WeakMap<Element, () => void>} */
const postponed = new WeakMap();

/**
 * Makes the children of `list` follow `items`. An element is made again only if its item has changed.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => string} keyOf unique in the list
 * @param {(item: T) => HTMLElement} create
 * @param {() => void} [shown] called when the items are shown
 */
export function showList(list, items, keyOf, create, shown) {
  // A click is lost when its element is replaced between press and release.
  if (list.querySelector(":active")) return postpone(list, () => showList(list, items, keyOf, create, shown));
  postponed.delete(list);
  const before = lists.get(list) ?? new Map();
  const after = new Map();
  for (const item of items) {
    const [key, shown] = [keyOf(item), JSON.stringify(item)];
    if (after.has(key)) continue;
    const known = before.get(key);
    after.set(key, known?.shown === shown ? known : { element: create(item), shown });
  }
  const focused = focusIn(list);
  for (const [key, { element }] of before) if (after.get(key)?.element !== element) element.remove();
  let at = 0;
  for (const { element } of after.values()) {
    // A move would take the focus away, so only an element in a wrong place is moved.
    if (list.children[at] !== element) list.insertBefore(element, list.children[at] ?? null);
    at += 1;
  }
  lists.set(list, after);
  restoreFocus(list, after, focused);
  shown?.();
}

/**
 * Shows the latest items after the click that ends the press.
 * @param {HTMLElement} list
 * @param {() => void} show
 */
function postpone(list, show) {
  const isWaiting = postponed.has(list);
  postponed.set(list, show);
  if (isWaiting) return;
  const end = new AbortController();
  const released = () => {
    end.abort();
    setTimeout(() => {
      const latest = postponed.get(list);
      postponed.delete(list);
      latest?.();
    });
  };
  for (const type of ["pointerup", "pointercancel", "dragend", "keyup"]) document.addEventListener(type, released, { signal: end.signal });
}

/**
 * The key and the control that have the focus in a list.
 * @param {HTMLElement} list
 */
function focusIn(list) {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || !list.contains(active)) return null;
  const owner = [...(lists.get(list) ?? [])].find(([, { element }]) => element.contains(active));
  if (!owner) return null;
  return { key: owner[0], at: controlsIn(owner[1].element).indexOf(active), place: [...list.children].indexOf(owner[1].element) };
}

/**
 * @param {HTMLElement} list
 * @param {Map<string, {element: HTMLElement}>} after
 * @param {{key: string, at: number, place: number} | null} focused
 */
function restoreFocus(list, after, focused) {
  if (!focused || list.contains(document.activeElement)) return;
  // The element was made again, or is gone: the same control, or the neighbour's.
  const element = after.get(focused.key)?.element ?? list.children[Math.min(focused.place, list.children.length - 1)];
  if (element) controlsIn(element)[focused.at]?.focus();
}

/** @param {Element} element */
const controlsIn = (element) => /** @type {HTMLElement[]} */ ([...element.querySelectorAll("button, a, input, summary")]);
