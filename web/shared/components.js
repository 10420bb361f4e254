// Small parts of several views: tags, notices, site icons, commands to copy.
// @ts-check

import { button, make } from "./element.js";
import { icon } from "./icons.js";

const TINTS = 6;
const COPIED_MS = 1500;

/**
 * A short state with a dot before it.
 * @param {string} text
 * @param {string} [look] good, warning, bad or agent
 */
export function tag(text, look = "") {
  return make("span", { look: `tag ${look}`.trim(), title: text }, make("span", { look: "dot" }), make("span", { look: "cut" }, text));
}

/**
 * A sentence with an icon, and more below it.
 * @param {{look?: string, icon: string, title: string, text?: string, command?: string}} content
 */
export function notice({ look = "", icon: name, title, text = "", command = "" }) {
  const texts = make("div", { look: "texts" }, make("strong", {}, title), text !== "" && make("p", { look: "small" }, text), command !== "" && commandLine(command));
  return make("div", { look: `notice ${look}`.trim() }, icon(name), texts);
}

/**
 * A command with a button that copies it.
 * @param {string} command
 */
export function commandLine(command) {
  const copy = button([icon("copy")], () => navigator.clipboard.writeText(command).then(showCopied, () => {}), { look: "plain only-icon mini", label: `Copy ${command}` });
  const showCopied = () => {
    copy.replaceChildren(icon("check"));
    setTimeout(() => copy.replaceChildren(icon("copy")), COPIED_MS);
  };
  return make("div", { look: "command" }, make("code", {}, command), copy);
}

/**
 * The icon of a site: an image of the given source, else the first letter of its host.
 * @param {string} url
 * @param {string | null} image
 * @param {string} [look]
 */
export function siteIcon(url, image, look = "") {
  if (image) return make("img", { look: `site-icon ${look}`.trim(), src: image, alt: "", width: "18", height: "18" });
  const host = hostOf(url);
  const letter = (host.replace(/^www\./, "").match(/[\p{L}\p{N}]/u)?.[0] ?? "•").toUpperCase();
  const tint = [...host].reduce((sum, one) => sum + (one.codePointAt(0) ?? 0), 0) % TINTS;
  return make("span", { look: `site-icon tint-${tint} ${look}`.trim(), "aria-hidden": "true" }, letter);
}

/**
 * The host of a URL with its port, or the beginning of a URL without one.
 * @param {string} url
 */
export function hostOf(url) {
  try {
    const { host, protocol, pathname } = new URL(url);
    return host || `${protocol}${pathname}`.slice(0, 40);
  } catch {
    return url.slice(0, 40);
  }
}
