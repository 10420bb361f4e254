// The page's HTML, as it is or cleaned of what no reader needs. Written anew from the tree: copying elements would run
// code of the page. Knows nothing of text or Markdown.

const VOID_TAGS = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const RAW_TEXT_TAGS = new Set(["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"]);
const CLEANED_TAGS = new Set("script style noscript template link meta base head svg canvas object embed audio video source track".split(" "));
/** Attributes that say something to a reader or tell elements apart. */
const KEPT_ATTRIBUTES = /^(id|class|name|type|href|src|alt|title|value|placeholder|for|action|method|role|aria-[\w-]+|data-test[\w-]*|data-qa|data-cy|colspan|rowspan|scope|start|checked|selected|disabled|readonly|required|multiple|lang|dir|open|datetime|label|contenteditable)$/;

class HtmlWriter {
  constructor(clean) {
    this.clean = clean;
    this.pieces = [];
    this.length = 0;
  }

  put(text) {
    if (this.length < READ_CHARACTERS) this.pieces.push(text);
    this.length += text.length;
  }

  text() {
    return this.pieces.join("").slice(0, READ_CHARACTERS);
  }

  /** Writes an element and what is below it; `gaze` and `seen` are only needed for cleaning. */
  element(element, gaze, seen = READ_ALL) {
    if (this.length > READ_CHARACTERS * 2 || gaze.depth > READ_DEPTH * 4) return;
    const name = isHtml(element) ? element.localName : element.tagName;
    const before = { count: this.pieces.length, length: this.length };
    this.put(`<${name}${this.attributes(element)}>`);
    if (isHtml(element) && VOID_TAGS.has(name)) return;
    const start = this.length;
    this.inside(element, gaze, seen);
    if (seen === READ_BELOW && this.length === start) {
      // Neither it nor anything in it is seen.
      this.pieces.length = before.count;
      this.length = before.length;
      return;
    }
    this.put(`</${name}>`);
  }

  inside(element, gaze, seen) {
    if (this.clean) return this.cleanInside(element, gaze, seen);
    const below = gaze.into();
    const shadow = shadowRootOf(element);
    if (shadow !== null) {
      this.put(`<template shadowrootmode="open">`);
      for (const child of shadow.childNodes) this.node(child, below);
      this.put("</template>");
    }
    const nodes = element.localName === "template" && element.content ? element.content.childNodes : element.childNodes;
    for (const child of nodes) this.node(child, below);
  }

  cleanInside(element, gaze, seen) {
    if (isForeignFrame(element)) return this.put(frameMark(element));
    const below = gaze.into();
    for (const child of composedChildren(element)) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (seen === READ_ALL && !isClosedDetails(element)) this.cleanText(child, element);
      } else if (child.nodeType === Node.ELEMENT_NODE && !CLEANED_TAGS.has(child.localName)) {
        // Options are kept whether or not their list is open.
        const of = isMenuOption(child) ? READ_ALL : readingOf(child, below);
        if (of !== READ_NOTHING) this.element(child, below, of);
      }
    }
  }

  cleanText(node, parent) {
    const text = plainText(node.data);
    this.put(escapeHtml(keepsSpace(styleOf(parent)) ? text : text.replace(/\s+/g, " ")));
  }

  node(node, gaze) {
    switch (node.nodeType) {
      case Node.ELEMENT_NODE:
        return this.element(node, gaze);
      case Node.TEXT_NODE:
        return this.put(RAW_TEXT_TAGS.has(node.parentNode.localName) ? plainText(node.data) : escapeHtml(plainText(node.data)));
      case Node.COMMENT_NODE:
        return this.put(`<!--${plainText(node.data)}-->`);
      default:
    }
  }

  attributes(element) {
    let text = "";
    for (const { name, value } of element.attributes) {
      if (this.clean && !isKeptAttribute(name, value)) continue;
      const shown = name === "value" && isSecret(element) && value !== "" ? MASK : plainText(value);
      text += shown === "" ? ` ${name}=""` : ` ${name}="${escapeAttribute(shown)}"`;
    }
    return text;
  }
}

function isKeptAttribute(name, value) {
  if (!KEPT_ATTRIBUTES.test(name) || (value === "" && name === "class")) return false;
  return !/^\s*(data|javascript|blob):/i.test(value);
}

function escapeHtml(text) {
  return text.replace(/[&<>\u00a0]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;" })[letter]);
}

function escapeAttribute(text) {
  return text.replace(/[&"<>\u00a0]/g, (letter) => ({ "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;" })[letter]);
}

/** The HTML of the document, or of the element that is meant. */
agent.readHtml = (request) => inPass(() => {
  const root = request.key === undefined ? document.documentElement : byRef(request);
  const writer = new HtmlWriter(request.clean === true);
  const start = request.clean === true && root === document.documentElement ? document.body : root;
  if (request.key === undefined && request.clean !== true && document.doctype !== null) writer.put(`<!doctype ${document.doctype.name}>`);
  if (start !== null) writer.element(start, new Gaze());
  return { url: location.href, title: document.title, text: writer.text(), length: writer.length };
});
