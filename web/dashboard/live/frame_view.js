// The page as the user sees it: screencast frames on a canvas, and over it the element and the point of the latest action.
// @ts-check

import { make, makeSvg } from "../shared/element.js";

const RING = 15;
const POINTER = "M0 0v17l4.500-4.300 2.900 6.600 3-1.300-2.900-6.500h6.200Z";

/** @typedef {import("./socket.js").Image} Image */
/** @typedef {{tab: string, x: number, y: number, rectangle: [number, number, number, number], name?: string | null}} Mark */

/**
 * @param {(seq: number) => void} drawn called when a frame is on the canvas
 */
export function createFrameView(drawn) {
  const canvas = make("canvas", { look: "frames", role: "img", "aria-label": "The page", width: "16", height: "9" });
  const overlay = makeSvg("svg", { class: "overlay", "aria-hidden": "true", preserveAspectRatio: "xMidYMid meet" });
  const context = canvas.getContext("2d", { alpha: false });
  // Counts `clear`: a frame that was still decoded then belongs to the page before.
  let clears = 0;
  let [latest, size, isEmpty] = [0, { width: 1280, height: 720 }, true];
  /** @type {Mark | null} */
  let mark = null;

  const drawMark = () => {
    overlay.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    if (!mark || isEmpty) return overlay.replaceChildren();
    const [x, y, width, height] = mark.rectangle.map(String);
    const [cx, cy] = [String(mark.x), String(mark.y)];
    overlay.replaceChildren(
      makeSvg("rect", { class: "box", x, y, width, height, rx: "4" }),
      makeSvg("circle", { class: "ring", cx, cy, r: String(RING) }),
      makeSvg("path", { class: "pointer", d: POINTER, transform: `translate(${cx} ${cy})` }),
    );
  };

  return {
    canvas,
    overlay,
    isEmpty: () => isEmpty,
    /** @param {Image} frame */
    async draw(frame) {
      const before = clears;
      try {
        const bitmap = await createImageBitmap(new Blob([frame.image], { type: "image/jpeg" }));
        // Frames can be decoded out of order.
        if (frame.seq > latest && before === clears && context) {
          latest = frame.seq;
          if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
          context.drawImage(bitmap, 0, 0);
          const isChanged = isEmpty || size.width !== frame.width || size.height !== frame.height;
          [size, isEmpty] = [{ width: frame.width || 1, height: frame.height || 1 }, false];
          if (isChanged) drawMark();
        }
        bitmap.close();
      } finally {
        drawn(frame.seq);
      }
    },
    /** @param {Mark | null} next */
    point(next) {
      if (JSON.stringify(next) === JSON.stringify(mark)) return;
      mark = next;
      drawMark();
    },
    /** Removes the last frame: another page is shown, or none. */
    clear() {
      clears += 1;
      if (isEmpty) return;
      isEmpty = true;
      context?.clearRect(0, 0, canvas.width, canvas.height);
      drawMark();
    },
    /** A new connection numbers its frames from the beginning. */
    restart() {
      latest = 0;
    },
    /**
     * The point of the page under a position in the window. The image keeps its proportions in its box.
     * @param {{clientX: number, clientY: number}} event
     */
    pointOf({ clientX, clientY }) {
      const box = canvas.getBoundingClientRect();
      const scale = Math.min(box.width / size.width, box.height / size.height) || 1;
      const left = box.left + (box.width - size.width * scale) / 2;
      const top = box.top + (box.height - size.height * scale) / 2;
      return { x: (clientX - left) / scale, y: (clientY - top) / scale };
    },
  };
}
