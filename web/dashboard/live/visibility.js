// Reports to the daemon how large a screen is and whether the user can see it, so that no frame is made in vain.
// @ts-check

const RESIZED_MS = 150;

/**
 * @param {HTMLElement} screen
 * @param {(message: Record<string, unknown>) => void} send
 */
export function watchScreen(screen, send) {
  let [isOnScreen, timer] = [true, 0];
  const reportVisible = () => send({ type: "visible", visible: isOnScreen && document.visibilityState === "visible" });
  const reportSize = () => {
    const { clientWidth, clientHeight } = screen;
    if (clientWidth > 0) send({ type: "size", width: Math.round(clientWidth * devicePixelRatio), height: Math.round(clientHeight * devicePixelRatio) });
  };
  const resized = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(reportSize, RESIZED_MS);
  });
  const seen = new IntersectionObserver((entries) => {
    isOnScreen = entries.at(-1)?.isIntersecting ?? true;
    reportVisible();
  });
  resized.observe(screen);
  seen.observe(screen);
  document.addEventListener("visibilitychange", reportVisible);
  return {
    /** Reports both, for a new connection. */
    report() {
      reportSize();
      reportVisible();
    },
    end() {
      clearTimeout(timer);
      resized.disconnect();
      seen.disconnect();
      document.removeEventListener("visibilitychange", reportVisible);
    },
  };
}
