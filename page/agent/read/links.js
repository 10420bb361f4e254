// The links of a page: text and URL.

/** Most links in one response. */
const MAX_LINKS = 5000;

/** Every visible link below a scope, one entry per URL, in page order. `idle` counts links without a usable URL. */
agent.links = (request) => inPass(() => {
  const scope = request.key === undefined ? document : byRef(request);
  const links = new Map();
  let idle = 0;
  let more = 0;
  for (const root of rootsBelow(scope)) {
    const own = root.nodeType === Node.ELEMENT_NODE && root.matches("a[href], area[href]") ? [root] : [];
    for (const link of [...own, ...root.querySelectorAll("a[href], area[href]")]) {
      if (!isVisibleLink(link)) continue;
      const href = typeof link.href === "string" ? link.href : "";
      if (!/^(https?|mailto|tel|ftp|file|sms|geo):/i.test(href)) {
        idle += 1;
      } else if (links.has(href)) {
        const known = links.get(href);
        known.count += 1;
        if (known.text === "") known.text = linkText(link);
      } else if (links.size < MAX_LINKS) {
        links.set(href, { text: linkText(link), url: plainText(href), count: 1, key: keyOf(link) });
      } else {
        more += 1;
      }
    }
  }
  return { document: documentName, url: location.href, title: document.title, links: [...links.values()], idle, more };
});

function isVisibleLink(link) {
  if (link.localName === "area") return imageOfArea(link) !== null;
  if (!isShown(link)) return false;
  for (let node = link; node !== null; node = composedParent(node)) {
    const reason = invisibleReasonOf(node);
    if (reason === "opacity" || reason === "clipped" || reason === "screen-reader-only") return false;
  }
  return !isLeftOrAbovePage(link);
}

function linkText(link) {
  const text = visibleLine(link, READ_ALL, 0);
  return shorten(text === "" ? foldText(plainText(nameOf(link))) : text, 200);
}
