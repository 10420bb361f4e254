/** Options of `connect`. */
export interface ConnectOptions {
  /** The session; `default` unless set. */
  session?: string;
  /** See the session's tabs, the current one first, instead of a page of one's own. */
  join?: boolean;
  /** The http URL instead of the websocket URL. */
  http?: boolean;
}

/**
 * The CDP URL of a session, for Playwright's `chromium.connectOverCDP` and Puppeteer's `browserWSEndpoint`. Starts a
 * browser if none runs. The URL is a secret: it gives access to the session.
 */
export function connect(options?: ConnectOptions): Promise<string>;

/** The path of the program. */
export function programPath(): string;
