// CDP sessions of pages. The daemon's guard of CDP clients judges each command and event.

const cdpSessions = new Map();

class CDPSession {
  #page;
  #id;

  constructor(page, id) {
    this.#page = page;
    this.#id = id;
  }

  async send(method, params = {}) {
    if (!cdpSessions.has(this.#id)) throw new Error("cdpSession.send: Session is already detached");
    const { result } = await this.#page.call("cdp_command", { session: this.#id, method: String(method), params: stringify(params) }, { title: "cdpSession.send" });
    return result.result;
  }

  async detach() {
    if (!cdpSessions.delete(this.#id)) throw new Error("cdpSession.detach: Session is already detached");
    await this.#page.call("cdp_command", { session: this.#id }, { title: "cdpSession.detach" });
  }
}
withEvents(CDPSession, "cdpSession");

async function newCDPSession(page, title) {
  const { result } = await page.call("cdp_command", {}, { title });
  const session = new CDPSession(page, result.session);
  cdpSessions.set(result.session, session);
  return session;
}
