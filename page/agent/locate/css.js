// CSS selectors that reach into open shadow roots and same-origin frames.

/** Elements that match the selector in any root. The compounds of one selector may lie in different roots. */
function findByCss(selector, roots) {
  const found = new Set();
  try {
    for (const root of roots) for (const element of root.querySelectorAll(selector)) found.add(element);
  } catch {
    fail("BAD_ARGS", `"${shorten(selector)}" is not a CSS selector.`, "Use `text=...` for text and `role=button[name=...]` for roles.");
  }
  if (roots.length > 1 && /[\s>]/.test(selector.trim())) {
    for (const steps of selectorSteps(selector)) {
      if (steps.length > 1) addAcrossRoots(steps, roots, found);
    }
  }
  return [...found];
}

function addAcrossRoots(steps, roots, found) {
  const last = steps.at(-1).compound;
  for (const root of roots) {
    for (const element of queryAll(root, last)) {
      if (!found.has(element) && matchesSteps(element, steps, steps.length - 1)) found.add(element);
    }
  }
}

/** What a compound matches; empty for one that is invalid on its own. */
function queryAll(root, compound) {
  try {
    return root.querySelectorAll(compound);
  } catch {
    return [];
  }
}

/** Whether the element, which matches step `at`, also satisfies the steps before it. */
function matchesSteps(element, steps, at) {
  if (at === 0) return true;
  const before = steps[at - 1].compound;
  switch (steps[at].combinator) {
    case ">": {
      const parent = parentAcross(element);
      return parent !== null && parent.matches(before) && matchesSteps(parent, steps, at - 1);
    }
    case "+": {
      const sibling = element.previousElementSibling;
      return sibling !== null && sibling.matches(before) && matchesSteps(sibling, steps, at - 1);
    }
    case "~":
      for (let node = element.previousElementSibling; node !== null; node = node.previousElementSibling) {
        if (node.matches(before) && matchesSteps(node, steps, at - 1)) return true;
      }
      return false;
    default:
      for (let node = parentAcross(element); node !== null; node = parentAcross(node)) {
        if (node.matches(before) && matchesSteps(node, steps, at - 1)) return true;
      }
      return false;
  }
}

/** The parent element, or the host or frame element of the root. */
function parentAcross(element) {
  if (element.parentElement !== null) return element.parentElement;
  const root = element.getRootNode();
  return root.host ?? (root === document ? null : (root.defaultView?.frameElement ?? null));
}

/** Parses a selector list: for each selector its compounds, each with the combinator before it. */
function selectorSteps(selector) {
  const lists = [[]];
  let compound = "";
  let combinator = "";
  const close = () => {
    if (compound === "") return;
    lists.at(-1).push({ compound, combinator });
    compound = "";
    combinator = " ";
  };
  for (const piece of selectorPieces(selector)) {
    if (piece === ",") {
      close();
      lists.push([]);
      combinator = "";
    } else if (/^\s+$/.test(piece)) {
      close();
    } else if (piece === ">" || piece === "+" || piece === "~") {
      close();
      combinator = piece;
    } else {
      compound += piece;
    }
  }
  close();
  return lists;
}

/** Splits into strings, bracketed groups, escapes, whitespace and single characters. */
function selectorPieces(selector) {
  const pieces = [];
  for (let at = 0; at < selector.length; ) {
    const end = pieceEnd(selector, at);
    pieces.push(selector.slice(at, end));
    at = end;
  }
  return pieces;
}

const BRACKETS = { "(": ")", "[": "]" };

function pieceEnd(selector, start) {
  const first = selector[start];
  if (first === "\\") return start + 2;
  if (/\s/.test(first)) {
    let end = start;
    while (end < selector.length && /\s/.test(selector[end])) end++;
    return end;
  }
  if (first === '"' || first === "'") return stringEnd(selector, start);
  const closing = BRACKETS[first];
  if (closing === undefined) return start + 1;
  let at = start + 1;
  while (at < selector.length && selector[at] !== closing) at = pieceEnd(selector, at);
  return at + 1;
}

function stringEnd(selector, start) {
  let at = start + 1;
  while (at < selector.length && selector[at] !== selector[start]) at += selector[at] === "\\" ? 2 : 1;
  return at + 1;
}
