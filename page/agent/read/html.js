// The page's HTML, unchanged or cleaned. Serialises the tree itself: cloning elements would run page code.

const VOID_TAGS = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const RAW_TEXT_TAGS = new Set(["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"]);
const CLEANED_TAGS = new Set("script style noscript template link meta base head svg canvas object embed audio video source track".split(" "));
/** Attributes that clean HTML keeps. */
const KEPT_ATTRIBUTES = /^(id|class|name|type|href|src|alt|title|value|placeholder|for|action|method|role|aria-[\w-]+|data-test[\w-]*|data-qa|data-cy|colspan|rowspan|scope|start|checked|selected|disabled|readonly|required|multiple|lang|dir|open|datetime|label|contenteditable)$/;

class HtmlWriter {
  constructor(clean) {
    this.clean = clean;
    this.pieces = [];
    this.length = 0;
  }

  put(text) {
    if (this.length < MAX_READ_CHARACTERS) this.pieces.push(text);
    this.length += text.length;
  }

  text() {
    return this.pieces.join("").slice(0, MAX_READ_CHARACTERS);
  }

  /** Writes an element and its descendants. Cleaning uses `depth` and `seen`. */
  element(element, depth, seen = READ_ALL) {
    if (this.length > MAX_READ_CHARACTERS * 2 || depth > MAX_READ_DEPTH * 4) return;
    const name = isHtml(element) ? element.localName : element.tagName;
    const before = { count: this.pieces.length, length: this.length };
    this.put(`<${name}${this.attributes(element)}>`);
    if (isHtml(element) && VOID_TAGS.has(name)) return;
    const start = this.length;
    this.inside(element, depth, seen);
    if (seen === READ_BELOW && this.length === start) {
      // Neither the element nor a descendant is visible.
      this.pieces.length = before.count;
      this.length = before.length;
      return;
    }
    this.put(`</${name}>`);
  }

  inside(element, depth, seen) {
    if (this.clean) return this.cleanInside(element, depth, seen);
    const below = depth + 1;
    const shadow = shadowRootOf(element);
    if (shadow !== null) {
      this.put(`<template shadowrootmode="open">`);
      for (const child of shadow.childNodes) this.node(child, below);
      this.put("</template>");
    }
    const nodes = element.localName === "template" && element.content ? element.content.childNodes : element.childNodes;
    for (const child of nodes) this.node(child, below);
  }

  cleanInside(element, depth, seen) {
    if (isCrossOriginFrame(element)) return this.put(framePlaceholder(element));
    const below = depth + 1;
    for (const child of composedChildren(element)) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (seen === READ_ALL && !isClosedDetails(element)) this.cleanText(child, element);
      } else if (child.nodeType === Node.ELEMENT_NODE && !CLEANED_TAGS.has(child.localName)) {
        // Keep options even while their list is closed.
        const of = isMenuOption(child) ? READ_ALL : readLevelOf(child, below);
        if (of !== READ_NOTHING) this.element(child, below, of);
      }
    }
  }

  cleanText(node, parent) {
    const text = plainText(node.data);
    this.put(escapeHtml(keepsSpace(styleOf(parent)) ? text : text.replace(/\s+/g, " ")));
  }

  node(node, depth) {
    switch (node.nodeType) {
      case Node.ELEMENT_NODE:
        return this.element(node, depth);
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

/** The HTML of the document or of one element. */
agent.readHtml = (request) => inPass(() => {
  const root = request.key === undefined ? document.documentElement : byRef(request);
  const writer = new HtmlWriter(request.clean === true);
  const start = request.clean === true && root === document.documentElement ? document.body : root;
  if (request.key === undefined && request.clean !== true && document.doctype !== null) writer.put(`<!doctype ${document.doctype.name}>`);
  if (start !== null) writer.element(start, 0);
  return { url: location.href, title: document.title, text: writer.text(), length: writer.length };
});
