// Requests to the daemon over the line, a few at once.
// @ts-check

/** Requests that run at once. The daemon refuses more. */
const RUNNING = 4;

/** @typedef {{code: string, message: string, remedy: string}} Refusal */
/** @typedef {{id: number, message: Record<string, unknown>, resolve: (result: any) => void, reject: (error: Refusal) => void}} Pending */

/** @param {(message: Record<string, unknown>) => unknown} send */
export function createRequests(send) {
  let last = 0;
  /** @type {Pending[]} */
  let waiting = [];
  /** @type {Map<number, Pending>} */
  const running = new Map();
  const start = () => {
    while (running.size < RUNNING && waiting.length > 0) {
      const next = /** @type {Pending} */ (waiting.shift());
      running.set(next.id, next);
      if (send(next.message) === false) fail();
    }
  };
  /** Rejects every request: the line is broken. */
  const fail = () => {
    const all = [...running.values(), ...waiting];
    running.clear();
    waiting = [];
    for (const one of all) one.reject({ code: "OUTCOME_UNKNOWN", message: "The connection to the daemon is lost.", remedy: "The page connects again by itself." });
  };
  return {
    fail,
    /**
     * @param {string} name
     * @param {Record<string, unknown>} [params] empty texts are left out
     * @returns {Promise<any>}
     */
    request(name, params = {}) {
      last += 1;
      const id = last;
      const given = Object.entries(params).filter(([, value]) => value !== "" && value !== null && value !== undefined);
      return new Promise((resolve, reject) => {
        waiting.push({ id, message: { id, request: { name, ...Object.fromEntries(given) } }, resolve, reject });
        start();
      });
    },
    /** @param {{id: number, result?: any, error?: Refusal}} response */
    receive({ id, result, error }) {
      const one = running.get(id);
      if (!one) return;
      running.delete(id);
      if (error) one.reject(error);
      else one.resolve(result);
      start();
    },
  };
}

/**
 * The sentence of a failed request.
 * @param {unknown} error
 */
export function failureText(error) {
  const { message = String(error), remedy = "" } = /** @type {Partial<Refusal>} */ (error ?? {});
  return remedy ? `${message} ${remedy}` : message;
}

/**
 * A screenshot or file of a response as a URL for this page. The caller revokes it.
 * @param {{data: string, type: string}} content
 */
export function blobUrl({ data, type }) {
  return URL.createObjectURL(new Blob([bytesOf(data)], { type }));
}

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/**
 * Lets the user save bytes or text as a file.
 * @param {BlobPart[]} parts
 * @param {string} name
 * @param {string} type
 */
export function saveFile(parts, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
