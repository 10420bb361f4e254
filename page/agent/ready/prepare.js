// Actionability checks: waits until an element can be acted on, else reports why not.

/** The checks for each purpose, in order. */
const CHECKS = {
  click: ["visible", "enabled", "still", "hit"],
  check: ["visible", "enabled", "still", "hit"],
  hover: ["visible", "still", "hit"],
  drop: ["visible", "still", "hit"],
  fill: ["visible", "enabled", "editable"],
  select: ["visible", "enabled"],
  focus: ["visible"],
  /** Checks for scripts: before scrolling, for a state to wait for, and before selecting text. */
  reveal: ["boxed", "still"],
  stable: ["still"],
  text: ["visible"],
  upload: [],
  scroll: [],
  read: [],
};
/** Checks that `force` skips. */
const SKIPPED_BY_FORCE = new Set(["enabled", "still", "hit", "editable"]);
const MIN_FRAMES = 8;

/** One call of `prepare`, over several polls. */
class ActionabilityCheck {
  constructor(request) {
    this.request = request;
    this.purpose = request.for ?? "click";
    this.needs = CHECKS[this.purpose] ?? fail("BAD_ARGS", `"${this.purpose}" is not a purpose.`);
    // A script focuses an element as soon as it is attached.
    if (this.purpose === "focus" && request.spec.chain !== undefined) this.needs = [];
    if (request.shown) this.needs = ["visible", "still"];
    if (request.force) this.needs = this.needs.filter((need) => !SKIPPED_BY_FORCE.has(need));
    this.stability = new StabilityCheck();
    this.points = new PointSearch(this.stability, request);
  }

  /** `{ready}`, or the failed check `{condition, message, ...}`; `soon` when the next frame can decide. */
  poll() {
    const found = locate(this.request.spec, scopeOf(this.request.within));
    const picked = this.pick(found);
    if (picked === null) return { condition: "attached" };
    return inPass(() => this.examine(actedOn(picked, this.purpose)));
  }

  pick(found) {
    const { nth, spec } = this.request;
    if (nth !== undefined && nth !== null) return found.at(nth) ?? null;
    if (found.length < 2) return found[0] ?? null;
    if (spec.chain !== undefined) failStrict(found);
    return fail("AMBIGUOUS", `${found.length} elements match ${phraseOfSpec(spec)}.`, remedy("Use a ref, or choose one with {}.", { argument: "nth" }), {
      matches: found.slice(0, MAX_LISTED).map(describeElement),
      total: found.length,
    });
  }

  examine(element) {
    const shown = shownPart(element);
    for (const need of this.needs) {
      const unmet = this[need](element, shown);
      if (unmet) return { element, condition: need, ...unmet };
    }
    // The watch starts before the last step, because that step can already change the page.
    const mark = this.request.mark ? startWatch(element) : undefined;
    const finished = finishPurpose(element, this.request, this.purpose);
    if (finished.unmet) return { element, ...finished.unmet };
    const { pause, ...rest } = finished;
    const result = { ...resultFor(element, shown, this), ...rest, mark };
    if (rest.fill === "enter") pairedElement = { pair: this.request.pair, key: result.key, since: mark };
    return { ready: pause ? pause.then(() => result) : result };
  }

  visible(element, shown) {
    if (shown !== null) return null;
    if (element.localName === "option" && isDropDown(element.closest("select"))) {
      fail("NOT_ACTIONABLE", `${phrase(element)} is an option of a native drop-down.`, remedy("Use {} on the drop-down.", { action: "select" }), { element: describeElement(element), condition: "visible" });
    }
    return { message: `is not visible: ${hiddenReason(element)}` };
  }

  enabled(element) {
    const reason = disabledReason(element);
    return reason === null ? null : { message: reason };
  }

  editable(element) {
    return isReadOnly(element) ? { message: "is read-only" } : null;
  }

  /** An element can be scrolled to when it takes part in the layout, seen or not. */
  boxed(element) {
    return element.getClientRects().length > 0 ? null : { condition: "visible", message: `is not visible: ${hiddenReason(element)}` };
  }

  still(element, shown) {
    if (shown === null || this.isAlreadyDone(element) || this.stability.holds(shown)) return null;
    return { soon: true, message: "keeps moving" };
  }

  hit(element, shown) {
    if (this.isAlreadyDone(element)) return null;
    const { point, moved, blocker } = this.points.find(shown, this.request.position, this.request.spec.chain !== undefined);
    if (moved) return { soon: true, condition: "still", message: "keeps moving" };
    this.point = point;
    if (point) return null;
    return blocker === null || blocker === undefined ? { message: "is out of view and cannot be scrolled into it" } : blockedBy(blocker, shown);
  }

  /** Finds the element again when the page re-renders it; null for a ref, which means one element only. */
  renew() {
    const { spec, within } = this.request;
    return spec.key === undefined ? () => locate(spec, scopeOf(within)) : null;
  }

  /** A checkbox in the wanted state needs no click. */
  isAlreadyDone(element) {
    return this.purpose === "check" && this.request.want !== undefined && checkedState(element) === this.request.want;
  }
}

/** The element, or the visible element that represents it (a label or code editor); null when nothing is visible. */
function shownPart(element) {
  if (isShown(element)) return element;
  const code = element.closest(CODE_EDITORS);
  if (code !== null) return isShown(code) ? code : null;
  if (!isCheckable(element) && element.type !== "file") return null;
  for (const label of element.labels ?? []) if (isShown(label)) return label;
  return null;
}

function blockedBy(blocker, element) {
  const cover = coverOf(blocker, element);
  const found = { by: cover, hit: blocker };
  if (styleOf(element).pointerEvents === "none") return { message: "lets pointer events through (pointer-events: none)", ...found };
  if (isWithin(element, cover)) return { message: `is cut off by ${phrase(cover)}`, ...found };
  return { condition: "covered", message: `is covered by ${phrase(cover)}`, ...found };
}

/** The element that takes the input instead, as Playwright names it: `<p></p> from <div></div> subtree`. */
function interceptorOf(hit, element) {
  const above = [];
  for (let node = hit; node !== null; node = parentInDocument(node)) above.push(node);
  for (let node = element; node !== null; node = parentInDocument(node)) {
    const at = above.indexOf(node);
    if (at > 1) return `${previewOf(hit)} from ${previewOf(above[at - 1])} subtree`;
    if (at >= 0) break;
  }
  return previewOf(hit);
}

function hiddenReason(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    const style = getComputedStyle(node);
    const whose = node === element ? "" : ` on ${phrase(node)}`;
    if (style.display === "none") return `display: none${whose}`;
    if (style.contentVisibility === "hidden" && node !== element) return `content-visibility: hidden${whose}`;
    if (node === element && style.visibility !== "visible") return `visibility: ${style.visibility}`;
    if (isLeftOut(node)) return `not part of what ${phrase(node.parentNode)} shows`;
  }
  return "it has no size";
}

/** Why the element is disabled, as the end of a sentence; null when it is enabled. */
function disabledReason(element) {
  const control = interactiveAround(element) ?? element;
  if (isDisabled(control)) {
    const fieldset = control.closest("fieldset:disabled");
    return fieldset !== null && !control.disabled ? `is disabled by ${phrase(fieldset)}` : "is disabled";
  }
  for (let node = element; node !== null; node = composedParent(node)) {
    if (node.inert === true) return node === element ? "is inert" : `is inert because of ${phrase(node)}`;
  }
  return null;
}

/** The modal dialog that makes the element inert; null for none. */
function blockingDialog(element) {
  for (let node = element; node; node = node.ownerDocument === document ? null : node.ownerDocument.defaultView?.frameElement) {
    const dialog = modalDialogOf(node.ownerDocument);
    if (dialog !== null && !isWithin(node, dialog)) return dialog;
  }
  return null;
}

function resultFor(element, shown, check) {
  const { request, purpose, point } = check;
  const result = { key: keyOf(element), ...shownNames(element), tag: element.localName, url: location.href, title: document.title };
  if (element.localName === "input") result.inputType = element.type;
  if (shown !== null) {
    result.box = outwardBox(outerBox(shown), shown.ownerDocument);
    result.point = point ?? (request.position ? pointAt(shown, request.position, request.spec.chain !== undefined) : (pointsOf(shown, boxesOf(shown))[0] ?? null));
  }
  const disabled = purpose === "read" || purpose === "hover" ? disabledReason(element) : null;
  if (disabled !== null) result.disabledReason = disabled;
  if (check.points.scrolled) result.scrolled = true;
  Object.assign(result, fieldState(element));
  if (request.guard && point) armGuard(element, { events: request.events, renew: check.renew() });
  return result;
}

/** Whether a locator of a script is resolved. */
function isScripted(spec) {
  return spec.chain !== undefined;
}

/** Names similar elements, which the page provides; without any, suggests a snapshot. */
function suggestion(similar) {
  return similar.length > 0 ? `Similar elements: ${similar.map(phrase).join(", ")}.` : remedy("Run {} to see the page.", SNAPSHOT);
}

/** Fails with the check that did not pass in time. */
function failUnmet(unmet, { request }) {
  const waited = `within ${Math.round(request.allowed ?? request.timeout ?? 0)} ms`;
  if (unmet.condition === "attached") {
    const similar = similarTo(request.spec);
    const way = suggestion(similar);
    fail("SELECTOR_NOT_FOUND", `Nothing matches ${phraseOfSpec(request.spec)} ${waited}.`, way, { similar: similar.map(describeElement) });
  }
  const details = { element: describeElement(unmet.element), condition: unmet.condition };
  if (unmet.by) details.by = describeElement(unmet.by);
  if (unmet.hit && isScripted(request.spec)) details.interceptor = interceptorOf(unmet.hit, unmet.element);
  fail("NOT_ACTIONABLE", `${phrase(unmet.element)} ${unmet.message}.`, remedyFor(unmet), details);
}

function remedyFor({ condition, remedy: known }) {
  if (known) return known;
  switch (condition) {
    case "visible":
      return remedy("Make it visible first (open a menu, scroll a list), or choose another element from {}.", SNAPSHOT);
    case "enabled":
      return "Fill the fields that enable it first.";
    case "covered":
      return "Close what covers it.";
    case "still":
      return remedy("Wait for the animation to end, or set {}.", { argument: "force" });
    default:
      return remedy("Run {} to see the page.", SNAPSHOT);
  }
}

async function pollUntilReady(check, first) {
  const deadline = performance.now() + (check.request.timeout ?? 0);
  const changes = new ChangeWaiter();
  // Even with no timeout, an element gets the frames that prove it stable.
  let frames = MIN_FRAMES;
  try {
    for (let outcome = first; ; outcome = check.poll()) {
      if (outcome.ready) return outcome.ready;
      // A forced action of a script does not wait.
      if (check.request.force && outcome.condition === "visible" && isScripted(check.request.spec)) fail("NOT_ACTIONABLE", "Element is not visible", "Make it visible first.", { condition: "visible", at_once: true });
      if (performance.now() >= deadline && !(outcome.soon && frames-- > 0)) failUnmet(outcome, check);
      changes.check();
      if (outcome.soon) await nextFrame();
      else await changes.next(deadline);
    }
  } finally {
    changes.stop();
  }
}

/** Waits until the element is actionable. Returns a plain value, without a promise, when it is now. */
agent.prepare = (request) => {
  const check = new ActionabilityCheck(request);
  const first = check.poll();
  return first.ready ?? pollUntilReady(check, first);
};
