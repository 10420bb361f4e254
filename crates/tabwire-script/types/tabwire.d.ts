// Types of the API of Tabwire's scripts. `tabwire types > tabwire.d.ts` writes this file.
//
// One member is one line, because `tabwire repl` and the tests read the names from here.

/** Text, or a pattern. */
type Text = string | RegExp;
/** A time in milliseconds; 0 is no limit. */
interface Timeout {
  timeout?: number;
}
interface Point {
  x: number;
  y: number;
}
interface Box extends Point {
  width: number;
  height: number;
}
type Button = "left" | "right" | "middle";
type Modifier = "Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift";
type LoadState = "load" | "domcontentloaded" | "networkidle" | "commit";
type Role = string;
/** Values that a function in the page takes and returns: JSON, dates, patterns, `undefined`, `NaN`, cycles. */
type PageFunction<Argument, Result> = string | ((argument: Argument) => Result | Promise<Result>);
type ElementFunction<Argument, Result> = string | ((element: any, argument: Argument) => Result | Promise<Result>);
interface RoleOptions {
  checked?: boolean;
  description?: Text;
  disabled?: boolean;
  exact?: boolean;
  expanded?: boolean;
  includeHidden?: boolean;
  level?: number;
  name?: Text;
  pressed?: boolean;
  selected?: boolean;
}
interface FilterOptions {
  has?: Locator;
  hasNot?: Locator;
  hasNotText?: Text;
  hasText?: Text;
  visible?: boolean;
}
interface ClickOptions extends Timeout {
  button?: Button;
  clickCount?: number;
  delay?: number;
  force?: boolean;
  modifiers?: Modifier[];
  noWaitAfter?: boolean;
  position?: Point;
  /** `none`: fails instead of scrolling to the element. */
  scroll?: "auto" | "none";
  trial?: boolean;
}
interface FillOptions extends Timeout {
  force?: boolean;
  noWaitAfter?: boolean;
}
interface DragOptions extends Timeout {
  force?: boolean;
  sourcePosition?: Point;
  /** Mouse moves between start and end. */
  steps?: number;
  targetPosition?: Point;
  trial?: boolean;
}
interface WaitOptions extends Timeout {
  state?: "attached" | "detached" | "visible" | "hidden";
  strict?: boolean;
}
interface NavigateOptions extends Timeout {
  referer?: string;
  waitUntil?: LoadState;
}
interface ScreenshotOptions extends Timeout {
  animations?: "disabled" | "allow";
  caret?: "hide" | "initial";
  clip?: Box;
  fullPage?: boolean;
  mask?: Locator[];
  /** `#rgb` or `#rrggbb`; pink by default. */
  maskColor?: string;
  omitBackground?: boolean;
  path?: string;
  quality?: number;
  scale?: "css" | "device";
  style?: string;
  type?: "png" | "jpeg" | "webp";
}
/** The place and size of a screenshot. MCP clients also get the image. */
interface ScreenshotFile {
  path: string;
  width: number;
  height: number;
}
/** The bytes of a screenshot, with its file. */
interface Screenshot extends Uint8Array, ScreenshotFile {}
/** How an accessibility tree is read; `ai` adds generic elements, refs and the content of frames. */
interface AriaOptions extends Timeout {
  boxes?: boolean;
  depth?: number;
  mode?: "default" | "ai";
}
/** A node of an accessibility tree. */
interface AriaNode {
  role: string;
  name?: string;
  ref?: string;
  text?: string;
  children?: (AriaNode | string)[];
  [state: string]: any;
}
/** `exposeFunctions`: functions in the argument can be called in the page. */
interface EvaluateOptions {
  exposeFunctions?: boolean;
}
/** What can be undone. */
interface Disposable {
  dispose(): Promise<void>;
}
/** The items of the page's site. */
interface PageStorage {
  items(): Promise<{ name: string; value: string }[]>;
  getItem(name: string): Promise<string | null>;
  setItem(name: string, value: string): Promise<void>;
  removeItem(name: string): Promise<void>;
  clear(): Promise<void>;
}
/** A file below the session's roots, or one from memory. */
type InputFile = string | { name: string; mimeType: string; buffer: Uint8Array };
type SelectValue = string | { index?: number; label?: string; value?: string };

/** What finds elements: pages, frames and locators. */
interface Finder {
  /** Finds by accessible role and name: `getByRole('button', { name: 'Pay' })`. */
  getByRole(role: Role, options?: RoleOptions): Locator;
  /** Finds by text, ignoring case, unless `exact`. */
  getByText(text: Text, options?: { exact?: boolean }): Locator;
  /** Finds a control by its label. */
  getByLabel(text: Text, options?: { exact?: boolean }): Locator;
  /** Finds an input by its placeholder. */
  getByPlaceholder(text: Text, options?: { exact?: boolean }): Locator;
  /** Finds an image by its alternative text. */
  getByAltText(text: Text, options?: { exact?: boolean }): Locator;
  /** Finds by the `title` attribute. */
  getByTitle(text: Text, options?: { exact?: boolean }): Locator;
  /** Finds by `data-testid`. */
  getByTestId(id: Text): Locator;
  /** Finds by CSS, `text=`, `role=`, `xpath=` or `aria-ref=e12`; parts are joined by `>>`. */
  locator(selector: string | Locator, options?: FilterOptions): Locator;
  /** The inside of a frame. */
  frameLocator(selector: string): FrameLocator;
}

/** What locators and handles of elements can do. */
interface ElementMethods {
  /** `textContent` of the element. */
  textContent(options?: Timeout): Promise<string | null>;
  /** `innerText` of the element. */
  innerText(options?: Timeout): Promise<string>;
  /** `innerHTML` of the element. */
  innerHTML(options?: Timeout): Promise<string>;
  /** The value of a field; masked for password fields. */
  inputValue(options?: Timeout): Promise<string>;
  /** An attribute, or null. */
  getAttribute(name: string, options?: Timeout): Promise<string | null>;
  /** Position and size, or null when it is not visible. */
  boundingBox(options?: Timeout): Promise<Box | null>;
  isEnabled(options?: Timeout): Promise<boolean>;
  isDisabled(options?: Timeout): Promise<boolean>;
  isEditable(options?: Timeout): Promise<boolean>;
  isChecked(options?: Timeout): Promise<boolean>;
  /** Whether it is visible now, without waiting. */
  isVisible(options?: Timeout): Promise<boolean>;
  /** Whether it is hidden or missing now, without waiting. */
  isHidden(options?: Timeout): Promise<boolean>;
  /** Clicks, after it is visible, stable, enabled and uncovered. */
  click(options?: ClickOptions): Promise<void>;
  dblclick(options?: ClickOptions): Promise<void>;
  hover(options?: ClickOptions): Promise<void>;
  tap(options?: ClickOptions): Promise<void>;
  /** Replaces the value of a field. `secret('name')` fills in a saved password unseen. */
  fill(value: string, options?: FillOptions): Promise<void>;
  /** As `pressSequentially`. */
  type(text: string, options?: Timeout & { delay?: number }): Promise<void>;
  /** Presses a key or a combination: `Enter`, `Shift+A`. */
  press(key: string, options?: Timeout & { delay?: number }): Promise<void>;
  check(options?: ClickOptions): Promise<void>;
  uncheck(options?: ClickOptions): Promise<void>;
  setChecked(checked: boolean, options?: ClickOptions): Promise<void>;
  /** Chooses options of a select; returns their values. */
  selectOption(values: SelectValue | SelectValue[] | null, options?: FillOptions): Promise<string[]>;
  focus(options?: Timeout): Promise<void>;
  selectText(options?: Timeout): Promise<void>;
  scrollIntoViewIfNeeded(options?: Timeout): Promise<void>;
  /** Chooses files of a file input, by paths below the session's roots. */
  setInputFiles(files: InputFile | InputFile[], options?: FillOptions): Promise<void>;
  screenshot(options?: ScreenshotOptions): Promise<Screenshot>;
  dispatchEvent(type: string, init?: object, options?: Timeout): Promise<void>;
}

/** Elements, found anew for each action. An action needs exactly one match. */
interface Locator extends Finder, ElementMethods {
  /** The page. */
  page(): Page;
  /** The first match. */
  first(): Locator;
  /** The last match. */
  last(): Locator;
  /** The match at an index, from 0; -1 is the last. */
  nth(index: number): Locator;
  /** The matches that fit too. */
  filter(options?: FilterOptions): Locator;
  /** Matches of both. */
  and(other: Locator): Locator;
  /** Matches of either. */
  or(other: Locator): Locator;
  /** The inside of the frame that this locator matches. */
  contentFrame(): FrameLocator;
  /** Gives the locator a name in errors. */
  describe(text: string): Locator;
  /** The name that `describe` gave, or null. */
  description(): string | null;
  /** How many elements match now. */
  count(): Promise<number>;
  /** A locator of each match. */
  all(): Promise<Locator[]>;
  /** `textContent` of each match. */
  allTextContents(): Promise<string[]>;
  /** `innerText` of each match. */
  allInnerTexts(): Promise<string[]>;
  /** Empties a field. */
  clear(options?: FillOptions): Promise<void>;
  /** Types key by key. */
  pressSequentially(text: string, options?: Timeout & { delay?: number }): Promise<void>;
  blur(options?: Timeout): Promise<void>;
  /** Drags it onto another element. */
  dragTo(target: Locator, options?: DragOptions): Promise<void>;
  /** Drops files and data on it, as if dragged from outside of the browser. */
  drop(content: { data?: Record<string, string>; files?: InputFile | InputFile[] }, options?: Timeout & { position?: Point }): Promise<void>;
  /** Waits until a function of the element returns something true. */
  waitForFunction<Argument>(expression: ElementFunction<Argument, unknown>, argument?: Argument, options?: Timeout): Promise<void>;
  /** Waits for a state; `visible` by default. */
  waitFor(options?: Timeout & { state?: "attached" | "detached" | "visible" | "hidden" }): Promise<void>;
  /** Runs a function in the page with the element. */
  evaluate<Argument, Result>(expression: ElementFunction<Argument, Result>, argument?: Argument, options?: Timeout & EvaluateOptions): Promise<Result>;
  /** Runs a function in the page with all matches. */
  evaluateAll<Argument, Result>(expression: ElementFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  evaluateHandle<Argument, Result>(expression: ElementFunction<Argument, Result>, argument?: Argument, options?: Timeout & EvaluateOptions): Promise<JSHandle>;
  elementHandle(options?: Timeout): Promise<ElementHandle>;
  elementHandles(): Promise<ElementHandle[]>;
  /** The element's accessibility tree as YAML. */
  ariaSnapshot(options?: AriaOptions): Promise<string>;
  ariaSnapshotJSON(options?: AriaOptions): Promise<AriaNode[]>;
  /** Does nothing: a script has no viewer. */
  highlight(): Promise<void>;
  toString(): string;
}

/** A value of the page. */
interface JSHandle {
  evaluate<Argument, Result>(expression: ElementFunction<Argument, Result>, argument?: Argument, options?: EvaluateOptions): Promise<Result>;
  evaluateHandle<Argument, Result>(expression: ElementFunction<Argument, Result>, argument?: Argument, options?: EvaluateOptions): Promise<JSHandle>;
  getProperty(name: string): Promise<JSHandle>;
  getProperties(): Promise<Map<string, JSHandle>>;
  jsonValue(): Promise<any>;
  asElement(): ElementHandle | null;
  dispose(): Promise<void>;
}

/** One element of one document. */
interface ElementHandle extends JSHandle, ElementMethods {
  page(): Page;
  $(selector: string): Promise<ElementHandle | null>;
  $$(selector: string): Promise<ElementHandle[]>;
  $eval<Argument, Result>(selector: string, expression: ElementFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  $$eval<Argument, Result>(selector: string, expression: ElementFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  waitForSelector(selector: string, options?: WaitOptions): Promise<ElementHandle | null>;
  waitForElementState(state: "visible" | "hidden" | "stable" | "enabled" | "disabled" | "editable", options?: Timeout): Promise<void>;
  /** The frame that it belongs to. */
  ownerFrame(): Promise<Frame | null>;
  /** The frame that it embeds. */
  contentFrame(): Promise<Frame | null>;
}

/** What pages and frames can do with their document. */
interface DocumentMethods {
  url(): string;
  /** Opens a URL; `https://` is the default scheme. */
  goto(url: string, options?: NavigateOptions): Promise<PageResponse | null>;
  title(): Promise<string>;
  /** The page's HTML. */
  content(): Promise<string>;
  setContent(html: string, options?: NavigateOptions): Promise<void>;
  /** Runs a function in the page. */
  evaluate<Argument, Result>(expression: PageFunction<Argument, Result>, argument?: Argument, options?: EvaluateOptions): Promise<Result>;
  evaluateHandle<Argument, Result>(expression: PageFunction<Argument, Result>, argument?: Argument, options?: EvaluateOptions): Promise<JSHandle>;
  $(selector: string): Promise<ElementHandle | null>;
  $$(selector: string): Promise<ElementHandle[]>;
  $eval<Argument, Result>(selector: string, expression: ElementFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  $$eval<Argument, Result>(selector: string, expression: ElementFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  waitForSelector(selector: string, options?: WaitOptions): Promise<ElementHandle | null>;
  waitForTimeout(timeout: number): Promise<void>;
  waitForLoadState(state?: LoadState, options?: Timeout): Promise<void>;
  waitForURL(url: Text | ((url: URL) => boolean), options?: NavigateOptions): Promise<void>;
  waitForFunction<Argument, Result>(expression: PageFunction<Argument, Result>, argument?: Argument, options?: Timeout & { polling?: number | "raf" }): Promise<any>;
  waitForNavigation(options?: NavigateOptions & { url?: Text | ((url: URL) => boolean) }): Promise<PageResponse | null>;
  addScriptTag(options?: { content?: string; path?: string; type?: string; url?: string }): Promise<ElementHandle>;
  addStyleTag(options?: { content?: string; path?: string; url?: string }): Promise<ElementHandle>;
  dragAndDrop(source: string, target: string, options?: DragOptions): Promise<void>;
  click(selector: string, options?: ClickOptions): Promise<void>;
  dblclick(selector: string, options?: ClickOptions): Promise<void>;
  hover(selector: string, options?: ClickOptions): Promise<void>;
  tap(selector: string, options?: ClickOptions): Promise<void>;
  fill(selector: string, value: string, options?: FillOptions): Promise<void>;
  type(selector: string, text: string, options?: Timeout & { delay?: number }): Promise<void>;
  press(selector: string, key: string, options?: Timeout & { delay?: number }): Promise<void>;
  check(selector: string, options?: ClickOptions): Promise<void>;
  uncheck(selector: string, options?: ClickOptions): Promise<void>;
  setChecked(selector: string, checked: boolean, options?: ClickOptions): Promise<void>;
  selectOption(selector: string, values: SelectValue | SelectValue[] | null, options?: FillOptions): Promise<string[]>;
  focus(selector: string, options?: Timeout): Promise<void>;
  textContent(selector: string, options?: Timeout): Promise<string | null>;
  innerText(selector: string, options?: Timeout): Promise<string>;
  innerHTML(selector: string, options?: Timeout): Promise<string>;
  getAttribute(selector: string, name: string, options?: Timeout): Promise<string | null>;
  inputValue(selector: string, options?: Timeout): Promise<string>;
  isVisible(selector: string, options?: Timeout): Promise<boolean>;
  isHidden(selector: string, options?: Timeout): Promise<boolean>;
  isEnabled(selector: string, options?: Timeout): Promise<boolean>;
  isDisabled(selector: string, options?: Timeout): Promise<boolean>;
  isEditable(selector: string, options?: Timeout): Promise<boolean>;
  isChecked(selector: string, options?: Timeout): Promise<boolean>;
  setInputFiles(selector: string, files: InputFile | InputFile[], options?: FillOptions): Promise<void>;
  dispatchEvent(selector: string, type: string, init?: object, options?: Timeout): Promise<void>;
}

/** A frame of a page. */
interface Frame extends Finder, DocumentMethods {
  page(): Page;
  name(): string;
  isDetached(): boolean;
  parentFrame(): Frame | null;
  childFrames(): Frame[];
  frameElement(): Promise<ElementHandle>;
}

/** The inside of a frame. */
interface FrameLocator extends Finder {
  /** The locator of the frame's element. */
  owner(): Locator;
  first(): FrameLocator;
  last(): FrameLocator;
  nth(index: number): FrameLocator;
}

interface Keyboard {
  /** Presses a key or a combination: `Enter`, `Control+A`. */
  press(key: string, options?: { delay?: number }): Promise<void>;
  /** Types key by key. */
  type(text: string, options?: { delay?: number }): Promise<void>;
  insertText(text: string): Promise<void>;
  down(key: string): Promise<void>;
  up(key: string): Promise<void>;
}

interface Mouse {
  move(x: number, y: number, options?: { steps?: number }): Promise<void>;
  down(options?: { button?: Button; clickCount?: number }): Promise<void>;
  up(options?: { button?: Button; clickCount?: number }): Promise<void>;
  click(x: number, y: number, options?: { button?: Button; clickCount?: number; delay?: number }): Promise<void>;
  dblclick(x: number, y: number, options?: { button?: Button; delay?: number }): Promise<void>;
  wheel(deltaX: number, deltaY: number): Promise<void>;
}

interface Touchscreen {
  tap(x: number, y: number): Promise<void>;
}

/** How an event is waited for: a test of its value, or options. */
type EventOptions = ((value: any) => boolean) | (Timeout & { predicate?: (value: any) => boolean });
/** What has events. Between runs, listeners get reads, route decisions and dialogs only. */
interface Emitter {
  on(event: string, listener: (...values: any[]) => unknown): this;
  addListener(event: string, listener: (...values: any[]) => unknown): this;
  prependListener(event: string, listener: (...values: any[]) => unknown): this;
  once(event: string, listener: (...values: any[]) => unknown): this;
  off(event: string, listener: (...values: any[]) => unknown): this;
  removeListener(event: string, listener: (...values: any[]) => unknown): this;
  removeAllListeners(event?: string): any;
  listenerCount(event: string): number;
}
/** What routes requests: a page, or a context. */
interface Router {
  /** Asks a function about requests: `route.fulfill()`, `continue()`, `fallback()` or `abort()`. */
  route(url: Text | ((url: URL) => boolean), handler: (route: Route, request: PageRequest) => unknown, options?: { times?: number }): Promise<void>;
  unroute(url: Text | ((url: URL) => boolean), handler?: (route: Route, request: PageRequest) => unknown): Promise<void>;
  unrouteAll(options?: object): Promise<void>;
  /** Gives the page a function that runs in the script. */
  exposeFunction(name: string, callback: (...values: any[]) => unknown): Promise<Disposable>;
  /** As `exposeFunction`; the function also gets its page and frame. */
  exposeBinding(name: string, callback: (source: { context: BrowserContext; page: Page; frame: Frame }, ...values: any[]) => unknown): Promise<Disposable>;
}

/** A request of a page. */
interface PageRequest {
  url(): string;
  method(): string;
  headers(): Record<string, string>;
  headersArray(): Promise<{ name: string; value: string }[]>;
  allHeaders(): Promise<Record<string, string>>;
  headerValue(name: string): Promise<string | null>;
  postData(): string | null;
  postDataBuffer(): Uint8Array | null;
  postDataJSON(): any;
  resourceType(): string;
  frame(): Frame;
  isNavigationRequest(): boolean;
  redirectedFrom(): PageRequest | null;
  redirectedTo(): PageRequest | null;
  failure(): { errorText: string } | null;
  response(): Promise<PageResponse | null>;
  /** The response, if it has arrived. */
  existingResponse(): PageResponse | null;
  serviceWorker(): null;
  sizes(): Promise<{ requestBodySize: number; requestHeadersSize: number; responseBodySize: number; responseHeadersSize: number }>;
  timing(): any;
}

/** A response to a page. */
interface PageResponse {
  request(): PageRequest;
  frame(): Frame;
  url(): string;
  status(): number;
  statusText(): string;
  ok(): boolean;
  headers(): Record<string, string>;
  headersArray(): Promise<{ name: string; value: string }[]>;
  allHeaders(): Promise<Record<string, string>>;
  headerValue(name: string): Promise<string | null>;
  headerValues(name: string): Promise<string[]>;
  body(): Promise<Uint8Array>;
  text(): Promise<string>;
  json(): Promise<any>;
  finished(): Promise<Error | null>;
  fromServiceWorker(): boolean;
  httpVersion(): Promise<string>;
  serverAddr(): Promise<any>;
  securityDetails(): Promise<any>;
}

/** A request that waits for a decision. */
interface Route {
  request(): PageRequest;
  abort(code?: string): Promise<void>;
  continue(changes?: { headers?: Record<string, string>; method?: string; postData?: any; url?: string }): Promise<void>;
  fallback(changes?: { headers?: Record<string, string>; method?: string; postData?: any; url?: string }): Promise<void>;
  fulfill(response?: { body?: string | Uint8Array; contentType?: string; headers?: Record<string, string>; json?: any; path?: string; response?: APIResponse; status?: number }): Promise<void>;
  fetch(options?: Timeout & { headers?: Record<string, string>; maxRedirects?: number; method?: string; postData?: any; url?: string }): Promise<APIResponse>;
}

/** A response to `page.request` or `route.fetch()`. */
interface APIResponse {
  url(): string;
  status(): number;
  statusText(): string;
  ok(): boolean;
  headers(): Record<string, string>;
  headersArray(): { name: string; value: string }[];
  body(): Promise<Uint8Array>;
  text(): Promise<string>;
  json(): Promise<any>;
  dispose(): Promise<void>;
}

/** Requests of the script itself, under the policy, with the cookies of the session. */
interface APIRequestContext {
  fetch(url: string | PageRequest, options?: any): Promise<APIResponse>;
  get(url: string, options?: any): Promise<APIResponse>;
  head(url: string, options?: any): Promise<APIResponse>;
  post(url: string, options?: any): Promise<APIResponse>;
  put(url: string, options?: any): Promise<APIResponse>;
  patch(url: string, options?: any): Promise<APIResponse>;
  delete(url: string, options?: any): Promise<APIResponse>;
  storageState(options?: object): Promise<any>;
  dispose(): Promise<void>;
}

/** A CDP session of a tab, through the guard of the policy. */
interface CDPSession extends Emitter {
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
  send(method: string, params?: object): Promise<any>;
  detach(): Promise<void>;
}

interface Dialog {
  page(): Page;
  type(): string;
  message(): string;
  defaultValue(): string;
  accept(text?: string): Promise<void>;
  dismiss(): Promise<void>;
}

interface Download {
  page(): Page;
  suggestedFilename(): string;
  url(): string;
  path(): Promise<string | null>;
  failure(): Promise<string | null>;
  saveAs(path: string): Promise<void>;
  cancel(): Promise<void>;
  delete(): Promise<void>;
}

interface FileChooser {
  page(): Page;
  isMultiple(): boolean;
  setFiles(files: any, options?: Timeout): Promise<void>;
}

interface ConsoleMessage {
  page(): Page;
  type(): string;
  text(): string;
  args(): any[];
  location(): { url: string; line: number; column: number; lineNumber: number; columnNumber: number };
  /** Milliseconds since 1970. */
  timestamp(): number;
  /** The worker that wrote it. */
  worker(): PageWorker | null;
}

/** A WebSocket of a page: events `framesent`, `framereceived`, `socketerror`, `close`. */
interface PageWebSocket extends Emitter {
  url(): string;
  isClosed(): boolean;
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
}

/** A worker of a page: events `console`, `close`. */
interface PageWorker extends Emitter {
  url(): string;
  evaluate<Result = any, Argument = any>(expression: PageFunction<Argument, Result>, argument?: Argument): Promise<Result>;
  evaluateHandle(expression: PageFunction<any, any>, argument?: any): Promise<JSHandle>;
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
}

/** A tab of the session. */
interface Page extends Finder, Emitter, Router, DocumentMethods {
  readonly keyboard: Keyboard;
  readonly mouse: Mouse;
  readonly touchscreen: Touchscreen;
  /** The tab's id, for `tabwire.<action>()`. */
  readonly tab: string | null;
  context(): BrowserContext;
  isClosed(): boolean;
  mainFrame(): Frame;
  frames(): Frame[];
  frame(wanted: string | { name?: string; url?: Text | ((url: URL) => boolean) }): Frame | null;
  workers(): PageWorker[];
  /** Requests of the script itself, with the cookies of the session. */
  readonly request: APIRequestContext;
  waitForRequest(wanted: Text | ((request: PageRequest) => boolean), options?: Timeout): Promise<PageRequest>;
  waitForResponse(wanted: Text | ((response: PageResponse) => boolean), options?: Timeout): Promise<PageResponse>;
  /** Calls a function whenever the locator is visible before an action. */
  addLocatorHandler(locator: Locator, handler: (locator: Locator) => unknown, options?: { noWaitAfter?: boolean; times?: number }): Promise<void>;
  removeLocatorHandler(locator: Locator): Promise<void>;
  video(): null;
  setDefaultTimeout(timeout: number): void;
  setDefaultNavigationTimeout(timeout: number): void;
  reload(options?: NavigateOptions): Promise<PageResponse | null>;
  goBack(options?: NavigateOptions): Promise<PageResponse | null>;
  goForward(options?: NavigateOptions): Promise<PageResponse | null>;
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
  readonly localStorage: PageStorage;
  readonly sessionStorage: PageStorage;
  /** The page that opened this one. */
  opener(): Promise<Page | null>;
  /** The page's accessibility tree as YAML. */
  ariaSnapshot(options?: AriaOptions): Promise<string>;
  ariaSnapshotJSON(options?: AriaOptions): Promise<AriaNode[]>;
  /** The newest requests, at most 100. */
  requests(): Promise<PageRequest[]>;
  /** The messages that the page wrote to its console; those of this document by default. */
  consoleMessages(options?: { filter?: "all" | "since-navigation" }): Promise<ConsoleMessage[]>;
  clearConsoleMessages(): Promise<void>;
  /** The errors that the page did not catch; those of this document by default. */
  pageErrors(options?: { filter?: "all" | "since-navigation" }): Promise<Error[]>;
  clearPageErrors(): Promise<void>;
  screenshot(options?: ScreenshotOptions): Promise<Screenshot>;
  pdf(options?: { format?: string; landscape?: boolean; pageRanges?: string; path?: string; printBackground?: boolean; scale?: number }): Promise<any>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  viewportSize(): { width: number; height: number } | null;
  emulateMedia(options?: { colorScheme?: "light" | "dark" | "no-preference" | null; forcedColors?: "active" | "none" | null; media?: "screen" | "print" | null; reducedMotion?: "reduce" | "no-preference" | null; contrast?: "no-preference" | "more" | null }): Promise<void>;
  setExtraHTTPHeaders(headers: Record<string, string>): Promise<void>;
  addInitScript<Argument>(script: PageFunction<Argument, unknown> | { content?: string; path?: string }, argument?: Argument, options?: EvaluateOptions): Promise<Disposable>;
  bringToFront(): Promise<void>;
  close(options?: object): Promise<void>;
  /** Does nothing: a script has no viewer. */
  pause(): Promise<void>;
}

interface Cookie {
  name: string;
  value: string;
  domain?: string;
  expires?: number;
  httpOnly?: boolean;
  path?: string;
  sameSite?: "Strict" | "Lax" | "None";
  secure?: boolean;
  url?: string;
}

/** The tabs of the session. */
interface BrowserContext extends Emitter, Router {
  pages(): Page[];
  newPage(): Promise<Page>;
  browser(): Browser;
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
  cookies(urls?: string | string[]): Promise<Cookie[]>;
  readonly request: APIRequestContext;
  backgroundPages(): Page[];
  serviceWorkers(): any[];
  newCDPSession(page: Page | Frame): Promise<CDPSession>;
  storageState(options?: { path?: string }): Promise<any>;
  addCookies(cookies: Cookie[]): Promise<void>;
  clearCookies(): Promise<void>;
  setOffline(offline: boolean): Promise<void>;
  grantPermissions(permissions: string[], options?: { origin?: string }): Promise<void>;
  clearPermissions(): Promise<void>;
  setGeolocation(place: { latitude: number; longitude: number; accuracy?: number }): Promise<void>;
  setExtraHTTPHeaders(headers: Record<string, string>): Promise<void>;
  addInitScript<Argument>(script: PageFunction<Argument, unknown> | { content?: string; path?: string }, argument?: Argument): Promise<void>;
  setDefaultTimeout(timeout: number): void;
  setDefaultNavigationTimeout(timeout: number): void;
  /** Does nothing to the session's own context. */
  close(): Promise<void>;
}

/** Options of a new context. Others of Playwright's are refused. */
interface ContextOptions {
  baseURL?: string;
  colorScheme?: "light" | "dark" | "no-preference" | null;
  contrast?: "no-preference" | "more" | null;
  /** A device of Tabwire: `...devices['iPhone 15']`. */
  device?: string;
  deviceScaleFactor?: number;
  extraHTTPHeaders?: Record<string, string>;
  forcedColors?: "active" | "none" | null;
  geolocation?: { latitude: number; longitude: number; accuracy?: number };
  hasTouch?: boolean;
  httpCredentials?: { username: string; password: string; origin?: string };
  isMobile?: boolean;
  locale?: string;
  offline?: boolean;
  permissions?: string[];
  reducedMotion?: "reduce" | "no-preference" | null;
  storageState?: string | { cookies: Cookie[]; origins: { origin: string; localStorage: { name: string; value: string }[] }[] };
  timezoneId?: string;
  userAgent?: string;
  /** 1280 x 720 by default; null leaves the window's. */
  viewport?: { width: number; height: number } | null;
}

/** The session's browser. */
interface Browser extends Emitter {
  waitForEvent(event: string, options?: EventOptions): Promise<any>;
  contexts(): BrowserContext[];
  /** Makes a context with cookies and storage of its own. */
  newContext(options?: ContextOptions): Promise<BrowserContext>;
  newPage(options?: ContextOptions): Promise<Page>;
  isConnected(): boolean;
  browserType(): BrowserType;
  version(): string;
  /** Does nothing: the session's browser goes on. */
  close(): Promise<void>;
}

/** `launch()` gives the session's browser. */
interface BrowserType {
  name(): string;
  launch(options?: object): Promise<Browser>;
  connect(options?: any): Promise<Browser>;
  connectOverCDP(options?: any): Promise<Browser>;
  launchPersistentContext(directory?: string, options?: object): Promise<BrowserContext>;
}

interface LocatorAssertions extends ValueMatchers {
  readonly not: LocatorAssertions;
  toBeAttached(options?: Timeout & { attached?: boolean }): Promise<void>;
  toBeVisible(options?: Timeout & { visible?: boolean }): Promise<void>;
  toBeHidden(options?: Timeout): Promise<void>;
  toBeEnabled(options?: Timeout & { enabled?: boolean }): Promise<void>;
  toBeDisabled(options?: Timeout): Promise<void>;
  toBeEditable(options?: Timeout & { editable?: boolean }): Promise<void>;
  toBeChecked(options?: Timeout & { checked?: boolean; indeterminate?: boolean }): Promise<void>;
  toBeFocused(options?: Timeout): Promise<void>;
  toBeEmpty(options?: Timeout): Promise<void>;
  toBeInViewport(options?: Timeout & { ratio?: number }): Promise<void>;
  toHaveText(expected: Text | Text[], options?: Timeout & { ignoreCase?: boolean; useInnerText?: boolean }): Promise<void>;
  toContainText(expected: Text | Text[], options?: Timeout & { ignoreCase?: boolean; useInnerText?: boolean }): Promise<void>;
  toHaveValue(expected: Text, options?: Timeout): Promise<void>;
  toHaveValues(expected: Text[], options?: Timeout): Promise<void>;
  toHaveCount(expected: number, options?: Timeout): Promise<void>;
  toHaveClass(expected: Text | Text[], options?: Timeout): Promise<void>;
  toContainClass(expected: string | string[], options?: Timeout): Promise<void>;
  toHaveId(expected: Text, options?: Timeout): Promise<void>;
  toHaveRole(expected: Role, options?: Timeout): Promise<void>;
  toHaveCSS(name: string, expected: Text, options?: Timeout): Promise<void>;
  toHaveAttribute(name: string, expected?: Text | Timeout, options?: Timeout & { ignoreCase?: boolean }): Promise<void>;
  toHaveAccessibleName(expected: Text, options?: Timeout & { ignoreCase?: boolean }): Promise<void>;
  toHaveAccessibleDescription(expected: Text, options?: Timeout & { ignoreCase?: boolean }): Promise<void>;
  toHaveAccessibleErrorMessage(expected: Text, options?: Timeout & { ignoreCase?: boolean }): Promise<void>;
  toHaveJSProperty(name: string, expected: any, options?: Timeout): Promise<void>;
  /** Compares a template in YAML with the accessibility tree. */
  toMatchAriaSnapshot(expected: string, options?: Timeout): Promise<void>;
}

interface PageAssertions extends ValueMatchers {
  readonly not: PageAssertions;
  toHaveTitle(expected: Text, options?: Timeout): Promise<void>;
  toHaveURL(expected: Text | ((url: URL) => boolean), options?: Timeout & { ignoreCase?: boolean }): Promise<void>;
  toMatchAriaSnapshot(expected: string, options?: Timeout): Promise<void>;
}

/** Assertions about a response of `page.request`. */
interface ResponseAssertions extends ValueAssertions {
  readonly not: ResponseAssertions;
  toBeOK(): Promise<void>;
}

/** Assertions about values. */
interface ValueMatchers<Result = void> {
  toBe(expected: any): Result;
  toBeCloseTo(expected: number, digits?: number): Result;
  toBeDefined(): Result;
  toBeFalsy(): Result;
  toBeGreaterThan(expected: number | bigint): Result;
  toBeGreaterThanOrEqual(expected: number | bigint): Result;
  toBeInstanceOf(expected: Function): Result;
  toBeLessThan(expected: number | bigint): Result;
  toBeLessThanOrEqual(expected: number | bigint): Result;
  toBeNaN(): Result;
  toBeNull(): Result;
  toBeTruthy(): Result;
  toBeUndefined(): Result;
  toContain(expected: any): Result;
  toContainEqual(expected: any): Result;
  toEqual(expected: any): Result;
  toHaveLength(expected: number): Result;
  toHaveProperty(path: string | string[], expected?: any): Result;
  toMatch(expected: Text): Result;
  toMatchObject(expected: any): Result;
  toStrictEqual(expected: any): Result;
  toThrow(expected?: any): Result;
  toThrowError(expected?: any): Result;
}
interface ValueAssertions<Result = void> extends ValueMatchers<Result> {
  readonly not: ValueAssertions<Result>;
  readonly resolves: ValueAssertions<Promise<void>>;
  readonly rejects: ValueAssertions<Promise<void>>;
  /** Tries a function until it does not throw. */
  toPass(options?: Timeout & { intervals?: number[] }): Promise<void>;
}

interface Expect {
  (subject: Locator, message?: string | { message?: string }): LocatorAssertions;
  (subject: Page, message?: string | { message?: string }): PageAssertions;
  (subject: APIResponse, message?: string | { message?: string }): ResponseAssertions;
  (subject: any, message?: string | { message?: string }): ValueAssertions;
  /** Goes on after a failure, which ends the test at its end. */
  soft: Expect;
  /** Tries a value until the assertion holds. */
  poll(read: () => any, options?: Timeout & { message?: string }): ValueAssertions<Promise<void>>;
  configure(options?: Timeout & { soft?: boolean }): Expect;
  /** Adds assertions of your own. */
  extend(matchers: Record<string, (...values: any[]) => any>): Expect;
  getState(): any;
  not: any;
  arrayOf(kind: any): any;
  anything(): any;
  any(kind: any): any;
  stringContaining(part: string): any;
  stringMatching(pattern: Text): any;
  objectContaining(part: object): any;
  arrayContaining(part: any[]): any;
  closeTo(expected: number, digits?: number): any;
}

/** Files below the session's roots, under the policy: reading needs `upload`, writing `download` on the page's site. */
interface ScriptFiles {
  /** Reads a file: bytes, or text with an encoding. */
  readFile(path: string): Promise<Uint8Array>;
  readFile(path: string, encoding: "utf8" | "utf-8" | { encoding: "utf8" | "utf-8" }): Promise<string>;
  /** Writes a file; returns its path. Only files that the session wrote are replaced. */
  writeFile(path: string, content: string | Uint8Array): Promise<string>;
}

interface SkillSummary {
  name: string;
  description: string;
}

/** The tab that `page` stands for: that of the call, or the client's current tab. */
declare const page: Page;
declare const context: BrowserContext;
declare const browser: Browser;
declare const expect: Expect;
/** Kept until `reset`; the part that is JSON survives the end of the process. Pages in it are kept as tabs. */
declare const state: Record<string, any>;
/** The arguments of `tabwire run`. */
declare const args: string[];
declare const fs: ScriptFiles;
/** Aborted when the run is cancelled or its time is over. */
declare const executeSignal: AbortSignal;
/** Every action, with its own parameters. Waits until the page has settled. */
declare const tabwire: TabwireActions;
/** Explains a topic, or a skill. */
declare function help(topic?: string): string;
/** The page as short lines with refs: all, interactive elements only, a search, or what changed since the last call. */
declare function snapshot(options?: { page?: Page; search?: Text; interactive?: boolean; delta?: boolean; full?: boolean }): Promise<string>;
/** A locator of a ref such as `e12`. */
declare function refToLocator(ref: string, page?: Page): Locator;
/** The page as Markdown. */
declare function pageMarkdown(options?: { page?: Page }): Promise<string>;
/** The page, or an element, as short HTML. */
declare function cleanHTML(selector?: string | Locator, options?: { page?: Page }): Promise<string>;
/** Console messages of the page. */
declare function getLogs(options?: { page?: Page; search?: Text; limit?: number }): Promise<string[]>;
declare function clearLogs(options?: { page?: Page }): Promise<void>;
declare function waitForPageLoad(options?: Timeout & { page?: Page }): Promise<void>;
/** A screenshot with a mark on each interactive element, and the list of the marks with refs. */
declare function screenshotWithAccessibilityLabels(options?: { page?: Page; fullPage?: boolean }): Promise<ScreenshotFile & { labels: string }>;
/** A CDP session of a tab, through the guard of the policy. */
declare function getCDPSession(options?: { page?: Page }): Promise<CDPSession>;
/** Stands for a saved password: `fill(secret('shop'))`. The daemon fills it in; the script never has it. */
declare function secret(name: string): string;
/** The skills that can be imported as `tabwire:name`. */
declare function skills(): SkillSummary[];

interface Console {
  log(...values: any[]): void;
  info(...values: any[]): void;
  warn(...values: any[]): void;
  error(...values: any[]): void;
  debug(...values: any[]): void;
  trace(...values: any[]): void;
  dir(value: any): void;
  table(value: any): void;
  assert(condition?: boolean, ...values: any[]): void;
  count(label?: string): void;
  group(...values: any[]): void;
  groupEnd(): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
}
declare const console: Console;
declare function setTimeout(callback: (...values: any[]) => void, delay?: number, ...values: any[]): number;
declare function setInterval(callback: (...values: any[]) => void, delay?: number, ...values: any[]): number;
declare function setImmediate(callback: (...values: any[]) => void, ...values: any[]): number;
declare function clearTimeout(timer?: number): void;
declare function clearInterval(timer?: number): void;
declare function clearImmediate(timer?: number): void;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare function structuredClone<Value>(value: Value): Value;
declare const crypto: { randomUUID(): string; getRandomValues<Values extends Uint8Array>(values: Values): Values };
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string, base?: string): boolean;
  static parse(url: string, base?: string): URL | null;
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}
declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  entries(): Iterator<[string, string]>;
  keys(): Iterator<string>;
  values(): Iterator<string>;
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void): void;
  toString(): string;
  [Symbol.iterator](): Iterator<[string, string]>;
}
declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
}
declare class TextDecoder {
  readonly encoding: string;
  decode(bytes?: ArrayBuffer | Uint8Array): string;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: any) => void) | null;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
  throwIfAborted(): void;
}
/** A request of the script, under the policy. */
declare function fetch(url: string | URL, options?: any): Promise<any>;
declare class Headers {
  constructor(init?: any);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  has(name: string): boolean;
  set(name: string, value: string): void;
  entries(): Iterator<[string, string]>;
  keys(): Iterator<string>;
  values(): Iterator<string>;
  forEach(callback: (value: string, name: string, parent: Headers) => void): void;
  [Symbol.iterator](): Iterator<[string, string]>;
}
interface Buffer extends Uint8Array {
  toString(encoding?: "utf8" | "utf-8" | "base64" | "hex" | "latin1" | "ascii" | "binary"): string;
}
declare const Buffer: { from(data: any, encoding?: string): Buffer; alloc(size: number): Buffer; concat(list: Uint8Array[]): Buffer };
/** Variables of the page, for functions that run in it. */
declare const document: any;
declare const window: any;
declare const location: any;
declare const navigator: any;
declare const localStorage: any;

/** Other names, because a module cannot export a global under its own name. */
type ScriptPage = Page;
type ScriptLocator = Locator;
type ScriptBrowserContext = BrowserContext;
type ScriptBrowser = Browser;
type ScriptFrameLocator = FrameLocator;
type ScriptElementHandle = ElementHandle;
type ScriptDialog = Dialog;
type ScriptDownload = Download;
type ScriptConsoleMessage = ConsoleMessage;
type ScriptFileChooser = FileChooser;
type ScriptAPIResponse = APIResponse;
type ScriptAPIRequestContext = APIRequestContext;
type ScriptCDPSession = CDPSession;
type ScriptRoute = Route;
type ScriptJSHandle = JSHandle;
type ScriptFrame = Frame;

declare module "playwright" {
  export const chromium: BrowserType;
  export const devices: Record<string, { device: string }>;
  export const errors: { TimeoutError: any };
  export const request: any;
  export const selectors: { setTestIdAttribute(name: string): void };
  export type Page = ScriptPage;
  export type Locator = ScriptLocator;
  export type BrowserContext = ScriptBrowserContext;
  export type Browser = ScriptBrowser;
  export type FrameLocator = ScriptFrameLocator;
  export type ElementHandle = ScriptElementHandle;
  export type Dialog = ScriptDialog;
  export type Download = ScriptDownload;
  export type Request = PageRequest;
  export type Response = PageResponse;
  export type ConsoleMessage = ScriptConsoleMessage;
  export type FileChooser = ScriptFileChooser;
  export type APIResponse = ScriptAPIResponse;
  export type APIRequestContext = ScriptAPIRequestContext;
  export type CDPSession = ScriptCDPSession;
  export type Route = ScriptRoute;
  export type JSHandle = ScriptJSHandle;
  export type Frame = ScriptFrame;
  export type WebSocket = PageWebSocket;
  export type Worker = PageWorker;
}
declare module "playwright-core" {
  export * from "playwright";
}
declare module "@playwright/test" {
  export * from "playwright";
  type Fixtures = { page: Page; context: BrowserContext; browser: Browser; browserName: string; request: APIRequestContext; [fixture: string]: any };
  type Body = (fixtures: Fixtures, info: TestInfo) => unknown;
  interface TestInfo {
    readonly title: string;
    readonly titlePath: string[];
    readonly retry: number;
    readonly timeout: number;
    readonly status: string;
    readonly expectedStatus: string;
    readonly errors: any[];
    readonly error: any;
    readonly tags: string[];
    readonly annotations: { type: string; description?: string }[];
    setTimeout(timeout: number): void;
    skip(condition?: boolean, reason?: string): void;
    fixme(condition?: boolean, reason?: string): void;
    fail(condition?: boolean, reason?: string): void;
    slow(condition?: boolean, reason?: string): void;
  }
  /** Declares a test, marks the suite, or marks the test that runs. */
  type Modifier = (first?: string | boolean | ((fixtures: Fixtures) => boolean), ...rest: any[]) => void;
  type Suite = { (title: string, body: () => void): void; (body: () => void): void };
  interface Test {
    (title: string, body: Body): void;
    (title: string, details: object, body: Body): void;
    skip: Modifier;
    fixme: Modifier;
    fail: Modifier;
    slow: Modifier;
    only: (title: string, ...rest: any[]) => void;
    describe: Suite & { only: Suite; skip: Suite; fixme: Suite; parallel: Suite; serial: Suite & { only: Suite }; configure: (options: { mode?: string; retries?: number; timeout?: number }) => void };
    beforeEach: (hook: Body) => void;
    afterEach: (hook: Body) => void;
    beforeAll: (hook: Body) => void;
    afterAll: (hook: Body) => void;
    step: <Result>(title: string, body: () => Result | Promise<Result>) => Promise<Result>;
    setTimeout: (timeout: number) => void;
    info: () => TestInfo;
    use: (options: object) => void;
    extend: <Own = any, Worker = any>(fixtures: object) => Test;
    expect: Expect;
  }
  export const test: Test;
  export const expect: Expect;
  export const defineConfig: <Config>(config: Config) => Config;
  export default test;
}
declare module "tabwire" {
  export const tabwire: TabwireActions;
  export const expect: Expect;
  export default tabwire;
}

// Actions. The rest of this file is written by `cargo xtask gen`.
interface ActionOptions extends Timeout {
  /** The tab; the client's current tab by default. */
  tab?: string;
}
interface TabwireActions {
  /** See what is on the page: roles, names, states, and refs (e12) that other actions take. */
  snapshot(params?: SnapshotParams, options?: ActionOptions): Promise<any>;
  /** Search the page for a text, and list the matches with their context. */
  find(params: FindParams, options?: ActionOptions): Promise<any>;
  /** Click an element. */
  click(params: ClickParams, options?: ActionOptions): Promise<any>;
  /** Double-click an element. */
  dblclick(params: DblclickParams, options?: ActionOptions): Promise<any>;
  /** Move the mouse over an element and leave it there. */
  hover(params: HoverParams, options?: ActionOptions): Promise<any>;
  /** Tap an element on a touch screen. */
  tap(params: TapParams, options?: ActionOptions): Promise<any>;
  /** Drag an element onto another one, or by a distance. */
  drag(params: DragParams, options?: ActionOptions): Promise<any>;
  /** Replace a field's value. */
  fill(params: FillParams, options?: ActionOptions): Promise<any>;
  /** Fill many fields at once: texts, lists, check boxes, radio buttons. */
  fill_form(params?: FillFormParams, options?: ActionOptions): Promise<any>;
  /** Type a text key by key, after the existing text. */
  type(params: TypeParams, options?: ActionOptions): Promise<any>;
  /** Press keys or chords, one after the other. */
  press(params: PressParams, options?: ActionOptions): Promise<any>;
  /** Select options of a list by label or value. */
  select(params: SelectParams, options?: ActionOptions): Promise<any>;
  /** Select text in an element, as a drag of the mouse over it does. */
  select_text(params: SelectTextParams, options?: ActionOptions): Promise<any>;
  /** Tick a check box or turn a switch on, or choose a radio button. */
  check(params: CheckParams, options?: ActionOptions): Promise<any>;
  /** Untick a check box or turn a switch off. */
  uncheck(params: UncheckParams, options?: ActionOptions): Promise<any>;
  /** Focus an element, so that it receives keys. */
  focus(params: FocusParams, options?: ActionOptions): Promise<any>;
  /** Scroll the page, scroll inside an element, or scroll an element into view. */
  scroll(params?: ScrollParams, options?: ActionOptions): Promise<any>;
  /** Move the mouse, click, drag, press or release a button, or turn the wheel, at a point of the tab. */
  mouse(params: MouseParams, options?: ActionOptions): Promise<any>;
  /** Read the clipboard, write it, or paste it. */
  clipboard(params: ClipboardParams, options?: ActionOptions): Promise<any>;
  /** Accept, dismiss or show the page's open dialog. */
  dialog(params?: DialogParams, options?: ActionOptions): Promise<any>;
  /** Give files to a file input, or to the file chooser that the page has open. */
  upload(params: UploadParams, options?: ActionOptions): Promise<any>;
  /** Download a file by its URL, or by clicking an element. */
  download_file(params?: DownloadFileParams, options?: ActionOptions): Promise<any>;
  /** List the session's downloads: complete, running and failed. */
  downloads(params?: DownloadsParams, options?: ActionOptions): Promise<any>;
  /** Go to a URL in the tab. */
  navigate(params: NavigateParams, options?: ActionOptions): Promise<any>;
  /** Go one step back in the tab's history. */
  back(params?: BackParams, options?: ActionOptions): Promise<any>;
  /** Go one step forward in the tab's history. */
  forward(params?: ForwardParams, options?: ActionOptions): Promise<any>;
  /** Reload the tab's page. */
  reload(params?: ReloadParams, options?: ActionOptions): Promise<any>;
  /** Wait for an element, text, URL, load state, script, download, new tab or time. */
  wait_for(params?: WaitForParams, options?: ActionOptions): Promise<any>;
  /** List the session's tabs. */
  tabs_list(params?: TabsListParams, options?: ActionOptions): Promise<any>;
  /** Open a tab and make it the current one. */
  tab_new(params?: TabNewParams, options?: ActionOptions): Promise<any>;
  /** Make a tab the current one for later actions, by id, number, title or URL. */
  tab_select(params: TabSelectParams, options?: ActionOptions): Promise<any>;
  /** Close a tab: the given one, or the current one. */
  tab_close(params?: TabCloseParams, options?: ActionOptions): Promise<any>;
  /** Select the frame that later targets, snapshots, reads and eval use, or list the frames. */
  frame(params?: FrameParams, options?: ActionOptions): Promise<any>;
  /** Read the visible text of the page or of an element, frames included. */
  get_text(params?: GetTextParams, options?: ActionOptions): Promise<any>;
  /** Read the current HTML of the page or of an element. */
  get_html(params?: GetHtmlParams, options?: ActionOptions): Promise<any>;
  /** Read the page's main content, the whole page or an element as Markdown. */
  read_as_markdown(params?: ReadAsMarkdownParams, options?: ActionOptions): Promise<any>;
  /** List the links of the page or of an element: text and absolute URL, each URL once. */
  extract_links(params?: ExtractLinksParams, options?: ActionOptions): Promise<any>;
  /** Take a screenshot of the viewport, the full page or an element, and write it to a file. */
  screenshot(params?: ScreenshotParams, options?: ActionOptions): Promise<any>;
  /** Print the page to a PDF file. */
  pdf(params?: PdfParams, options?: ActionOptions): Promise<any>;
  /** Get one property of the page or an element. */
  get(params: GetParams, options?: ActionOptions): Promise<any>;
  /** Describe the element at a point of the tab: the innermost one, its ancestors, and selected styles. */
  inspect(params: InspectParams, options?: ActionOptions): Promise<any>;
  /** Show new console lines of the page since the last call, uncaught errors included. */
  console(params?: ConsoleParams, options?: ActionOptions): Promise<any>;
  /** Show new errors of the page since the last call: uncaught ones and those written to the console. */
  errors(params?: ErrorsParams, options?: ActionOptions): Promise<any>;
  /** Run JavaScript in the page and print the result. */
  eval(params: EvalParams, options?: ActionOptions): Promise<any>;
  /** Send one Chrome DevTools Protocol command to the page and print its result. */
  cdp(params: CdpParams, options?: ActionOptions): Promise<any>;
  /** Measure how the page performed so far: LCP, CLS, INP, FCP, TTFB and long tasks. */
  vitals(params?: VitalsParams, options?: ActionOptions): Promise<any>;
  /** Record a browser trace and report the page's performance: LCP, CLS, INP, long tasks, scripts. */
  trace(params: TraceParams, options?: ActionOptions): Promise<any>;
  /** Capture files for every action from now on: screenshot, Markdown, HTML, console lines and page changes. */
  capture(params?: CaptureParams, options?: ActionOptions): Promise<any>;
  /** Record a video of the tab: `record start`, act, `record stop`. */
  record(params: RecordParams, options?: ActionOptions): Promise<any>;
  /** Show what changed in the snapshot or in a screenshot of the page. */
  diff(params: DiffParams, options?: ActionOptions): Promise<any>;
  /** List, show, set and clear cookies. */
  cookies(params?: CookiesParams, options?: ActionOptions): Promise<any>;
  /** List, show, set and remove local or session storage keys of the page's origin. */
  storage(params: StorageParams, options?: ActionOptions): Promise<any>;
  /** List the requests the page made. */
  requests(params?: RequestsParams, options?: ActionOptions): Promise<any>;
  /** Show one request with its headers, bodies, timing and messages, or save parts of it to files. */
  request(params: RequestParams, options?: ActionOptions): Promise<any>;
  /** Abort, fulfil or change requests of the tab, by URL and kind; without a URL, list the routes. */
  route(params?: RouteParams, options?: ActionOptions): Promise<any>;
  /** Remove routes: one by its number, those of a URL pattern, or all. */
  unroute(params?: UnrouteParams, options?: ActionOptions): Promise<any>;
  /** Record the tab's requests to an HTTP archive (HAR 1.2), or replay responses from one. */
  har(params?: HarParams, options?: ActionOptions): Promise<any>;
  /** Turn the tab's network off or on. */
  offline(params?: OfflineParams, options?: ActionOptions): Promise<any>;
  /** Limit the speed of the tab's network with a preset or with numbers; without either, report the limits. */
  throttle(params?: ThrottleParams, options?: ActionOptions): Promise<any>;
  /** Add headers to every request of the tab; without headers, list them. */
  headers(params?: HeadersParams, options?: ActionOptions): Promise<any>;
  /** Set the user name and password for HTTP authentication. */
  http_auth(params?: HttpAuthParams, options?: ActionOptions): Promise<any>;
  /** Log in with a login that `tabwire auth save` saved. */
  login(params: LoginParams, options?: ActionOptions): Promise<any>;
  /** Save cookies and local storage to a file, or load them from one. */
  state(params: StateParams, options?: ActionOptions): Promise<any>;
  /** Emulate a device, media features, locale or location in the tab; without options, list what is emulated. */
  emulate(params?: EmulateParams, options?: ActionOptions): Promise<any>;
  /** Add, remove or list scripts that run in every document of the tab before its own. */
  init_script(params?: InitScriptParams, options?: ActionOptions): Promise<any>;
}
interface SnapshotParams {
  /** The approximate maximum of tokens. */
  budget?: number;
  /** Only changes since the last snapshot. */
  delta?: boolean;
  /** Go down this many levels. */
  depth?: number;
  /** Start from this child of the element, counted from 1: to page through long lists and tables. */
  from?: number;
  /** The whole page, without a length limit. */
  full?: boolean;
  /** Only interactive elements, with their headings. */
  interactive?: boolean;
  /** Only the content of this element: a ref or another target. */
  within?: string;
}
interface FindParams {
  /** The maximum of matches that are shown; all are counted. */
  limit?: number;
  /** The text is a regular expression. */
  regex?: boolean;
  /** The text, ignoring case. */
  text: string;
  /** Only in this element: a ref or another target. */
  within?: string;
}
interface ClickParams {
  /** Which button. */
  button?: "left" | "right" | "middle";
  /** How many clicks in a row. */
  count?: number;
  /** Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event. */
  force?: boolean;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Open a link in a new tab. */
  new_tab?: boolean;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The point in the element, from its top left: X,Y. */
  position?: any[];
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface DblclickParams {
  /** Which button. */
  button?: "left" | "right" | "middle";
  /** Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event. */
  force?: boolean;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The point in the element, from its top left: X,Y. */
  position?: any[];
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface HoverParams {
  /** Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event. */
  force?: boolean;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The point in the element, from its top left: X,Y. */
  position?: any[];
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface TapParams {
  /** Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event. */
  force?: boolean;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The point in the element, from its top left: X,Y. */
  position?: any[];
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface DragParams {
  /** How far to drag it instead, in pixels: X,Y. */
  by?: any[];
  /** Do not wait until the element is stable, enabled and uncovered. The topmost element at the point gets the event. */
  force?: boolean;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The point in the element, from its top left: X,Y. */
  position?: any[];
  /** Mouse moves between start and end; 10 by default. */
  steps?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
  /** The element to drop it on. */
  to?: string;
  /** Which of several matches of the element to drop on, counted from 1. */
  to_nth?: number;
  /** The point in the element to drop on, from its top left: X,Y. */
  to_position?: any[];
}
interface FillParams {
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
  /** The new value; empty clears the field. `{secret:NAME}` fills in a saved login's password unseen. */
  value: string;
}
interface FillFormParams {
  /** A field and its value; may be repeated. */
  fields?: ({ target: string; value: any })[];
  /** The fields as JSON: {"label=Name": "Anna", "#agree": true}. */
  form?: string;
  /** Send the form afterwards. */
  submit?: boolean;
}
interface TypeParams {
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** Pause after each key, like a user. */
  slowly?: boolean;
  /** Press Enter at the end. */
  submit?: boolean;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target?: string;
  /** The text. */
  text: string;
}
interface PressParams {
  /** Keys as in KeyboardEvent.key, with modifiers before them: Enter, ArrowDown, a, Control+a, Shift+Tab. */
  keys: string[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target?: string;
}
interface SelectParams {
  /** How the options are given. */
  by?: "any" | "value" | "label" | "index";
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The options to select; several only for a multiple-choice list. */
  options: string[];
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface SelectTextParams {
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
  /** The text to select, as the element shows it; all of its text by default. */
  text?: string;
}
interface CheckParams {
  /** Do not wait until the element is stable, enabled and uncovered. */
  force?: boolean;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface UncheckParams {
  /** Do not wait until the element is stable, enabled and uncovered. */
  force?: boolean;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface FocusParams {
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target: string;
}
interface ScrollParams {
  /** How far, in pixels: X,Y. Up and left are negative. */
  by?: string;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target?: string;
  /** Where to: top, bottom, left, right, or a position X,Y. */
  to?: string;
  /** Scroll down step by step until this element is on the page, then to it: for lists that load more. */
  until?: string;
}
interface MouseParams {
  /** The point, in CSS pixels from the top left of the tab: X,Y; the mouse's position by default. */
  at?: any[];
  /** Which button. */
  button?: "left" | "right" | "middle";
  /** How far to turn the wheel, in pixels: X,Y. Up and left are negative. */
  by?: any[];
  /** How long a drag takes, in milliseconds; as fast as the page follows by default. */
  duration?: number;
  /** A key to hold; may be repeated. */
  modifiers?: ("alt" | "control" | "meta" | "shift")[];
  /** Where a drag ends, in CSS pixels from the top left of the tab: X,Y. */
  to?: any[];
  /** What to do. */
  what: "move" | "down" | "up" | "wheel" | "click" | "drag";
}
interface ClipboardParams {
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target?: string;
  /** The text to write. */
  text?: string;
  /** What to do. */
  what: "read" | "write" | "paste";
}
interface DialogParams {
  /** What to do with it. */
  answer?: "accept" | "dismiss" | "show";
  /** What to type into a prompt before accepting it. */
  text?: string;
}
interface UploadParams {
  /** Also give files of types that the input does not accept. */
  any_kind?: boolean;
  /** The files. */
  files: string[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The file input, or an element that opens a file chooser when clicked; the open chooser by default. */
  target?: string;
}
interface DownloadFileParams {
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** The maximum size; 256 MiB by default. */
  max_bytes?: number;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** A URL (http, https, data, blob), or an element to click: a ref (e12), a CSS selector, text=, role=, …. */
  target?: string;
  /** A URL; relative to the page's URL if it has no scheme. */
  url?: string;
}
interface DownloadsParams {
}
interface NavigateParams {
  /** The request's Referer header. */
  referer?: string;
  /** The URL; `https://` may be left out. */
  url: string;
  /** The load state to wait for. */
  wait_until?: "load" | "domcontentloaded" | "networkidle" | "commit";
}
interface BackParams {
  /** The load state to wait for. */
  wait_until?: "load" | "domcontentloaded" | "networkidle" | "commit";
}
interface ForwardParams {
  /** The load state to wait for. */
  wait_until?: "load" | "domcontentloaded" | "networkidle" | "commit";
}
interface ReloadParams {
  /** Bypass the browser's cache. */
  past_cache?: boolean;
  /** The load state to wait for. */
  wait_until?: "load" | "domcontentloaded" | "networkidle" | "commit";
}
interface WaitForParams {
  /** The end of a download: of a running one, else of the next. */
  download?: boolean;
  /** A JavaScript expression or function that must become true. */
  function?: string;
  /** The load state to wait for. */
  load?: "load" | "domcontentloaded" | "networkidle" | "commit" | any;
  /** A tab that a page of the session opens: one that is not used yet, else the next. */
  new_tab?: boolean;
  /** The state the element must be in. */
  state?: "visible" | "hidden" | "attached" | "detached" | "enabled" | "disabled" | "checked" | "unchecked" | "editable" | any;
  /** An element: a ref, a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath=. */
  target?: string;
  /** Text that must be visible somewhere on the page. */
  text?: string;
  /** Text that must be gone from the page. */
  text_gone?: string;
  /** A fixed time in milliseconds. */
  time?: number;
  /** A pattern of the page's URL; `*` stands for anything. */
  url?: string;
}
interface TabsListParams {
}
interface TabNewParams {
  /** Open it in the background (default). */
  background?: boolean;
  /** Bring it to the front. */
  foreground?: boolean;
  /** The URL to open; an empty page by default. */
  url?: string;
  /** The load state to wait for. */
  wait_until?: "load" | "domcontentloaded" | "networkidle" | "commit";
}
interface TabSelectParams {
  /** Bring it to the front of its window. */
  foreground?: boolean;
  /** The tab: its id from `tabs-list`, its number, or a part of its title or URL. */
  id: string;
}
interface TabCloseParams {
  /** The tab: its id from `tabs-list`, its number, or a part of its title or URL; the current one if left out. */
  id?: string;
}
interface FrameParams {
  /** `main`, the frame's name, a ref or another target of its element, or a part of its URL. */
  frame?: string;
}
interface GetTextParams {
  /** The character to start from. */
  from?: number;
  /** Most characters to return (default 40000). */
  limit?: number;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the whole page). */
  target?: string;
}
interface GetHtmlParams {
  /** Leave out scripts, styles, comments, hidden elements, event handlers, data: URLs and most attributes; inline the frames. */
  clean?: boolean;
  /** The character to start from. */
  from?: number;
  /** Most characters to return (default 40000). */
  limit?: number;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the whole page). */
  target?: string;
}
interface ReadAsMarkdownParams {
  /** The character to start from. */
  from?: number;
  /** Most characters to return (default 40000). */
  limit?: number;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the whole page). */
  target?: string;
  /** The whole page, with menus, sidebars and footers. */
  whole?: boolean;
}
interface ExtractLinksParams {
  /** No links whose URL matches one of these patterns. May be repeated. */
  exclude?: string[];
  /** Only links whose text or URL contains this, ignoring case. */
  filter?: string;
  /** Only links whose URL matches one of these patterns; `*` stands for anything. May be repeated. */
  include?: string[];
  /** The maximum of links; 200 by default. */
  limit?: number;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** Only links to the page's own origin. */
  same_origin?: boolean;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the whole page). */
  target?: string;
}
interface ScreenshotParams {
  /** Draw a frame with its ref around every interactive element. The page itself stays as it is. */
  annotate?: boolean;
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** The image format. */
  format?: "png" | "jpeg" | "webp";
  /** The full page instead of the viewport. */
  full_page?: boolean;
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** Device pixels, without scaling down. */
  original?: boolean;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** The JPEG quality, 1 to 100; 80 by default. */
  quality?: number;
  /** The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the whole page). */
  target?: string;
}
interface PdfParams {
  /** Print colours and images behind the text too. */
  background?: boolean;
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** Landscape format. */
  landscape?: boolean;
  /** Margins: one length, or top,right,bottom,left; as 1cm, 10mm, 0.4in or 20px. */
  margin?: string;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** Only these pages: 1-3,5. */
  pages?: string;
  /** The paper. */
  paper?: "a4" | "a3" | "a5" | "letter" | "legal" | "tabloid" | "page";
  /** The scale, 0.1 to 2. */
  scale?: number;
}
interface GetParams {
  /** Names of the attributes, properties or styles. */
  names?: string[];
  /** Which of several matches, counted from 1. */
  nth?: number;
  /** Show the value of a password or TOTP field instead of masking it. */
  reveal?: boolean;
  /** The element, as for `click`; none for `title` and `url`. */
  target?: string;
  /** What to get. */
  what: "title" | "url" | "value" | "attribute" | "property" | "box" | "styles" | "count";
}
interface InspectParams {
  /** The point, in CSS pixels from the top left of the tab: X,Y. */
  point: any[];
}
interface ConsoleParams {
  /** All lines that are still kept, not only new ones. */
  all?: boolean;
  /** Clear the lines afterwards. */
  clear?: boolean;
  /** Only lines of this level; may be repeated. */
  levels?: ("error" | "warning" | "info" | "log" | "debug")[];
  /** The maximum of lines, the newest ones; 100 by default. */
  limit?: number;
}
interface ErrorsParams {
  /** All lines that are still kept, not only new ones. */
  all?: boolean;
  /** Clear the lines afterwards. */
  clear?: boolean;
  /** The maximum of lines, the newest ones; 100 by default. */
  limit?: number;
}
interface EvalParams {
  /** An element: the function's argument, or `element` in an expression. */
  element?: string;
  /** An expression, or a function such as `() => document.title`. */
  expression: string;
  /** Which of several matches, counted from 1. */
  nth?: number;
}
interface CdpParams {
  /** The method: Page.getLayoutMetrics. */
  method: string;
  /** Its parameters as a JSON object; none by default. */
  params?: Record<string, any>;
}
interface VitalsParams {
}
interface TraceParams {
  /** Also trace this category, with `start`; may be repeated. */
  categories?: string[];
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** What to do. */
  verb: "start" | "stop";
}
interface CaptureParams {
  /** The directory for the files, with `on`; one in Tabwire's state directory by default. */
  directory?: string;
  /** What to do. */
  verb?: "on" | "off" | "pause" | "resume" | "status";
}
interface RecordParams {
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** The format, with `start`. */
  format?: "auto" | "webm" | "webp" | "frames";
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** What to do. */
  verb: "start" | "stop";
}
interface DiffParams {
  /** The file to compare with; the last snapshot by default. */
  baseline?: string;
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** Compare the full page instead of the viewport. */
  full_page?: boolean;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** Write the current snapshot to this file, as a baseline for later. */
  save?: string;
  /** Compare this element: a ref, a CSS selector, or another target. */
  target?: string;
  /** The colour difference that is ignored, 0 to 1; 0.1 by default. */
  threshold?: number;
  /** What to compare. */
  what: "snapshot" | "screenshot";
}
interface CookiesParams {
  /** All cookies of the browser; needed to clear everything. */
  all?: boolean;
  /** Only cookies of this host and its subdomains; for `set`, the cookie's domain. */
  domain?: string;
  /** For set: when it expires, in seconds since 1970; a session cookie by default. */
  expires?: number;
  /** For set: keep it from the page's scripts. */
  http_only?: boolean;
  /** For set: how many seconds it lasts. */
  max_age?: number;
  /** The cookie's name, for get, set and clear. */
  name?: string;
  /** For set: the site of the pages in which it is sent, for a partitioned cookie: https://example.org. */
  partition?: string;
  /** For set: the paths it is sent to. */
  path?: string;
  /** For set: whether it is sent from pages of other sites. */
  same_site?: "strict" | "lax" | "none" | any;
  /** For set: send it only over https. */
  secure?: boolean;
  /** Only cookies that are sent to this URL; for `set`, the URL it is for. */
  url?: string;
  /** The value to set. */
  value?: string;
  /** Show values in a list. */
  values?: boolean;
  /** What to do. */
  verb?: "list" | "get" | "set" | "clear";
}
interface StorageParams {
  /** Which storage. */
  area: "local" | "session";
  /** The key, for get, set and remove. */
  key?: string;
  /** The value to set. */
  value?: string;
  /** Show values in a list. */
  values?: boolean;
  /** What to do. */
  verb?: "list" | "get" | "set" | "remove" | "clear";
}
interface RequestsParams {
  /** List images, styles, scripts and fonts too. */
  all?: boolean;
  /** Only requests that failed or have a status of 400 or more. */
  failed?: boolean;
  /** The maximum to list, the newest ones. */
  limit?: number;
  /** Only this method. */
  method?: string;
  /** Only requests since the last call of `requests`. */
  new?: boolean;
  /** Only responses with this status: 404, 4xx or 400-499. */
  status?: string;
  /** Only this kind; may be repeated. */
  type?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "xhr" | "fetch" | "event-source" | "websocket" | "manifest" | "ping" | "preflight" | "other")[];
  /** Only URLs that contain this, or match it as a glob: `*` stands for anything (/api/*.json). */
  url?: string;
  /** Only WebSockets and event streams. */
  websockets?: boolean;
}
interface RequestParams {
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** Leave the bodies out. */
  no_body?: boolean;
  /** Its number, as `requests` lists it. */
  number: number;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** A part to save to a file; may be repeated. */
  save?: ("request-body" | "response-body" | "request-headers" | "response-headers" | "messages")[];
  /** Show cookies, Authorization headers, tokens and passwords unmasked. */
  show_secrets?: boolean;
}
interface RouteParams {
  /** Fail the request with this reason. */
  abort?: "blocked" | "failed" | "aborted" | "timed-out" | "connection-refused" | "connection-reset" | "name-not-resolved" | "offline" | any;
  /** Respond with this text. */
  body?: string;
  /** Respond with the current content of this file. */
  body_file?: string;
  /** Respond with this header, `Name: value`; may be repeated. */
  header?: string[];
  /** Send this text in place of its body. */
  post_data?: string;
  /** Send it without this header; may be repeated. */
  remove_header?: string[];
  /** Send it with this header, `Name: value`; may be repeated. */
  set_header?: string[];
  /** Respond with this status; 200 by default. */
  status?: number;
  /** The maximum number of requests it applies to. */
  times?: number;
  /** Send it with this method. */
  to_method?: string;
  /** Send the request to this URL. The page sees the original URL. */
  to_url?: string;
  /** Only this kind of request; may be repeated. */
  type?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "xhr" | "fetch" | "event-source" | "websocket" | "manifest" | "ping" | "preflight" | "other")[];
  /** URLs that contain this, or match it as a glob: `*` stands for anything, slashes too (/api/*.json). */
  url?: string;
}
interface UnrouteParams {
  /** Remove all routes. */
  all?: boolean;
  /** A route's number, or its URL pattern. */
  route?: string;
}
interface HarParams {
  /** What to do. */
  action?: "start" | "stop" | "replay" | "live" | "show";
  /** The file to write with `stop`, or to replay. */
  file?: string;
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** Write cookies, Authorization headers, tokens and passwords unmasked. */
  show_secrets?: boolean;
  /** With `replay`: fail requests that are not in the archive. */
  strict?: boolean;
}
interface OfflineParams {
  /** Whether the tab is offline. */
  state?: "on" | "off" | "show";
}
interface ThrottleParams {
  /** The maximum download rate in kbit/s. */
  download?: number;
  /** Milliseconds to add to every response. */
  latency?: number;
  /** The preset. */
  preset?: "slow-3g" | "fast-3g" | "4g" | "off" | any;
  /** The maximum upload rate in kbit/s. */
  upload?: number;
}
interface HeadersParams {
  /** Remove all headers from the list first. */
  clear?: boolean;
  /** Headers to add, `Name: value`; replaces a header of the same name. */
  headers?: string[];
  /** A header to remove from the list; may be repeated. */
  remove?: string[];
}
interface HttpAuthParams {
  /** Remove the credentials. */
  clear?: boolean;
  /** The origin that receives them: https://example.org. */
  origin?: string;
  /** The password. --password-file keeps it out of process lists and shell histories. */
  password?: string;
  /** A file whose first line is the password. */
  password_file?: string;
  /** The user name; without one, show the user name and origin that are set. */
  user?: string;
}
interface LoginParams {
  /** The saved login's name. */
  name: string;
  /** The passphrase itself. A terminal prompts for it; a file keeps it out of shell histories. */
  passphrase?: string;
  /** A file whose first line is the passphrase of the saved logins, if they have one. */
  passphrase_file?: string;
}
interface StateParams {
  /** For save: encrypt the file with a passphrase; a terminal prompts for it unless `passphrase_file` is given. */
  encrypt?: boolean;
  /** Replace the file if it exists. A file that this session wrote is always replaced. */
  force?: boolean;
  /** For save: save the local storage of this origin too, in addition to visited origins; may be repeated. */
  origins?: string[];
  /** The file or directory to write; a new file in Tabwire's state directory by default. */
  output?: string;
  /** The passphrase itself. A terminal prompts for it; a file keeps it out of shell histories. */
  passphrase?: string;
  /** Encrypt or decrypt the state with the passphrase on the first line of this file. */
  passphrase_file?: string;
  /** The file; for save, a new one in Tabwire's state directory by default. */
  path?: string;
  /** For load: first remove all cookies, and the local storage of the origins in the file. */
  replace?: boolean;
  /** What to do. */
  verb: "save" | "load";
}
interface EmulateParams {
  /** prefers-color-scheme: dark, light or off. */
  color_scheme?: string;
  /** prefers-contrast: more, less, custom, no-preference or off. */
  contrast?: string;
  /** The CPU slowdown factor; 1 is none. */
  cpu?: number;
  /** A permission to deny; may be repeated. */
  deny?: string[];
  /** A device, which sets size, touch and user agent, e.g. "iPhone 15"; or off. */
  device?: string;
  /** forced-colors: active, none or off. */
  forced_colors?: string;
  /** The geolocation: LATITUDE,LONGITUDE[,ACCURACY in metres], or off. Pages also need --grant geolocation. */
  geolocation?: string;
  /** A permission to grant, e.g. geolocation or clipboard-read; may be repeated. */
  grant?: string[];
  /** Landscape orientation of the device. */
  landscape?: boolean;
  /** List the devices. */
  list_devices?: boolean;
  /** The locale, e.g. de-DE; or off. */
  locale?: string;
  /** The media type: screen, print or off. */
  media?: string;
  /** Use the mobile layout. */
  mobile?: boolean;
  /** The origin of the permissions; the page's by default. */
  origin?: string;
  /** prefers-reduced-motion: reduce, no-preference or off. */
  reduced_motion?: string;
  /** Reset everything first. */
  reset?: boolean;
  /** Reset every permission that was granted or denied here. */
  reset_permissions?: boolean;
  /** Device pixels per CSS pixel. */
  scale?: number;
  /** The time zone, e.g. Asia/Tokyo; or off. */
  timezone?: string;
  /** Touch screen. */
  touch?: "on" | "off" | any;
  /** The user agent, with matching client hints; or off. */
  user_agent?: string;
  /** The viewport size: 390x844, 390x844@3 with a device scale factor, or off. */
  viewport?: string;
}
interface InitScriptParams {
  /** For remove: all of them. */
  all?: boolean;
  /** For add: a file with the script. */
  file?: string;
  /** For add, the script; for remove, its id. */
  script?: string;
  /** What to do. */
  verb?: "list" | "add" | "remove";
}
