// What holds for the time of a script's screenshot: a style, a hidden caret, stopped animations.

/** What the screenshot that is under way changed, to undo it. */
let screenshotChanges = [];

/** The document and the same-origin documents below it. */
function readableDocuments() {
  return rootsBelow(document).filter((root) => root.nodeType === Node.DOCUMENT_NODE);
}

agent.beginScreenshot = async ({ style, stopAnimations, showCaret }) => {
  undoScreenshotChanges();
  const rules = `${showCaret ? "" : "*:not(#tabwire-no-element) { caret-color: transparent !important; }"}${style ?? ""}`;
  for (const root of readableDocuments()) {
    if (rules !== "") addScreenshotStyle(root, rules);
    if (stopAnimations) for (const animation of root.getAnimations?.() ?? []) stopForScreenshot(animation);
  }
  await nextFrame();
  return null;
};

agent.endScreenshot = () => {
  undoScreenshotChanges();
  return null;
};

function addScreenshotStyle(root, rules) {
  const roots = [root, ...rootsBelow(root).filter((one) => one.host !== undefined)];
  for (const one of roots) {
    const sheet = root.createElement("style");
    sheet.textContent = rules;
    (one.nodeType === Node.DOCUMENT_NODE ? one.documentElement : one)?.append(sheet);
    screenshotChanges.push(() => sheet.remove());
  }
}

/** Ends an animation that has an end; puts an endless one at its start. */
function stopForScreenshot(animation) {
  if (animation.playState === "idle" || animation.playState === "finished" || animation.playbackRate === 0) return;
  if (Number.isFinite(animation.effect?.getComputedTiming().endTime ?? Infinity)) {
    try {
      animation.finish();
      return;
    } catch {
      // An animation without a timeline cannot end.
    }
  }
  const time = animation.currentTime;
  animation.cancel();
  screenshotChanges.push(() => {
    try {
      animation.play();
      animation.currentTime = time;
    } catch {
      // Its element is gone.
    }
  });
}

function undoScreenshotChanges() {
  for (const undo of screenshotChanges.splice(0)) undo();
}
