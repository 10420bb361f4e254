// The messages of the daemon for popup and options, as types for the checker.
// Written by `cargo xtask gen`. Do not edit: change crates/tabwire-extension/src/link/notification.rs instead.

/** Everything that the daemon reports to the user of a browser. Each replaces the one before. */
export interface Notification {
  /** Questions that wait for an answer, the most urgent first. */
  approvals: Question[];
  /** Questions that were answered lately, the newest first. */
  decided: DecidedQuestion[];
  /** The clients of each tab. */
  drivers: TabDriver[];
  /** Grants and denials. */
  grants: Grant[];
  /** Clients of open sessions, which use shared tabs without asking. */
  open: string[];
  /** The rules of the user's file. */
  policy: PolicySummary;
  /** What was refused lately in this browser, the newest first. */
  refused: Refusal[];
  /** What the policy allows in the tabs that the popup shows. */
  standings: UrlAccess[];
}

/** Whether agents have a capability. */
export type Access = "allowed" | "some" | "asks" | "denied";

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

/** A refused action. */
export interface Refusal {
  /** The action. */
  action: string;
  /** The agent's name. */
  agent: string;
  /** Why. */
  message: string;
  /** The session. */
  session: string;
  /** When, in seconds since 1970. */
  when: number;
  /** The client with its program and process. */
  who: string;
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

/** The clients of one tab. */
export interface TabDriver {
  /** What the tab group of the first client stands for: its name, or one chat of the agent. */
  group: string;
  /** The tab's target. */
  target: string;
  /** Names of clients. */
  who: string[];
}

/** How long a grant holds. */
export type Term = "always" | { session: string } | { seconds_left: number };

/** What the policy allows in guarded sessions at one URL. */
export interface UrlAccess {
  /** Acting on the page. */
  act: Access;
  /** Reading the page. */
  read: Access;
  /** The URL. */
  url: string;
}
