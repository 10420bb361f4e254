// `toMatchAriaSnapshot`: a template in YAML is compared with the accessibility tree.

/** The lines of a template as `{ indent, text }`, without empty lines and comments. */
function templateLines(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
  return lines.map((line) => ({ indent: line.length - line.trimStart().length, text: line.trim() }));
}

/** A YAML scalar as text. */
function yamlScalar(text) {
  if (/^"(?:[^"\\]|\\.)*"$/s.test(text)) return parse(text);
  const single = /^'((?:[^']|'')*)'$/s.exec(text);
  return single === null ? text : single[1].replaceAll("''", "'");
}

/** Splits `key: value`; a colon in quotes, brackets or a pattern is part of the key. */
function splitEntry(text) {
  const quoted = /^'((?:[^']|'')*)'\s*(?::\s*(.*))?$/s.exec(text);
  if (quoted !== null) return [quoted[1].replaceAll("''", "'"), text.endsWith(":") || quoted[2] !== undefined ? quoted[2] ?? "" : undefined];
  let quote = null;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\\") at++;
    else if (quote !== null) quote = letter === quote ? null : quote;
    else if (letter === '"' || (letter === "/" && at > 0 && text[at - 1] === " ")) quote = letter;
    else if (letter === ":" && (at === text.length - 1 || text[at + 1] === " ")) return [text.slice(0, at), text.slice(at + 1).trim()];
  }
  return [text, undefined];
}

const TEMPLATE_STATES = ["checked", "disabled", "expanded", "active", "invalid", "level", "pressed", "selected"];

/** `button "Pay" [disabled]` as a node. */
function templateNode(key) {
  const [whole, role, quoted, pattern, rest] = /^([a-zA-Z]+)\s*(?:"((?:[^"\\]|\\.)*)"|\/((?:[^/\\]|\\.)+)\/)?\s*((?:\[[^\]]*\]\s*)*)$/s.exec(key) ?? [];
  if (whole === undefined) throw new Error(`Unexpected input:\n\n${key}\n`);
  const node = { role, states: {}, children: [], properties: {} };
  if (quoted !== undefined) node.name = plainText(quoted.replace(/\\(.)/gs, "$1"));
  if (pattern !== undefined) node.name = new RegExp(pattern);
  for (const [, name, value = "true"] of rest.matchAll(/\[\s*([a-zA-Z]+)\s*(?:=\s*([^\]\s]+)\s*)?\]/g)) {
    if (!TEMPLATE_STATES.includes(name)) throw new Error(`Unsupported attribute [${name}]:\n\n${key}\n`);
    node.states[name] = name === "level" ? Number(value) : value === "true" ? true : value === "false" ? false : value;
  }
  return node;
}

function plainText(text) {
  return text.replace(/[\u200b\u00ad]/g, "").replace(/\s+/g, " ").trim();
}

/** Reads a template into a tree; the root is a fragment. */
function parseAriaTemplate(text) {
  const root = { role: "fragment", states: {}, children: [], properties: {} };
  const path = [{ indent: -1, node: root }];
  for (const { indent, text: line } of templateLines(text)) {
    if (!line.startsWith("- ") && line !== "-") throw new Error('Aria snapshot must be a YAML sequence, elements starting with " -"');
    while (path.at(-1).indent >= indent) path.pop();
    const parent = path.at(-1).node;
    const [key, value] = splitEntry(line.slice(1).trim());
    if (key === "text") parent.children.push({ text: yamlScalar(value ?? "") });
    else if (key === "/children") {
      if (!["contain", "equal", "deep-equal"].includes(value)) throw new Error('Strict value should be "contain", "equal" or "deep-equal"');
      parent.mode = value;
    } else if (key.startsWith("/") && value !== undefined) parent.properties[key.slice(1)] = yamlScalar(value);
    else {
      const node = templateNode(key);
      if (value !== undefined && value !== "") node.children.push({ text: yamlScalar(value) });
      parent.children.push(node);
      path.push({ indent, node });
    }
  }
  const [only] = root.children;
  return root.children.length === 1 && (root.mode ?? "contain") === "contain" ? only : root;
}

function fitsText(text, wanted) {
  if (plainText(wanted) === "") return true;
  if (!text) return false;
  if (text === plainText(wanted) || text === wanted) return true;
  const pattern = /^\/(.+)\/$/s.exec(wanted);
  try {
    return pattern !== null && new RegExp(pattern[1]).test(text);
  } catch {
    return false;
  }
}

function fitsTemplate(node, template, isDeep) {
  if (typeof node === "string" || template.text !== undefined) return typeof node === "string" && template.text !== undefined && fitsText(node, template.text);
  if (template.role !== "fragment" && template.role !== node.role) return false;
  for (const [name, wanted] of entries(template.states)) if ((node[name] ?? (name === "level" ? undefined : false)) !== wanted) return false;
  if (template.name !== undefined && template.name !== "" && !(template.name instanceof RegExp ? template.name.test(node.name ?? "") : template.name === node.name)) return false;
  if (template.properties.url !== undefined && !fitsText(node.url, template.properties.url)) return false;
  const children = node.text === undefined ? node.children ?? [] : [node.text];
  const mode = template.mode ?? (isDeep ? "deep-equal" : "contain");
  if (mode === "contain") {
    let at = 0;
    for (const child of children) if (at < template.children.length && fitsTemplate(child, template.children[at], false)) at++;
    return at === template.children.length;
  }
  return children.length === template.children.length && children.every((child, at) => fitsTemplate(child, template.children[at], mode === "deep-equal"));
}

/** Whether a node of the tree, at any depth, fits the template. */
function hasFittingNode(node, template) {
  if (fitsTemplate(node, template, false)) return true;
  if (typeof node === "string") return false;
  return (node.text === undefined ? node.children ?? [] : [node.text]).some((child) => hasFittingNode(child, template));
}

/** The template without the indent that all of its lines share. */
function unindented(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const indent = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indent)).join("\n");
}

async function expectAria(subject, expected, isNot, isSoft, message, { timeout = expectTimeout.value } = {}) {
  const error = new Error("");
  const what = subject instanceof Locator ? "locator" : "page";
  const title = `expect(${what})${isNot ? ".not" : ""}.toMatchAriaSnapshot(expected)`;
  if (typeof expected !== "string") throw withMessage(error, undefined, `${title} failed\n\nA template is a text; snapshots in files are not supported.`);
  const text = unindented(expected);
  const template = parseAriaTemplate(text);
  const end = host.now() + timeout;
  let received = null;
  for (let wait = 50; ; wait = Math.min(wait * 2, 250)) {
    try {
      const nodes = subject instanceof Locator ? await readAria(subject.page(), subject.target, { timeout: Math.max(1, end - host.now()) }, title, subject) : await readAria(subject, undefined, {}, title);
      received = ariaYaml(nodes);
      const root = { role: "fragment", children: nodes.map((node) => (node.role === "text" ? node.text : node)) };
      if (hasFittingNode(root, template) !== isNot) return;
    } catch (failed) {
      if (!WAITED_FOR.has(failed.code) && failed.code !== "TARGET_GONE") throw failed;
    }
    if (host.now() >= end) break;
    await pause(Math.min(wait, Math.max(1, end - host.now())));
  }
  const subjectLine = what === "locator" ? [`Locator: ${subject}`] : [];
  const comparison = received === null ? [`Expected: ${isNot ? "not " : ""}${printValue(text)}`, `Timeout: ${timeout}ms`, "Error: element(s) not found"] : isNot ? [`Expected: not ${printValue(text)}`, `Received: ${printValue(received)}`, `Timeout: ${timeout}ms`] : [...diffLines(text, received), "", `Timeout: ${timeout}ms`];
  const lines = [`${title} failed`, "", ...subjectLine, ...comparison, "", "Call log:", `  - Expect "${isNot ? "not " : ""}toMatchAriaSnapshot" with timeout ${timeout}ms`, ...(what === "locator" ? [`  - waiting for ${subject}`] : []), ""];
  failAssertion(message === undefined ? lines.join("\n") : `${message}\n\n${lines.join("\n")}`, isSoft, { name: "toMatchAriaSnapshot", pass: isNot, expected: text, actual: received, timeout }, error);
}
