// Waiting until an element can be acted on, and saying what keeps it from that. Knows nothing of how input is sent.

/** What each purpose asks of the element, in the order it is checked. */
const NEEDS = {
  click: ["visible", "enabled", "still", "hit"],
  check: ["visible", "enabled", "still", "hit"],
  hover: ["visible", "still", "hit"],
  drop: ["visible", "still", "hit"],
  fill: ["visible", "enabled", "editable"],
  select: ["visible", "enabled"],
  focus: ["visible"],
  upload: [],
  scroll: [],
  read: [],
};
/** Needs that `force` lifts. */
const FORCED = new Set(["enabled", "still", "hit", "editable"]);
const FRAMES_GRANTED = 8;

/** One call of prepare over all the looks it takes. */
class Preparation {
  constructor(request) {
    this.request = request;
    this.purpose = request.for ?? "click";
    this.needs = NEEDS[this.purpose] ?? fail("BAD_ARGS", `"${this.purpose}" is nothing to prepare for.`);
    if (request.force) this.needs = this.needs.filter((need) => !FORCED.has(need));
    this.stillness = new Stillness();
    this.points = new PointSearch(this.stillness);
  }

  /** `{ready}`, or what is not met: `{condition, message, ...}`; `soon` when the next frame will tell more. */
  look() {
    const found = locate(this.request.spec, scopeOf(this.request.within));
    const picked = this.pick(found);
    if (picked === null) return { condition: "attached" };
    return inPass(() => this.examine(actedOn(picked, this.purpose)));
  }

  pick(found) {
    const { nth, spec } = this.request;
    if (nth !== undefined && nth !== null) return found.at(nth) ?? null;
    if (found.length < 2) return found[0] ?? null;
    return fail("AMBIGUOUS", `${found.length} elements match ${phraseOfSpec(spec)}.`, "Use the ref of one of them, or choose with --nth.", {
      matches: found.slice(0, MATCHES_LISTED).map(describeElement),
      total: found.length,
    });
  }

  examine(element) {
    const shown = shownPart(element);
    for (const need of this.needs) {
      const unmet = this[need](element, shown);
      if (unmet) return { element, condition: need, ...unmet };
    }
    // The watch begins before the last step, which may already set off what is watched for.
    const mark = this.request.mark ? startWatch(element) : undefined;
    const finished = finishPurpose(element, this.request, this.purpose);
    if (finished.unmet) return { element, ...finished.unmet };
    const { pause, ...rest } = finished;
    const answer = { ...answerFor(element, shown, this), ...rest, mark };
    if (rest.fill === "enter") paired = { pair: this.request.pair, key: answer.key, since: mark };
    return { ready: pause ? pause.then(() => answer) : answer };
  }

  visible(element, shown) {
    if (shown !== null) return null;
    if (element.localName === "option" && isDropDown(element.closest("select"))) {
      fail("NOT_ACTIONABLE", `${phrase(element)} is in a list that the browser draws itself.`, "Use `select` with the list as the target.", { element: describeElement(element), condition: "visible" });
    }
    return { message: `is not visible: ${whyHidden(element)}` };
  }

  enabled(element) {
    const reason = disabledReason(element);
    return reason === null ? null : { message: reason };
  }

  editable(element) {
    return isReadOnly(element) ? { message: "is read-only" } : null;
  }

  still(element, shown) {
    if (this.alreadyDone(element) || this.stillness.holds(shown)) return null;
    return { soon: true, message: "keeps moving" };
  }

  hit(element, shown) {
    if (this.alreadyDone(element)) return null;
    const { point, moved, blocker } = this.points.look(shown, this.request.position);
    if (moved) return { soon: true, condition: "still", message: "keeps moving" };
    this.point = point;
    if (point) return null;
    return blocker === null || blocker === undefined ? { message: "is out of view and cannot be scrolled into it" } : blockedBy(blocker, shown);
  }

  /** How to find the element anew when the page draws another in its place; null for a ref, which means one only. */
  renew() {
    const { spec, within } = this.request;
    return spec.key === undefined ? () => locate(spec, scopeOf(within)) : null;
  }

  /** A box that is ticked already needs no click. */
  alreadyDone(element) {
    return this.purpose === "check" && this.request.want !== undefined && tickOf(element) === this.request.want;
  }
}

/** The element itself, or what stands for it on the screen, a label or a code editor; null when nothing is shown. */
function shownPart(element) {
  if (isShown(element)) return element;
  const code = element.closest(CODE_EDITORS);
  if (code !== null) return isShown(code) ? code : null;
  if (!isCheckable(element)) return null;
  for (const label of element.labels ?? []) if (isShown(label)) return label;
  return null;
}

function blockedBy(blocker, element) {
  const cover = coverOf(blocker, element);
  if (styleOf(element).pointerEvents === "none") return { message: "lets pointer events through (pointer-events: none)", by: cover };
  if (isWithin(element, cover)) return { message: `is cut off by ${phrase(cover)}`, by: cover };
  return { condition: "covered", message: `is covered by ${phrase(cover)}`, by: cover };
}

function whyHidden(element) {
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

/** Why the element cannot be used, as the end of a sentence; null when it can. */
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

/** The modal dialog that keeps the element from being used; null when there is none. */
function dialogBefore(element) {
  for (let node = element; node; node = node.ownerDocument === document ? null : node.ownerDocument.defaultView?.frameElement) {
    const dialog = modalDialogOf(node.ownerDocument);
    if (dialog !== null && !isWithin(node, dialog)) return dialog;
  }
  return null;
}

function answerFor(element, shown, preparation) {
  const { request, purpose, point } = preparation;
  const answer = { key: keyOf(element), role: roleOf(element), name: shorten(nameOf(element)), tag: element.localName, url: location.href, title: document.title };
  if (element.localName === "input") answer.inputType = element.type;
  if (shown !== null) {
    answer.box = outwardBox(outerBox(shown), shown.ownerDocument);
    answer.point = point ?? (request.position ? pointAt(shown, request.position) : (pointsOf(shown, boxesOf(shown))[0] ?? null));
  }
  const disabled = purpose === "read" || purpose === "hover" ? disabledReason(element) : null;
  if (disabled !== null) answer.disabledReason = disabled;
  if (preparation.points.scrolled) answer.scrolled = true;
  Object.assign(answer, holdings(element));
  if (request.guard && point) armGuard(element, { events: request.events, renew: preparation.renew() });
  return answer;
}

/** Fails with what was not met when time ran out. */
function giveUp(unmet, { request }) {
  const waited = `within ${Math.round(request.timeout ?? 0)} ms`;
  if (unmet.condition === "attached") {
    const similar = similarTo(request.spec);
    const hint = similar.length > 0 ? `On the page are: ${similar.map(phrase).join(", ")}.` : "Take a snapshot to see what is on the page.";
    fail("SELECTOR_NOT_FOUND", `Nothing matches ${phraseOfSpec(request.spec)} ${waited}.`, hint, { similar: similar.map(describeElement) });
  }
  const details = { element: describeElement(unmet.element), condition: unmet.condition };
  if (unmet.by) details.by = describeElement(unmet.by);
  fail("NOT_ACTIONABLE", `${phrase(unmet.element)} ${unmet.message}.`, hintFor(unmet), details);
}

function hintFor({ condition, hint }) {
  if (hint) return hint;
  switch (condition) {
    case "visible":
      return "Do what makes it appear first (open a menu, scroll a list), or pick another element from a snapshot.";
    case "enabled":
      return "Fill in or choose what enables it first.";
    case "covered":
      return "Close or dismiss what covers it.";
    case "still":
      return "Wait for the animation to end, or use --force.";
    default:
      return "Take a snapshot to see the page as it is.";
  }
}

async function prepareLater(preparation, first) {
  const deadline = performance.now() + (preparation.request.timeout ?? 0);
  const wake = new Wake();
  // Even without time to wait, an element gets the frames it takes to show that it is still.
  let frames = FRAMES_GRANTED;
  try {
    for (let outcome = first; ; outcome = preparation.look()) {
      if (outcome.ready) return outcome.ready;
      if (performance.now() >= deadline && !(outcome.soon && frames-- > 0)) giveUp(outcome, preparation);
      wake.check();
      if (outcome.soon) await nextFrame();
      else await wake.next(deadline);
    }
  } finally {
    wake.stop();
  }
}

/** Waits until the element can be acted on; answers at once, without a promise, when it can be now. */
agent.prepare = (request) => {
  const preparation = new Preparation(request);
  const first = preparation.look();
  return first.ready ?? prepareLater(preparation, first);
};
