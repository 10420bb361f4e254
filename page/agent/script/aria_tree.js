// The accessibility tree of an element in Playwright's form, for `ariaSnapshot` and `toMatchAriaSnapshot`.

/** Roles that Playwright gives a state to, by state. */
const ARIA_STATES = { checked: null, disabled: null, expanded: null, level: null, pressed: null, selected: null };
const MOST_ARIA_NODES = 20000;

/** Builds the tree. In `ai` mode it has generic elements, keys for refs and the cursor. */
class AriaTree {
  #isForAi;
  #withBoxes;
  #visited = new Set();
  /** Keys of all elements that can have a ref, in page order. */
  keys = [];

  constructor(isForAi, withBoxes) {
    this.#isForAi = isForAi;
    this.#withBoxes = withBoxes;
  }

  build(element) {
    const root = { role: "fragment", name: "", children: [] };
    this.#visit(root, element, true);
    return this.#distilled(root, false).children;
  }

  #visit(parent, node, isParentShown) {
    if (this.#visited.has(node) || this.#visited.size > MOST_ARIA_NODES) return;
    this.#visited.add(node);
    if (node.nodeType === Node.TEXT_NODE) {
      if (isParentShown && parent.role !== "textbox") parent.children.push(node.data);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || SILENT_TAGS.has(node.localName)) return;
    const isShownHere = !isHiddenFromAria(node) || (this.#isForAi && isShown(node));
    if (!isShownHere && !this.#isForAi) return;
    const made = isShownHere ? this.#node(node) : null;
    if (made !== null) parent.children.push(made);
    this.#children(made ?? parent, node, isShownHere);
  }

  #children(into, element, isShownHere) {
    const space = (displayOf(element) ?? "inline") !== "inline" || element.localName === "br" ? " " : "";
    into.children.push(space, generatedContent(element, "::before"));
    const assigned = element.localName === "slot" ? element.assignedNodes() : [];
    if (assigned.length > 0) for (const child of assigned) this.#visit(into, child, isShownHere);
    else {
      for (const child of element.childNodes) if (!child.assignedSlot) this.#visit(into, child, isShownHere);
      for (const child of shadowRootOf(element)?.childNodes ?? []) this.#visit(into, child, isShownHere);
    }
    for (const owned of elementsOfIds(element, "aria-owns")) this.#visit(into, owned, isShownHere);
    into.children.push(generatedContent(element, "::after"), space);
    if (into.role === "link" && element.hasAttribute("href") && into.url === undefined) into.url = shortUrl(element.getAttribute("href"));
    if (into.role === "textbox" && element.hasAttribute("placeholder") && element.getAttribute("placeholder") !== into.name) into.placeholder = element.getAttribute("placeholder");
  }

  #node(element) {
    const isFrame = isFrameElement(element);
    const role = isFrame ? "iframe" : ariaRoleOf(element) ?? (this.#isForAi ? "generic" : null);
    if (role === null || role === "presentation" || role === "none") return null;
    const style = styleOf(element);
    if (role === "generic" && (!this.#isForAi || (style.display === "inline" && element.childNodes.length === 1 && element.firstChild.nodeType === Node.TEXT_NODE))) return null;
    const made = { role, name: isFrame ? "" : plainMatchText(nameOf(element)).plain, children: [] };
    if (!isFrame) addAriaStates(made, element, role);
    if (this.#isForAi) {
      if (element.ownerDocument.activeElement === element && element.ownerDocument.hasFocus()) made.active = true;
      if (isShown(element) && style.pointerEvents !== "none") {
        made.key = keyOf(element);
        this.keys.push(made.key);
        if (style.cursor === "pointer") made.cursor = "pointer";
      }
    }
    if (element.getAttribute("aria-hidden")?.toLowerCase() === "true") made.ariaHidden = true;
    if (this.#withBoxes) {
      const { x, y, width, height } = element.getBoundingClientRect();
      made.box = { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) };
    }
    if ((element.localName === "input" && !["checkbox", "radio", "file"].includes(element.type)) || element.localName === "textarea") made.children = [isSecret(element) && element.value !== "" ? MASK : element.value];
    return made;
  }

  /** Joins texts, and leaves out what repeats its parent or groups one element only. */
  #distilled(node, isInClickable) {
    const isClickable = isInClickable || (node.key !== undefined && node.cursor === "pointer");
    const children = [];
    let text = "";
    const flush = () => {
      const plain = plainMatchText(text).plain;
      if (plain !== "") children.push(plain);
      text = "";
    };
    const add = (child) => {
      if (typeof child === "string") return void (text += child);
      const kept = this.#distilled(child, isClickable);
      if (this.#isForAi && isDecorative(kept, isClickable)) return;
      if (this.#isForAi && repeatsName(kept, node)) return;
      if (isBareGroup(kept, isClickable)) return void kept.children.forEach((one) => (typeof one === "string" ? (text += ` ${one} `) : (flush(), children.push(one))));
      flush();
      // The cursor of an element inside of a clickable one says nothing new.
      if (isClickable) delete kept.cursor;
      children.push(kept);
    };
    node.children.forEach(add);
    flush();
    node.children = children;
    if (children.length === 1 && children[0] === node.name) node.children = [];
    if (this.#isForAi) {
      inlineText(node);
      if (isNameRepeated(node)) node.name = "";
    }
    return node;
  }
}

function isHiddenFromAria(element) {
  return !isExposed(element);
}

function ariaRoleOf(element) {
  const role = roleOf(element);
  return role === "" || role === undefined || role === null || role === "generic" ? null : role === "image" ? "img" : role;
}

function addAriaStates(made, element, role) {
  const states = statesOf(element, role);
  for (const name of Object.keys(ARIA_STATES)) {
    const value = name === "level" ? levelOf(element, role) : states[name];
    if (value) made[name] = value;
  }
  const invalid = element.getAttribute("aria-invalid");
  if (["application", "checkbox", "combobox", "gridcell", "listbox", "radiogroup", "slider", "spinbutton", "textbox", "tree", "columnheader", "rowheader", "searchbox", "switch", "treegrid"].includes(role) && invalid !== null && invalid !== "" && invalid !== "false") {
    made.invalid = invalid === "grammar" || invalid === "spelling" ? invalid : true;
  }
}

/** The text that a style puts before or after an element. */
function generatedContent(element, which) {
  if (!hasGeneratedText(element)) return "";
  const { content, display } = getComputedStyle(element, which);
  if (content === "none" || content === "normal") return "";
  const text = generatedText(generatedParts(content), element);
  return display === "inline" || text === "" ? text : ` ${text} `;
}

function shortUrl(url) {
  return url.startsWith("data:") && url.includes(",") ? `${url.slice(0, url.indexOf(",") + 1)}…` : url;
}

function isDecorative({ role, name, children, key, cursor }, isInClickable) {
  return role === "img" && name === "" && children.length === 0 && (isInClickable || key === undefined || cursor !== "pointer");
}

/** A generic element whose text is the name of its parent. */
function repeatsName(node, parent) {
  if (node.role !== "generic" || parent.name === "" || node.active) return false;
  return node.name === "" ? node.children.length === 1 && node.children[0] === parent.name : node.children.length === 0 && node.name === parent.name;
}

function isBareGroup({ role, name, children, key, cursor }, isInClickable) {
  if (role !== "generic" || name !== "" || children.length > 1) return false;
  if (children.length === 0) return isInClickable || key === undefined || cursor !== "pointer";
  return typeof children[0] !== "string" && children[0].key !== undefined;
}

/** Whether the name only repeats the names and texts of the elements below. */
function isNameRepeated({ name, children }) {
  if (name === "" || children.every((child) => typeof child === "string")) return false;
  const shown = (list) => list.map((child) => (typeof child === "string" ? child : child.name === "" ? shown(child.children) : child.name)).join(" ");
  return plainMatchText(shown(children)).plain === name;
}

/** A generic element around the text of another one takes that text. */
function inlineText(node) {
  const [child] = node.children;
  if (node.role !== "generic" || node.children.length !== 1 || typeof child === "string") return;
  if (child.role === "generic" && child.name === "" && !child.active && child.children.length === 1 && typeof child.children[0] === "string") node.children = [child.children[0]];
}

/** The tree of the element, or of the page's body. Waits for the element. */
agent.ariaTree = async ({ spec, ai = false, boxes = false, timeout = 0 }) => {
  let element = document.body;
  if (spec !== undefined && spec !== null) {
    const { elements } = await agent.query({ spec, keys: true, timeout });
    element = byRef({ key: elements[0].key });
  }
  const tree = new AriaTree(ai, boxes);
  const nodes = element === null ? [] : inPass(() => tree.build(element));
  return { document: documentName, nodes, keys: tree.keys };
};
