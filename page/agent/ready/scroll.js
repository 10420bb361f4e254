// Scrolls the page or an element and reports the new position.

/** The nearest scrollable ancestor or self, else the page. */
function scrollerOf(element) {
  for (let node = element; node !== null; node = composedParent(node)) {
    const style = getComputedStyle(node);
    const scrolls = (overflow, room) => room > 0 && (overflow === "auto" || overflow === "scroll");
    if (node === node.ownerDocument.scrollingElement) return node;
    if (scrolls(style.overflowY, node.scrollHeight - node.clientHeight) || scrolls(style.overflowX, node.scrollWidth - node.clientWidth)) return node;
  }
  return document.scrollingElement ?? document.documentElement;
}

function scrollState(scroller) {
  return {
    x: Math.round(scroller.scrollLeft),
    y: Math.round(scroller.scrollTop),
    width: scroller.scrollWidth,
    height: scroller.scrollHeight,
    viewWidth: scroller.clientWidth,
    viewHeight: scroller.clientHeight,
  };
}

function scrollEnds(scroller) {
  const { x, y, width, height, viewWidth, viewHeight } = scrollState(scroller);
  return { top: y <= 0, bottom: y + viewHeight >= height - 1, left: x <= 0, right: x + viewWidth >= width - 1 };
}

const EDGE_POSITIONS = { top: { top: 0 }, left: { left: 0 } };

/** Scrolls `by` an offset, `to` a position or to an `edge`; else scrolls the element of `key` into view. */
agent.scroll = ({ key, by, to, edge }) => {
  const element = key === undefined || key === null ? null : byRef({ key });
  const scroller = element === null ? (document.scrollingElement ?? document.documentElement) : scrollerOf(element);
  const before = scrollState(scroller);
  if (by) scroller.scrollBy({ left: by.x ?? 0, top: by.y ?? 0, behavior: "instant" });
  else if (to) scroller.scrollTo({ left: to.x ?? before.x, top: to.y ?? before.y, behavior: "instant" });
  else if (edge === "bottom") scroller.scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
  else if (edge === "right") scroller.scrollTo({ left: scroller.scrollWidth, behavior: "instant" });
  else if (edge) scroller.scrollTo({ ...(EDGE_POSITIONS[edge] ?? fail("BAD_ARGS", `"${edge}" is not an edge.`, "Edges are top, bottom, left, right.")), behavior: "instant" });
  else if (element !== null) bringIntoView(element, "center");
  else fail("BAD_ARGS", "The scroll has no destination.", "Use an offset, a position, an edge or an element.");
  const after = scrollState(scroller);
  return { scroller: scroller === document.scrollingElement ? null : describeElement(scroller), before, after, moved: { x: after.x - before.x, y: after.y - before.y }, at: scrollEnds(scroller) };
};
