// Whether the mouse is where it was sent: in a frame of its own process that is decided by the browser, from what was
// last drawn. Knows nothing of what is done there.

/** Whether a move of the mouse reaches the element's document within this time. */
agent.pointed = ({ key, patience }) =>
  new Promise((resolve) => {
    const view = byRef({ key }).ownerDocument.defaultView;
    const ending = new AbortController();
    const end = (seen) => {
      clearTimeout(timer);
      ending.abort();
      resolve(seen);
    };
    const see = (event) => {
      if (event.isTrusted) end(true);
    };
    const timer = setTimeout(() => end(false), patience);
    view.addEventListener("mousemove", see, { capture: true, passive: true, signal: ending.signal });
  });
