// Lists the agent's description of every element. Tests insert it into the agent's scope.

const probe = {};

/** Elements in the order of the markup: an element, its open shadow root, its children, the document in a frame. */
probe.list = (parent, found = []) => {
  for (const element of parent.children) {
    found.push(element);
    if (element.shadowRoot) probe.list(element.shadowRoot, found);
    probe.list(element, found);
    if (element.localName === "iframe" && element.contentDocument) probe.list(element.contentDocument, found);
  }
  return found;
};

probe.elements = () => {
  const numbers = new Map();
  return inPass(() =>
    probe.list(document).map((element) => {
      const tag = element.localName;
      numbers.set(tag, (numbers.get(tag) ?? 0) + 1);
      return {
        tag,
        number: numbers.get(tag),
        is_exposed: isExposed(element),
        role: roleOf(element),
        name: nameOf(element),
        description: descriptionOf(element),
        states: statesOf(element),
      };
    }),
  );
};

/** Whether the element with this id is visible to a user, and why not. */
probe.seeing = (id) => {
  const element = document.getElementById(id);
  return { perceivable: isPerceivable(element), reader: isScreenReaderOnly(element), why: invisibleReasonOf(element) };
};

/** Computes all names in one pass, `times` times; returns the milliseconds. */
probe.naming = (selector, times) => {
  const elements = [...document.querySelectorAll(selector)];
  const start = performance.now();
  for (let pass = 0; pass < times; pass += 1) inPass(() => elements.forEach((element) => nameOf(element)));
  return performance.now() - start;
};

globalThis.probe = probe;
