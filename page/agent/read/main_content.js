// Finds the main content of a page. Scores text as Mozilla's Readability does.

const LIKELY_MAIN = /article|body|content|entry|main|page|post|text|blog|story/i;
const UNLIKELY_MAIN = /(^|[-_\s])(ad|ads|advert|banner|breadcrumbs?|combx|comments?|community|cookie|consent|disqus|extra|foot|footer|gdpr|header|legends|menu|modal|nav|navbar|newsletter|pager|popup|promo|recommend(ed|ations)?|related|remark|replies|rss|share|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|toolbar|widget)([-_\s]|$)/i;
const ASIDE_TAGS = new Set(["nav", "aside", "footer", "form", "dialog"]);
const ASIDE_ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar"]);
/** Shorter texts do not count for the score. */
const MIN_SCORED_TEXT = 25;
/** When the part found has less text, the whole page is read. */
const MIN_MAIN_TEXT = 140;

/** The part to read: `{root, heading, skips}`; null when no part stands out. */
function mainContent(body) {
  const root = markedMain(body) ?? scoredMain(body);
  if (root === null || root === body) return bodyWithoutAsides(body);
  const heading = firstHeading(body, root);
  return { root, heading, skips: (element) => isUnrelated(element, root) };
}

/** The part that the page marks as main. */
function markedMain(body) {
  const mains = Array.from(body.querySelectorAll("main, [role=main]")).filter(isRendered);
  const articles = Array.from(body.querySelectorAll("article, [role=article], [itemprop=articleBody]")).filter(isRendered);
  const whole = articles.filter((one) => !articles.some((other) => other !== one && other.contains(one)));
  if (whole.length === 1 && textLength(whole[0]) > textLength(mains[0] ?? body) * 0.5) return ifLongEnough(whole[0]);
  return mains.length === 1 ? ifLongEnough(mains[0]) : null;
}

function ifLongEnough(element) {
  return textLength(element) >= MIN_MAIN_TEXT ? element : null;
}

function textLength(element) {
  return (element.innerText ?? "").trim().length;
}

/** The element with the most running text. */
function scoredMain(body) {
  const scores = new Map();
  for (const block of body.querySelectorAll("p, pre, td, blockquote, li, section > div")) {
    if (block.localName === "div" && block.querySelector(BLOCKS) !== null) continue;
    const text = block.innerText?.trim() ?? "";
    if (text.length < MIN_SCORED_TEXT) continue;
    const worth = 1 + Math.min(10, text.split(/[,、،]/).length - 1) + Math.min(3, Math.floor(text.length / 100));
    let share = 1;
    for (let above = block.parentElement, level = 0; above !== null && body.contains(above) && level < 4; above = above.parentElement, level++) {
      if (!scores.has(above)) scores.set(above, classScore(above));
      scores.set(above, scores.get(above) + worth * share);
      share = level === 0 ? 0.5 : share / 1.5;
    }
  }
  let best = null;
  let most = 0;
  for (const [element, score] of scores) {
    const weighed = score * (1 - linkShare(element));
    if (weighed > most) [best, most] = [element, weighed];
  }
  if (best === null) return null;
  return ifLongEnough(widen(best, most, scores, body));
}

/** Moves up while the parent adds as much text again, because articles are often split into boxes. */
function widen(best, most, scores, body) {
  let part = best;
  for (let above = best.parentElement; above !== null && above !== body && body.contains(above); above = above.parentElement) {
    const score = (scores.get(above) ?? 0) * (1 - linkShare(above));
    const beside = Array.from(above.children).filter((child) => child !== part && (scores.get(child) ?? 0) > most * 0.2);
    if (score < most && beside.length === 0) break;
    part = above;
  }
  return part;
}

function classScore(element) {
  const words = `${element.className} ${element.id}`;
  return (LIKELY_MAIN.test(words) ? 5 : 0) - (UNLIKELY_MAIN.test(words) ? 10 : 0) - (isAside(element) ? 20 : 0);
}

function linkShare(element) {
  const whole = element.textContent.trim().length;
  if (whole === 0) return 1;
  let linked = 0;
  for (const link of element.querySelectorAll("a[href]")) linked += link.textContent.trim().length;
  return Math.min(1, linked / whole);
}

function isAside(element) {
  const role = element.getAttribute("role");
  return ASIDE_TAGS.has(element.localName) || (role !== null && ASIDE_ROLES.has(role));
}

/** Whether an element inside the main content is something else: menu, share buttons, comments, adverts. */
function isUnrelated(element, root) {
  if (element === root) return false;
  if (element.localName === "form") return element.textContent.length < 2000 && element.querySelector("p, table, pre") === null;
  if (isAside(element)) return element.localName !== "aside" || linkShare(element) > 0.3 || UNLIKELY_MAIN.test(`${element.className} ${element.id}`);
  if (element.localName === "button" || element.localName === "fieldset") return true;
  const words = `${typeof element.className === "string" ? element.className : ""} ${element.id}`;
  if (words === " " || !UNLIKELY_MAIN.test(words) || element.querySelector("h1, pre") !== null) return false;
  return element.localName !== "header" && (linkShare(element) > 0.3 || element.textContent.trim().length < 400 || /comment|cookie|consent|promo|sponsor|advert/i.test(words));
}

/** The page's only h1, when it is outside the main content. */
function firstHeading(body, root) {
  if (root.querySelector("h1") !== null) return null;
  const headings = Array.from(body.querySelectorAll("h1")).filter((one) => isRendered(one) && !isWithin(root, one));
  return headings.length === 1 ? headings[0] : null;
}

/** Fallback: the body without menus and footers. */
function bodyWithoutAsides(body) {
  const skips = (element) => (element.localName === "nav" || element.localName === "footer" || element.getAttribute("role") === "navigation" || element.getAttribute("role") === "contentinfo") && element !== body;
  return { root: body, heading: null, skips };
}
