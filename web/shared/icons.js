// Icons as SVG elements. Each is a list of shapes on a grid of 16.
// @ts-check

import { makeSvg } from "./element.js";

/** @type {Record<string, string[]>} */
const PATHS = {
  agent: ["M8 1.75 9.6 6.4 14.25 8 9.6 9.6 8 14.25 6.4 9.6 1.75 8 6.4 6.4 8 1.75Z"],
  ban: ["M14.25 8A6.25 6.25 0 1 1 1.75 8a6.25 6.25 0 0 1 12.5 0Z", "m3.6 3.6 8.8 8.8"],
  check: ["m3 8.5 3.25 3.25L13 4.75"],
  close: ["m4.25 4.25 7.5 7.5M11.75 4.25l-7.5 7.5"],
  copy: [
    "M7.25 5.75h5a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5h-5a1.5 1.5 0 0 1-1.5-1.5v-5a1.5 1.5 0 0 1 1.5-1.5Z",
    "M3.75 10.25h-.5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v.5",
  ],
  download: ["M8 2.25v8M4.75 7.25 8 10.5l3.25-3.25M2.75 13.25h10.5"],
  gear: [
    "M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z",
    "M8 1.75v1.75M8 12.5v1.75M14.25 8H12.5M3.5 8H1.75M12.4 3.6l-1.2 1.2M4.8 11.2l-1.2 1.2M12.4 12.4l-1.2-1.2M4.8 4.8 3.6 3.6",
  ],
  info: ["M14.25 8A6.25 6.25 0 1 1 1.75 8a6.25 6.25 0 0 1 12.5 0Z", "M8 7.25v3.5M8 5.1v.05"],
  list: ["M3 3.25h10M3 8h10M3 12.75h6"],
  pause: ["M5.5 3.5v9M10.5 3.5v9"],
  play: ["m5 3 7.5 5L5 13V3Z"],
  plug: ["M5.25 1.75v3M10.75 1.75v3M3.75 4.75h8.5v2.5a4.25 4.25 0 0 1-8.5 0v-2.5ZM8 11.5v2.75"],
  plus: ["M8 3v10M3 8h10"],
  retry: ["M13 8a5 5 0 1 1-1.5-3.55L13.25 6M13.25 2.5V6h-3.5"],
  pulse: ["M1.75 8h2.75l2-4.5 3 9 2-4.5h2.75"],
  right: ["m6.25 3.5 4.5 4.5-4.5 4.5"],
  rules: ["M2.75 5h5.5M11.75 5h1.5M2.75 11h1.5M7.75 11h5.5", "M11.75 5a1.75 1.75 0 1 1-3.5 0 1.75 1.75 0 0 1 3.5 0ZM7.75 11a1.75 1.75 0 1 1-3.5 0 1.75 1.75 0 0 1 3.5 0Z"],
  shield: ["M8 1.75 2.75 3.6v4c0 3.2 2.2 5.6 5.25 6.65 3.05-1.05 5.25-3.45 5.25-6.65v-4L8 1.75Z", "M8 5.25v3M8 10.6v.05"],
  stop: ["M4.5 4.5h7v7h-7z"],
  camera: ["M3.5 4.25h9a1.75 1.75 0 0 1 1.75 1.75v5.5a1.75 1.75 0 0 1-1.75 1.75h-9a1.75 1.75 0 0 1-1.75-1.75V6A1.75 1.75 0 0 1 3.5 4.25ZM5.25 4.25l.9-1.5h3.7l.9 1.5M10.25 8.6a2.25 2.25 0 1 1-4.5 0 2.25 2.25 0 0 1 4.5 0Z"],
  chat: ["M2.25 4.5A1.75 1.75 0 0 1 4 2.75h8a1.75 1.75 0 0 1 1.75 1.75v5A1.75 1.75 0 0 1 12 11.25H7l-3 2.5v-2.5A1.75 1.75 0 0 1 2.25 9.5v-5Z"],
  click: ["m6 6 7.5 2.75-3.25 1.5-1.5 3.25L6 6Z", "M5 2.25v-.5M2.25 5h-.5M3 3l-.4-.4M7.2 3l.3-.3M3 7.1l-.3.3"],
  code: ["M5.25 4.5 1.75 8l3.5 3.5M10.75 4.5l3.5 3.5-3.5 3.5"],
  eye: ["M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8Z", "M9.9 8a1.9 1.9 0 1 1-3.8 0 1.9 1.9 0 0 1 3.8 0Z"],
  globe: ["M14.25 8A6.25 6.25 0 1 1 1.75 8a6.25 6.25 0 0 1 12.5 0Z", "M1.75 8h12.5M8 1.75c2 2 2.5 4.25 2.5 6.25S10 12.25 8 14.25C6 12.25 5.5 10 5.5 8S6 3.75 8 1.75Z"],
  keyboard: ["M3.5 4h9a1.75 1.75 0 0 1 1.75 1.75v4.5A1.75 1.75 0 0 1 12.5 12h-9a1.75 1.75 0 0 1-1.75-1.75v-4.5A1.75 1.75 0 0 1 3.5 4Z", "M4.5 6.75h.05M7 6.75h.05M9.5 6.75h.05M11.75 6.75h.05M5 9.5h6"],
  more: ["M3.5 8h.05M8 8h.05M12.5 8h.05"],
  search: ["M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0Z", "m10.5 10.5 3 3"],
  tabs: ["M3.5 2.75h9a1.75 1.75 0 0 1 1.75 1.75v7a1.75 1.75 0 0 1-1.75 1.75h-9a1.75 1.75 0 0 1-1.75-1.75v-7A1.75 1.75 0 0 1 3.5 2.75Z", "M1.75 6h12.5M7 2.75V6"],
  terminal: ["m3 4.5 3.5 3.5L3 11.5M8.5 11.5H13"],
  clip: ["m13.25 7.5-5.3 5.3a3.3 3.3 0 0 1-4.7-4.7l5.5-5.5a2.2 2.2 0 0 1 3.1 3.1l-5.5 5.5a1.1 1.1 0 0 1-1.5-1.5l5-5"],
  down: ["m4 6.25 4 4 4-4"],
  past: ["M2.75 8A5.25 5.25 0 1 0 4.5 4.1L2.75 5.75M2.75 2.5v3.25H6M8 5.25V8l2 1.5"],
  pencil: ["m10.5 3.25 2.25 2.25-7.5 7.5-2.75.5.5-2.75 7.5-7.5Z"],
  point: ["M12.75 8a4.75 4.75 0 1 1-9.5 0 4.75 4.75 0 0 1 9.5 0Z", "M8 1.75v3M8 11.25v3M1.75 8h3M11.25 8h3"],
  trash: ["M3 4.5h10M6.25 4.5V3h3.5v1.5M4.25 4.5l.6 8.25h6.3l.6-8.25M6.75 7v3.5M9.25 7v3.5"],
  up: ["M8 13V3.25M3.75 7.5 8 3.25l4.25 4.25"],
};

/**
 * Adds the icons that one page alone uses.
 * @param {Record<string, string[]>} more
 */
export const addIcons = (more) => void Object.assign(PATHS, more);

/**
 * An icon. Screen readers skip it: the text beside it, or the label of its button, says the same.
 * @param {string} name
 */
export function icon(name) {
  const paths = PATHS[name];
  if (!paths) throw new Error(`There is no icon ${name}.`);
  const shapes = paths.map((d) => makeSvg("path", { d }));
  return makeSvg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, ...shapes);
}

/** The product's mark: a browser window with a pulse. */
export function brandIcon() {
  return makeSvg(
    "svg",
    { class: "icon brand", viewBox: "0 0 24 24", "aria-hidden": "true" },
    makeSvg("path", { d: "M5.5 2h13A3.5 3.5 0 0 1 22 5.5V8H2V5.5A3.5 3.5 0 0 1 5.5 2Z", fill: "currentColor", stroke: "none", opacity: ".62" }),
    makeSvg("path", { d: "M2 9.2h20v9.3a3.5 3.5 0 0 1-3.5 3.5h-13A3.5 3.5 0 0 1 2 18.5V9.2Z", fill: "currentColor", stroke: "none" }),
    makeSvg("path", { d: "M4.5 16.2h3.7l1.9-2.9 3.2 5 2-3h4.2", stroke: "var(--surface)" }),
  );
}
