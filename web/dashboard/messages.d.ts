// The messages of the dashboard's websockets, as types for the checker.
// Written by `cargo xtask gen`. Do not edit: change crates/tabwire-daemon/src/dashboard instead.

/** A mouse button. */
export type Button = "none" | "left" | "middle" | "right" | "back" | "forward";

/** One session on the wall. */
export interface Card {
  /** Who drives the tab now; absent while no client acts in it. */
  driver?: ShownDriver | null;
  hold?: Hold | null;
  /** Whether the user drives the tab. */
  is_taken: boolean;
  /** The site of a page that may not be shown. */
  refused?: string | null;
  /** The agent that acts now, and what it does. */
  running?: [string, string];
  session: string;
  state: string;
  tab?: string | null;
  /** The number in the heads of its images. */
  view: number;
}

/** How a client is connected. */
export type ClientKind = "mcp" | "cdp" | "shim" | "script" | "extension";

/** What a page can request. */
export type DashboardRequest = { after?: number | null; before?: number | null; client?: string | null; kind?: string | null; limit?: number | null; name: "rows"; project?: string | null; refused?: boolean; session?: string | null; text?: string | null } | { name: "row_names" } | { name: "screenshot"; number: number } | { name: "export"; project?: string | null; session: string } | { agent?: string | null; capabilities: string[]; name: "policy_allow"; seconds?: number | null; session?: string | null; site: string } | { name: "policy_deny"; site: string } | { action: string; agent?: string | null; name: "policy_check"; policy?: string | null; session?: string | null; url: string } | { name: "policy_file" } | { name: "clients" } | { client: string; name: "client_disconnect" } | { name: "pause"; scope: Scope } | { name: "stop"; scope: Scope } | { name: "resume"; scope: Scope } | { name: "files" } | { file: string; name: "file"; offset?: number } | { name: "health" } | { name: "doctor" };

/** What a dashboard shows beside rows. */
export interface DashboardState {
  approvals: Question[];
  decided: DecidedQuestion[];
  grants: Grant[];
  /** Whose actions are paused or stopped. */
  holds: [Scope, Hold][];
  lost_log_lines: number;
  pid: number;
  policy: PolicySummary;
  port: number;
  sessions: SessionStatus[];
  /** When the daemon started, in milliseconds since 1970. */
  started: number;
  version: string;
}

/** An answered question. */
export interface DecidedQuestion {
  /** The agent's name. */
  agent: string;
  /** `once`, `session`, `agent`, `always` or `no`. */
  answer: string;
  /** Where it was answered. */
  by: string;
  /** The capability. */
  capability: string;
  /** Its id. */
  id: string;
  /** The site. */
  site: string;
  /** When, in seconds since 1970. */
  when: number;
}

/** One finger. */
export interface Finger {
  /** Which finger. */
  id: number;
  /** From the left. */
  x: number;
  /** From the top. */
  y: number;
}

/** A grant or denial. */
export interface Grant {
  /** The agent that it holds for; without one it holds for every agent. */
  agent?: string | null;
  /** What is granted. */
  capabilities: string[];
  /** When it was given, in seconds since 1970. */
  given_at: number;
  /** Where it was given. */
  given_by: string;
  /** Its id. */
  id: string;
  /** The site. */
  site: string;
  /** `allow` or `deny`. */
  stance: string;
  /** How long. */
  term: Term;
}

/** What happens to new actions. */
export type Hold = "paused" | "stopped";

/** The first message of a page. */
export interface LineOpening {
  /** The last row that the page has. */
  after?: number | null;
  key: string;
}

/** An open dialog as the user sees it. */
export interface LiveDialog {
  /** The default value of a prompt. */
  default?: string | null;
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  kind: string;
  /** Its text. */
  message: string;
}

/** What a stream of the log sends. */
export type LogEvent = Row & { type: "entry" } | { first: number; type: "gap" } | { type: "reset" };

/** What a mouse does. */
export type MouseEvent = "mouseMoved" | "mousePressed" | "mouseReleased";

/** A later message. */
export type PageMessage = { seq: number; type: "drawn" } | { height: number; type: "size"; width: number } | { type: "visible"; visible: boolean } | { tab?: string | null; type: "tab" } | { type: "take" } | { type: "give" } | { input: UserInput; type: "input" } | { accept: boolean; text?: string | null; type: "dialog" } | { type: "choose" } | { to: Steering; type: "go" } | { scope: Scope; type: "pause" } | { scope: Scope; type: "stop" } | { scope: Scope; type: "resume" };

/** Where an action pointed: the box of its element and the point in it. */
export interface PointerMark {
  /** The name of the element, as snapshots have it. */
  name: string;
  /** Left, top, width and height of the element. A point without an element has no width and height. */
  rectangle: number[];
  /** The role of the element, as snapshots have it; empty without an element. */
  role: string;
  /** The tab. */
  tab: string;
  /** The point, in CSS pixels of the viewport. */
  x: number;
  /** The same from the top. */
  y: number;
}

/** The user's policy file. */
export interface PolicySummary {
  /** Whether the user is asked about sites without a rule or grant; otherwise they are refused. */
  asks_about_unlisted: boolean;
  /** Why it is invalid. */
  fault?: string | null;
  /** Its path. */
  file: string;
  /** Its rules. */
  rules: RuleSummary[];
}

/** A question of the policy. */
export interface Question {
  /** The action. */
  action: string;
  /** The agent's name, as its user knows it. */
  agent: string;
  /** The capability that would be granted. */
  capability: string;
  /** Its id. */
  id: string;
  /** Seconds until it is denied. */
  seconds_left: number;
  /** Seconds that it had at first. */
  seconds_total: number;
  /** The session. */
  session: string;
  /** The site, never with a path or query. */
  site: string;
  /** The client with its program and process. */
  who: string;
  /** Why the user is asked. */
  why: string;
}

/** A browser that a Grid or a provider created. */
export interface RemoteBrowser {
  /** The start of its id there. */
  id?: string | null;
  /** Seconds without use after which it is ended there. */
  idle_limit_seconds?: number | null;
  /** The time between two requests that keep it. */
  kept_every_seconds?: number | null;
  /** The node it runs on, as the Grid names it. */
  node?: string | null;
  /** The Grid or provider. */
  place?: string;
  /** Seconds since it was requested, which most providers charge. */
  rented_seconds?: number;
  /** Seconds until the provider ends it, if the recipe says it. */
  seconds_left?: number | null;
}

/** One row. */
export interface Row {
  /** The action. */
  action: string;
  /** The result, without secrets. */
  changes?: unknown;
  /** The client. */
  client: RowClient;
  /** The rule or profile that decided. */
  decided_by: string;
  /** `allow`, `deny` or `ask`. */
  decision: string;
  /** How long it took, in milliseconds. */
  duration_ms: number;
  /** The effect class of the action. */
  effect: string;
  /** The error message, without secrets. */
  message?: string | null;
  /** Its number. */
  number: RowNumber;
  /** The origin of the tab's page. */
  origin?: string | null;
  /** The parameters, without secrets. */
  params?: unknown;
  /** Why. */
  reason?: string | null;
  /** `ok`, or the error's code. */
  result: string;
  /** The run of a script that it is, or that it is a call of. */
  run?: string | null;
  /** The session. */
  session: RowSession;
  /** The tab it was for. */
  tab?: string | null;
  /** When the request was received, in UTC: `2026-11-15T10:02:03.004Z`. */
  time: string;
  /** How many equal calls of a script the row stands for. */
  times?: number;
}

/** The client of a row. */
export interface RowClient {
  /** The name it gives itself. */
  name?: string | null;
  /** Its process id. */
  pid?: number | null;
  /** The program of that process. */
  program?: string | null;
  /** `socket` or `port`. */
  transport: string;
}

/** A row's number. Numbers increase and are never reused. */
export type RowNumber = number;

/** A row's session. */
export interface RowSession {
  /** Its name. */
  name: string;
  /** Its project. */
  project?: string | null;
}

/** A rule of the policy file. */
export interface RuleSummary {
  /** What it allows. */
  allow: string[];
  /** What it asks about. */
  ask: string[];
  /** What it denies. */
  deny: string[];
  /** The site. */
  site: string;
}

/** Whose actions are paused or stopped. */
export type Scope = "all" | { session: string } | { agent: string };

/** One session. */
export interface SessionStatus {
  /** Whether its browser responds. */
  active?: boolean;
  /** Frames without a receiver: late responses, and events for CDP sessions that just ended. */
  astray?: number;
  /** The browser's main process, when Tabwire launched it. */
  browser_pid?: number | null;
  /** The browser's product name and version. */
  browser_version?: string | null;
  /** Connected CDP clients, including the engine. */
  clients?: number;
  /** Tabs whose process crashed. A reload restores them. */
  crashed_tabs?: string[];
  /** Where CDP clients connect, without the secret; `tabwire cdp-url` prints the whole URL. */
  endpoint?: string | null;
  /** Events dropped for slow clients. */
  events_dropped?: number;
  /** What its browser cannot do, one sentence each. For Firefox. */
  gaps?: string[];
  /** With a window. */
  headed?: boolean;
  /** Objects that clients hold in the mux, for leak checks: CDP sessions, contexts, held frames. */
  held?: number;
  /** Whether pages cannot see that the browser is automated. */
  hides_automation?: boolean;
  /** How it shares the browser: `own`, `context` or `shared`. */
  isolation?: string;
  /** The keeper's process, when Tabwire launched the browser. */
  keeper_pid?: number | null;
  /** Memory of the browser's processes in bytes, when requested. */
  memory_bytes?: number | null;
  /** Responses on another CDP session than their request; they are dropped. */
  misrouted?: number;
  /** Its name. */
  name?: string;
  /** The loopback port that needs no secret, while `tabwire cdp-url --port` keeps one open. */
  open_port?: number | null;
  /** `launched`, `attached` or `rented`. */
  ownership?: string;
  /** Commands waiting for the browser. */
  pending?: number;
  /** The policy profile: `open` or `guarded`. */
  policy?: string;
  /** Its profile directory. */
  profile?: string | null;
  /** The project it belongs to. */
  project?: string;
  /** The file that stores it. */
  record?: string | null;
  /** Where a rented browser runs, and how long it still lives. */
  remote?: RemoteBrowser | null;
  /** Whether its cookies and local storage are saved. */
  saves_state?: boolean;
  /** Tabs of the browser's user that it can select. */
  shared_tabs?: number;
  /** `active`, `starting`, `stopped`, or why its browser is gone. */
  state?: string;
  /** All of these tabs. */
  tab_list?: SessionTab[];
  /** Its own open tabs. */
  tabs?: number;
  /** How its browser is reached. */
  upstream?: string;
  /** Seconds since the session's browser was started or first connected. */
  uptime_seconds?: number;
}

/** A tab of a session, without its title and URL. */
export interface SessionTab {
  /** The named client that opened it. */
  client?: string | null;
  /** Whether commands that name no tab use it. */
  current?: boolean;
  /** Whether the browser's user opened it. Otherwise it is the session's own. */
  shared?: boolean;
  /** Its id. */
  tab: string;
}

/** An action that runs or waits. */
export interface ShownAction {
  action: string;
  agent: string;
  is_waiting: boolean;
}

/** A client in the list. */
export interface ShownClient {
  /** The name of its agent, by which it can be paused and stopped. */
  agent?: string | null;
  /** Whether the user can disconnect it. */
  disconnects: boolean;
  /** Whether the user holds this agent. */
  hold?: Hold | null;
  id: string;
  kind: ClientKind;
  name?: string | null;
  /** Calls or commands that wait for their response. */
  pending: number;
  pid?: number | null;
  program?: string | null;
  session: string;
  /** When it connected, in milliseconds since 1970. */
  since?: number | null;
}

/** Who drives a tab. */
export interface ShownDriver {
  /** What the agent does, or did a moment ago. */
  action?: string | null;
  /** The name of the agent. */
  agent?: string | null;
  /** `agent`, `you`, or `other` for the user in another dashboard. */
  who: string;
}

/** A row, and whether it has a screenshot. */
export interface ShownRow {
  /** The action. */
  action: string;
  /** The result, without secrets. */
  changes?: unknown;
  /** The client. */
  client: RowClient;
  /** The rule or profile that decided. */
  decided_by: string;
  /** `allow`, `deny` or `ask`. */
  decision: string;
  /** How long it took, in milliseconds. */
  duration_ms: number;
  /** The effect class of the action. */
  effect: string;
  /** The error message, without secrets. */
  message?: string | null;
  /** Its number. */
  number: RowNumber;
  /** The origin of the tab's page. */
  origin?: string | null;
  /** The parameters, without secrets. */
  params?: unknown;
  /** Why. */
  reason?: string | null;
  /** `ok`, or the error's code. */
  result: string;
  /** The run of a script that it is, or that it is a call of. */
  run?: string | null;
  screenshot?: boolean;
  /** The session. */
  session: RowSession;
  /** The tab it was for. */
  tab?: string | null;
  /** When the request was received, in UTC: `2026-11-15T10:02:03.004Z`. */
  time: string;
  /** How many equal calls of a script the row stands for. */
  times?: number;
}

/** A tab in the list of a stage. */
export interface ShownTab {
  shared: boolean;
  tab: string;
  /** Absent for a page that may not be read. */
  title?: string | null;
  /** The URL, or the site of a page that may not be read. */
  url: string;
}

/** A step in a tab's history, or a reload. */
export type Steering = "back" | "forward" | "reload";

/** How long a grant holds. */
export type Term = "always" | { session: string } | { seconds_left: number };

/** What fingers do. */
export type TouchEvent = "touchStart" | "touchMove" | "touchEnd" | "touchCancel";

/** One input of the user. Positions are in CSS pixels of the viewport; `modifiers` and `buttons` are bit masks of CDP. */
export type UserInput = { button: Button; buttons: number; clicks: number; kind: "mouse"; modifiers: number; what: MouseEvent; x: number; y: number } | { dx: number; dy: number; kind: "wheel"; modifiers: number; x: number; y: number } | { kind: "touch"; modifiers: number; points: Finger[]; what: TouchEvent } | { code: string; is_down: boolean; key: string; key_code: number; kind: "key"; location: number; modifiers: number; repeat: boolean; text: string } | { kind: "text"; text: string } | { kind: "compose"; text: string };

/** The message about a stage. */
export interface ViewMessage {
  /** Whether the open file chooser takes several files. */
  chooser?: boolean | null;
  dialog?: LiveDialog | null;
  /** Who drives the tab now; absent while no client acts in it. */
  driver?: ShownDriver | null;
  hold?: Hold | null;
  mark?: PointerMark | null;
  policy?: string | null;
  /** The site of a page that may not be shown. */
  refused?: string | null;
  running: ShownAction[];
  state: string;
  tab?: string | null;
  tabs: ShownTab[];
  taken?: string | null;
  type: string;
}

/** The first message: the key, and the session to show. Without a session, small images of all sessions are sent. */
export interface ViewOpening {
  key: string;
  session?: string | null;
  tab?: string | null;
}

/** The message about the wall. */
export interface WallMessage {
  /** Whose actions are paused or stopped. */
  holds: [Scope, Hold][];
  sessions: Card[];
  type: string;
}
