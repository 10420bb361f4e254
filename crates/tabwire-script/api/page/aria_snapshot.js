// `ariaSnapshot()`: the accessibility tree as YAML or as objects, in Playwright's form.

const YAML_WORDS = ["y", "n", "yes", "no", "true", "false", "on", "off", "null"];

/** Whether a text means something else than itself in YAML. */
function needsYamlQuotes(text) {
  if (text === "" || /^\s|\s$|^-|[\n:](\s|$)|\s#|[\n\r]|^[&*\],?!>|@"'#%]|[{}`]|^\[/.test(text)) return true;
  // eslint-disable-next-line no-control-regex
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)) return true;
  return !Number.isNaN(Number(text)) || YAML_WORDS.includes(text.toLowerCase());
}

function yamlValue(text) {
  return needsYamlQuotes(text) ? stringify(text) : text;
}

/** A key of YAML; one with special letters is in single quotes. */
function yamlKey(text) {
  return needsYamlQuotes(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

/** The role, name and states of a node, as one text. */
function ariaKey({ role, name, checked, disabled, expanded, active, invalid, level, pressed, selected, ariaHidden, ref, cursor, box }) {
  let key = role;
  if (name && name.length <= 900) key += ` ${name.startsWith("/") && name.endsWith("/") && name.length > 1 ? name : stringify(name)}`;
  const flag = (label, value) => (value === true ? ` [${label}]` : value ? ` [${label}=${value}]` : "");
  key += flag("checked", checked) + flag("disabled", disabled) + flag("expanded", expanded) + flag("active", active) + flag("invalid", invalid);
  key += flag("level", level) + flag("pressed", pressed) + flag("selected", selected) + flag("aria-hidden", ariaHidden);
  if (ref) key += ` [ref=${ref}]${cursor === "pointer" ? " [cursor=pointer]" : ""}`;
  return box ? `${key} [box=${box.x},${box.y},${box.width},${box.height}]` : key;
}

/** A node as Playwright's JSON: one text alone is `text`, else `children`. */
function ariaNode(node, depth, most) {
  if (typeof node === "string") return node;
  const { children, name, ...facts } = node;
  const made = withoutUndefined({ role: facts.role, name: name === "" ? undefined : name, ...facts });
  if (children.length === 1 && typeof children[0] === "string") made.text = children[0];
  else if (children.length > 0 && (most === undefined || depth < most)) made.children = children.map((child) => ariaNode(child, depth + 1, most));
  return made;
}

function ariaJson(nodes, most) {
  return nodes.map((node) => (typeof node === "string" ? { role: "text", text: node } : ariaNode(node, 0, most)));
}

function ariaYaml(nodes) {
  const lines = [];
  const write = (node, indent) => {
    if (typeof node === "string" || node.role === "text") return void lines.push(`${indent}- text: ${yamlValue(typeof node === "string" ? node : node.text ?? "")}`);
    const head = `${indent}- ${yamlKey(ariaKey(node))}`;
    const properties = ["url", "placeholder"].filter((name) => node[name] !== undefined);
    if (node.text === undefined && properties.length === 0 && (node.children ?? []).length === 0) return void lines.push(head);
    if (node.text !== undefined && properties.length === 0) return void lines.push(`${head}: ${yamlValue(node.text)}`);
    lines.push(`${head}:`);
    for (const name of properties) lines.push(`${indent}  - /${name}: ${yamlValue(node[name])}`);
    for (const child of node.text === undefined ? node.children ?? [] : [node.text]) write(child, `${indent}  `);
  };
  for (const node of nodes) write(node, "");
  return lines.join("\n");
}

async function readAria(page, target, { mode = "default", depth, boxes, timeout } = {}, title, locator) {
  const { result } = await page.call("aria_tree", withoutUndefined({ target, ai: mode === "ai", boxes: boxes === true }), { title, timeout: timeoutOf(page, { timeout }), locator });
  return ariaJson(result.nodes, depth);
}

const ariaOfPage = {
  async ariaSnapshot(options) {
    return ariaYaml(await readAria(this, undefined, options, "page.ariaSnapshot"));
  },
  async ariaSnapshotJSON(options) {
    return readAria(this, undefined, options, "page.ariaSnapshotJSON");
  },
};
const ariaOfLocator = {
  async ariaSnapshot(options) {
    return ariaYaml(await readAria(this.page(), this.target, options, "locator.ariaSnapshot", this));
  },
  async ariaSnapshotJSON(options) {
    return readAria(this.page(), this.target, options, "locator.ariaSnapshotJSON", this);
  },
};
