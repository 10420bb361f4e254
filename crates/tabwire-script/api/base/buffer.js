// `Buffer` as Node has it, as far as scripts use it: bytes with texts in several encodings.

class ScriptBuffer extends Uint8Array {
  static from(value, encoding = "utf8") {
    if (typeof value === "string") return toBuffer(bytesOfText(value, String(encoding).toLowerCase()));
    if (value instanceof ArrayBuffer) return toBuffer(new Uint8Array(value));
    if (ArrayBuffer.isView(value)) return toBuffer(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    if (value !== null && typeof value === "object" && Array.isArray(value.data)) return toBuffer(Uint8Array.from(value.data));
    if (Array.isArray(value)) return toBuffer(Uint8Array.from(value));
    throw new TypeError("Buffer.from: expected a text, bytes or a list of bytes");
  }

  static alloc(size, fill) {
    const made = new ScriptBuffer(size);
    return fill === undefined ? made : made.fill(typeof fill === "string" ? fill.charCodeAt(0) : fill);
  }

  static allocUnsafe(size) {
    return new ScriptBuffer(size);
  }

  static concat(list) {
    const whole = new ScriptBuffer(list.reduce((sum, one) => sum + one.length, 0));
    let at = 0;
    for (const one of list) {
      whole.set(one, at);
      at += one.length;
    }
    return whole;
  }

  static isBuffer(value) {
    return value instanceof ScriptBuffer;
  }

  static byteLength(value, encoding) {
    return typeof value === "string" ? ScriptBuffer.from(value, encoding).length : value.byteLength;
  }

  toString(encoding = "utf8", start = 0, end = this.length) {
    const part = this.subarray(start, end);
    switch (String(encoding).toLowerCase()) {
      case "base64":
        return toBase64(part);
      case "base64url":
        return toBase64(part).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
      case "hex":
        return Array.from(part, (byte) => byte.toString(16).padStart(2, "0")).join("");
      case "latin1":
      case "binary":
      case "ascii":
        return Array.from(part, (byte) => String.fromCharCode(byte)).join("");
      default:
        return new ScriptTextDecoder().decode(part);
    }
  }

  equals(other) {
    return this.length === other.length && this.every((byte, at) => byte === other[at]);
  }

  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }

  [describeSymbol]() {
    return `<Buffer ${Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ")}${this.length > 50 ? ` ... ${this.length - 50} more bytes` : ""}>`;
  }
}
defineProperty(ScriptBuffer, "name", { value: "Buffer" });

function toBuffer(bytes) {
  const made = new ScriptBuffer(bytes.length);
  made.set(bytes);
  return made;
}

function bytesOfText(text, encoding) {
  switch (encoding) {
    case "base64":
    case "base64url":
      return fromBase64(text);
    case "hex":
      return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    case "latin1":
    case "binary":
    case "ascii":
      return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    default:
      return new ScriptTextEncoder().encode(text);
  }
}

/** Bytes of a text or of anything that holds bytes. */
function bytesOf(value) {
  return typeof value === "string" ? new ScriptTextEncoder().encode(value) : ScriptBuffer.from(value);
}

/** Files for an input as parameters: paths, or contents from memory. */
function fileParams(files) {
  const list = Array.isArray(files) ? files : [files];
  const paths = list.filter((file) => typeof file === "string");
  if (paths.length > 0 && paths.length < list.length) throw new Error("Files are either all paths or all buffers.");
  if (paths.length > 0) return { paths };
  return { files: list.map(({ name, mimeType, buffer }) => ({ name: String(name), mime_type: String(mimeType ?? "application/octet-stream"), content: toBase64(bytesOf(buffer)) })) };
}

assign(webGlobals, { Buffer: ScriptBuffer });
