// Tells the daemon how large a screen is and whether the user can see it, so that no frame is made in vain.
// @ts-check

const RESIZED_MS = 150;

/**
 * @param {HTMLElement} screen
 * @param {(message: Record<string, unknown>) => void} send
 */
export function watchScreen(screen, send) {
  let [isOnScreen, timer, more] = [true, 0, 0];
  const tellVisible = () => send({ type: "visible", visible: isOnScreen && document.visibilityState === "visible" });
  const tellSize = () => {
    const { clientWidth, clientHeight } = screen;
    if (clientWidth > 0) send({ type: "size", width: Math.round(clientWidth * devicePixelRatio) + more, height: Math.round(clientHeight * devicePixelRatio) });
  };
  const resized = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(tellSize, RESIZED_MS);
  });
  const seen = new IntersectionObserver((entries) => {
    isOnScreen = entries.at(-1)?.isIntersecting ?? true;
    tellVisible();
  });
  resized.observe(screen);
  seen.observe(screen);
  document.addEventListener("visibilitychange", tellVisible);
  return {
    /** Tells both, for a new connection. */
    tell() {
      tellSize();
      tellVisible();
    },
    /** Asks for a new frame: another size makes the browser send one. */
    again() {
      more = 1 - more;
      tellSize();
    },
    end() {
      clearTimeout(timer);
      resized.disconnect();
      seen.disconnect();
      document.removeEventListener("visibilitychange", tellVisible);
    },
  };
}
