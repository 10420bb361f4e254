//! Command-line definitions of the commands that are not actions, and of the common options.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tabwire_api::{ClientName, SessionName, TabId};

mod argument_order;
pub(crate) mod cdp_url_flags;
pub(crate) mod chat_command;
pub(crate) mod extension_command;
pub(crate) mod help;
pub(crate) mod invocation;
pub(crate) mod policy_command;
pub(crate) mod provider_command;
pub(crate) mod script_command;
pub(crate) mod session_command;
pub(crate) mod session_flags;

use crate::cli::cdp_url_flags::CdpUrlFlags;
use crate::cli::chat_command::{CHAT_HELP, ChatCommand};
use crate::cli::extension_command::ExtensionCommand;
use crate::cli::policy_command::{AllowOptions, ApprovalsCommand, GrantsCommand, PolicyCommand};
use crate::cli::provider_command::ProviderCommand;
use crate::cli::script_command::{EXECUTE_HELP, ExecuteFlags, REPL_HELP, RUN_HELP, ReplFlags, RunFlags};
use crate::cli::session_command::{ContextCommand, SessionCommand, TabCommand};
use crate::cli::session_flags::{SessionFlags, ViewFlags};

use crate::commands::SaveOptions;
use crate::commands::log::LogFlags;
use crate::commands::mcp::McpFlags;
use crate::commands::skill::dirs::SkillTool;
use crate::completion::CompletionShell;

/// The heading of options that every command takes.
const COMMON: &str = "Common options";

/// Below the help of `tabwire completions`.
const COMPLETIONS_HELP: &str = "\
To load it in every new shell:
  bash        echo 'eval \"$(tabwire completions bash)\"' >> ~/.bashrc
  zsh         echo 'source <(tabwire completions zsh)' >> ~/.zshrc   (after compinit)
  fish        tabwire completions fish > ~/.config/fish/completions/tabwire.fish
  PowerShell  Add-Content $PROFILE 'tabwire completions powershell | Out-String | Invoke-Expression'
  Elvish      echo 'eval (tabwire completions elvish | slurp)' >> ~/.config/elvish/rc.elv";

/// Below the help of `tabwire chrome`.
const CHROME_HELP: &str = "\
Playwright: chromium.launch({executablePath: '/path/to/tabwire-chrome'})

Options beyond Chrome's:
  --explain                             Print what happens to each argument; start nothing
  --tabwire-remote-debugging-port PORT  Debugging port of a browser on Windows

Variables:
  TABWIRE_CHROME_EXECUTABLE   Browser name or program
  TABWIRE_CHROME_PROFILE      Profile directory; overrides the launcher's
  TABWIRE_CHROME_PORT         Debugging port; overrides the launcher's
  TABWIRE_CHROME_DANGEROUS    1: forward flags that weaken the browser
  TABWIRE_CHROME_KEEP         1: keep a headless browser after its last client
  TABWIRE_CHROME_LOG          Log file
  TABWIRE_CHROME_LOG_LEVEL    important (default) or all
  TABWIRE_CHROME_FRAMES       Directory for logs of every CDP frame, secrets included

Within WSL, a Windows path of the profile directory or the program selects Chrome on
Windows (--user-data-dir='%LOCALAPPDATA%\\agent', C:\\x\\chrome.exe):
  TABWIRE_CHROME_HOST          windows: always; local: never
  TABWIRE_CHROME_POWERSHELL    PowerShell program
  TABWIRE_CHROME_WINDOWS_PORT  Debugging port of Chrome on Windows";

/// Options that every command takes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct GlobalFlags {
    /// Use this session (default: `default`).
    #[arg(long, short, alias = "context", global = true, help_heading = COMMON, value_name = "NAME", env = "TABWIRE_SESSION", hide_env_values = true)]
    pub(crate) session: Option<SessionName>,

    /// Print JSON.
    #[arg(long, global = true, help_heading = COMMON)]
    pub(crate) json: bool,

    /// Print the bare value for scripts: no fence, no notes, no quotes.
    #[arg(long, global = true, help_heading = COMMON, conflicts_with = "json")]
    pub(crate) raw: bool,

    /// Print the result only: no notes, no progress.
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub(crate) quiet: bool,

    /// Also print the session, the tab and the time of each action to stderr.
    #[arg(long, short, global = true, help_heading = COMMON, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Fail after this time: `10s`, `500ms`, `2m`.
    #[arg(long, global = true, help_heading = COMMON, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Allow reading and writing files below DIR (default: the current directory); repeatable.
    #[arg(long = "root", global = true, help_heading = COMMON, value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,

    /// Resolve relative URLs against URL, in this and later commands of the session.
    #[arg(long, global = true, help_heading = COMMON, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Name of the client, for tab leases and `tabwire log`.
    #[arg(long = "as", global = true, help_heading = COMMON, value_name = "NAME", env = "TABWIRE_CLIENT", hide_env_values = true)]
    pub(crate) acting_as: Option<ClientName>,

    /// Ignore the project: use sessions and settings outside of projects.
    #[arg(long, global = true, help_heading = COMMON, env = "TABWIRE_GLOBAL", hide_env_values = true)]
    #[arg(value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) global: bool,
}

/// Commands that are not actions of the registry.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a URL and print a snapshot of the page, with refs.
    ///
    /// Uses the session's current tab. Starts a browser if the session has none: headless, with a temporary profile, by
    /// default. Without a URL, opens a demo page that Tabwire serves itself.
    Open {
        /// The URL; `https://` is the default scheme.
        url: Option<String>,
        /// Open in a new tab.
        #[arg(long)]
        new_tab: bool,
        /// Save a capture: screenshot, Markdown, HTML and console messages, as files.
        #[arg(long)]
        capture: bool,
        /// Add the snapshot to the result with --json. Text always has it.
        #[arg(long)]
        snapshot: bool,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// Close the session, or one tab.
    ///
    /// Closes a browser that Tabwire launched. Detaches from a browser that it attached to.
    Close {
        /// Close only this tab.
        #[arg(long, value_name = "TAB")]
        tab: Option<TabId>,
    },
    /// Run actions from JSON lines, and print one result per line.
    ///
    /// A line is `{"action": "click", "params": {"target": "e3"}}`, with optional `session`, `tab`, `snapshot` and
    /// `timeout_ms`.
    /// Results have the same order: `{"ok": true, "result": …}` or `{"ok": false, "error": …}`.
    Batch {
        /// The file; `-` is standard input (default).
        file: Option<PathBuf>,
        /// Stop at the first action that fails.
        #[arg(long)]
        bail: bool,
        #[command(flatten)]
        options: SessionFlags,
    },
    /// Run JavaScript or TypeScript against the session's browser, with a Playwright-like API.
    ///
    /// The last expression is the result. Variables and `state` stay until `tabwire reset`. The script runs in a
    /// sandbox, without files and network of its own; the policy judges each of its calls.
    #[command(after_help = EXECUTE_HELP)]
    Execute(Box<ExecuteFlags>),
    /// Run a script from a file, with the files that it imports.
    ///
    /// The file is JavaScript or TypeScript and can import `playwright` and `@playwright/test`, which are built in.
    #[command(after_help = RUN_HELP)]
    Run(Box<RunFlags>),
    /// Run lines of code as they are typed, with the API of `execute`.
    ///
    /// Shares variables and `state` with `execute`. Input that is not complete continues on the next line. The history is in
    /// the state directory; a line that begins with a space is not kept.
    #[command(after_help = REPL_HELP)]
    Repl(Box<ReplFlags>),
    /// Print the types of the API of scripts, for editors: `tabwire types > tabwire.d.ts`.
    Types,
    /// Forget variables and `state` of `execute`; tabs stay.
    Reset,
    /// Start, stop, list and rename sessions.
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Show or change the session's remembered URL, target, file and base URL.
    Context {
        #[command(subcommand)]
        command: ContextCommand,
    },
    /// Lease a tab, so that other clients cannot use it.
    Tab {
        #[command(subcommand)]
        command: TabCommand,
    },
    /// Attach the session to a running browser.
    ///
    /// The browser may ask its user for consent once. All clients then share that connection. Tabwire never closes an
    /// attached browser.
    Connect {
        /// A port, an http(s) or ws(s) URL, a profile directory, or a channel such as chrome or edge-beta (default: the
        /// first running browser found).
        address: Option<String>,
        /// A header for a remote browser: `Name: value`, or `@FILE` with one per line; repeatable.
        #[arg(long = "header", value_name = "HEADER")]
        headers: Vec<String>,
        /// Replace the session's browser if it has another one.
        #[arg(long)]
        restart: bool,
    },
    /// Detach the session from its browser, which keeps running.
    Disconnect,
    /// Show the daemon, its sessions and browsers.
    Status,
    /// Print a URL for Playwright, Puppeteer and other CDP clients.
    ///
    /// The URL contains a secret that gives control of the session's browser. It is valid as long as the session exists.
    #[command(
        after_help = "Playwright:  chromium.connectOverCDP(url)\nPuppeteer:   puppeteer.connect({browserWSEndpoint: url})\n\n\
        A client finds a first page of its own. To go on with the session's tabs: tabwire cdp-url --join"
    )]
    CdpUrl(Box<CdpUrlFlags>),
    /// Run an MCP server on stdin and stdout.
    ///
    /// Each client gets its own session, which ends with the client, unless `--session` names one. The options apply to
    /// all its calls.
    #[command(
        after_help = "Client configuration:\n  {\"mcpServers\": {\"tabwire\": {\"command\": \"tabwire\", \"args\": [\"mcp\"]}}}"
    )]
    Mcp(Box<McpFlags>),
    /// Chat with an agent that uses the browser.
    ///
    /// Runs agents that speak the Agent Client Protocol, such as Codex and Claude Code, with Tabwire's tools. The policy
    /// asks you in the chat. It also asks you before the agent uses anything else.
    #[command(after_help = CHAT_HELP)]
    Chat {
        #[command(subcommand)]
        command: ChatCommand,
    },
    /// Run in place of the Chrome executable.
    ///
    /// For Playwright, Puppeteer, MCP servers and other launchers. Accepts Chrome's arguments. Uses the browser that runs on the profile directory, or starts one. A link to this
    /// program with the name `tabwire-chrome` does the same.
    #[command(
        disable_help_flag = true,
        after_help = CHROME_HELP
    )]
    Chrome {
        /// Arguments for Chrome; with `--explain`, print what would be done with each.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Check the installation and print what to fix.
    Doctor {
        /// Fix what can be fixed safely.
        #[arg(long)]
        fix: bool,
        /// Also start, use and close a browser, and print the time.
        #[arg(long)]
        launch: bool,
    },
    /// Find or install a browser, open the demo page, and record a script that uses it.
    ///
    /// On a terminal it prints a link to the live view, and the script types as slowly as a person.
    Demo {
        /// Install without asking.
        #[arg(long, short)]
        yes: bool,
    },
    /// Print a page of the documentation, or the meaning of an error code.
    ///
    /// The documentation is inside this program. Without a page, lists the pages.
    Docs {
        /// A page such as `policy`, or an error code such as REF_EXPIRED.
        page: Option<String>,
        /// Open the page in the browser, from the files that the Debian package and the tarball install.
        #[arg(long)]
        open: bool,
    },
    /// Control the daemon, which keeps sessions alive between commands.
    Daemon {
        #[command(subcommand)]
        command: DaemonCommand,
    },
    /// Save logins and fill them in without showing them.
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Manage named browser profiles.
    Profile {
        #[command(subcommand)]
        command: ProfileCommand,
    },
    /// Manage providers of rented browsers.
    ///
    /// A provider is a recipe: how its browsers are created, reached, kept and released. `tabwire open --provider NAME` then
    /// rents one. docs/fleets.md describes recipes.
    Provider {
        #[command(subcommand)]
        command: ProviderCommand,
    },
    /// Allow guarded sessions to read a site, and more with options.
    ///
    /// A denial still wins. Needs a terminal, so that agents do not grant themselves access by accident. This is no
    /// protection against a hostile program of the same user, which can open a terminal.
    Allow(AllowOptions),
    /// Deny a site in every session; overrides grants.
    Deny {
        /// The site; without a scheme, every scheme and port of the host.
        #[arg(value_name = "ORIGIN")]
        site: String,
    },
    /// List grants and denials (default), or revoke one.
    Grants {
        #[command(subcommand)]
        command: Option<GrantsCommand>,
    },
    /// Show the policy, or check what it decides.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Open the dashboard: questions, sessions, grants and what happens, in your browser.
    ///
    /// The URL works once, within 30 s. Needs a terminal, because the dashboard can grant access. With `--session`, the live
    /// view of that session is opened.
    Dashboard {
        /// Print the URL instead of opening it.
        #[arg(long)]
        print: bool,
        /// Open it without a terminal, for scripts written by a person.
        #[arg(long)]
        without_terminal: bool,
    },
    /// Show and answer the approval requests of agents.
    ///
    /// In a terminal, waits for requests and prompts for each; elsewhere, lists them. A request without an answer is
    /// denied after 60 s.
    Approvals {
        #[command(subcommand)]
        command: Option<ApprovalsCommand>,
    },
    /// Show and change settings.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Show the audit log: who did what, with which result.
    ///
    /// Works without the daemon. The log contains no typed text, passwords, cookies, headers, code or URL queries.
    /// `--session` selects one session.
    Log(LogFlags),
    /// Print a completion script for a shell.
    ///
    /// Completes commands, options and values, and current sessions, tabs, profiles and refs of the last snapshot. Never
    /// starts a daemon or a browser.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell.
        shell: CompletionShell,
    },
    /// Print the version and how to update; uses no network without `--online`.
    UpgradeCheck {
        /// Request the newest version from the URL of `--url`.
        #[arg(long)]
        online: bool,
        /// A URL whose response is a version, or JSON with a `version` field.
        #[arg(long, env = "TABWIRE_UPDATE_URL", hide_env_values = true)]
        url: Option<String>,
    },
    /// Print a skill text that teaches coding agents to use Tabwire.
    Skill,
    /// Install the skill text for coding agents.
    ///
    /// Default: the agents whose directories exist, else the open standard (.agents/skills). Never changes a file that
    /// Tabwire did not write.
    InstallSkill {
        /// Install for this agent; repeatable.
        #[arg(long = "for", value_name = "TOOL", value_enum)]
        tools: Vec<SkillTool>,
        /// Install in the project: the nearest parent directory with .git, tabwire.toml or playwright.config.
        #[arg(long)]
        project: bool,
        /// Install in the home directory, for every project (default).
        #[arg(long, conflicts_with = "project")]
        user: bool,
        /// Print the paths and the text, without writing.
        #[arg(long)]
        print: bool,
        /// Remove the installed files.
        #[arg(long, conflicts_with = "print")]
        uninstall: bool,
    },
    /// Set up the extension that shares tabs of your own browser.
    ///
    /// `tabwire open --upstream extension` then uses that browser.
    Extension {
        #[command(subcommand)]
        command: ExtensionCommand,
    },
    /// Keep one browser (started by the daemon).
    #[command(hide = true)]
    Keep,
    /// Native messaging host of the extension (started by the browser).
    #[command(hide = true)]
    NativeHost {
        /// The origin of the extension.
        origin: Option<String>,
        /// Further arguments of the browser.
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Run the daemon in the foreground.
    Run {
        /// Detach, and print one line of JSON when ready.
        #[arg(long, hide = true)]
        announce: bool,
    },
    /// Start the daemon if it is not running.
    Start,
    /// Stop the daemon and every browser that it launched.
    Stop,
    /// Show whether the daemon runs; never start it.
    Status,
    /// Print the daemon's log.
    Logs {
        /// Number of last lines.
        #[arg(long, short = 'n', default_value_t = 100)]
        lines: usize,
        /// Print new lines until interrupted.
        #[arg(long, short)]
        follow: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Save an encrypted login; prompts for the password.
    Save(SaveOptions),
    /// Log in with a saved login: open its page if needed, fill in, submit.
    Login {
        /// The login's name.
        name: String,
        /// Decrypt the saved logins with the passphrase on the first line of FILE.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// The tab (default: the current one).
        #[arg(long, value_name = "TAB")]
        tab: Option<TabId>,
        #[command(flatten)]
        options: SessionFlags,
    },
    /// List the saved logins: name, origin, user name.
    List {
        /// Decrypt the saved logins with the passphrase on the first line of FILE.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Delete a saved login.
    Delete {
        /// The login's name.
        name: String,
        /// Decrypt the saved logins with the passphrase on the first line of FILE.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles: size, last use, and the browser that uses each.
    List,
    /// Create a profile, as `open --profile NAME` does.
    Create {
        /// The profile's name.
        name: String,
    },
    /// Delete a profile with all its data. Fails while a browser uses it.
    Delete {
        /// The profile's name.
        name: String,
        /// Ignore the lock of a browser that no longer runs.
        #[arg(long)]
        force: bool,
    },
    /// Print a profile's directory.
    Path {
        /// The profile's name.
        name: String,
    },
    /// Print the process that uses a profile.
    LockOwner {
        /// The profile's name, or a directory (with a slash).
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting with its value and source.
    ///
    /// Precedence, lowest first: default, user file, project file (`tabwire.toml`), environment, flag.
    Show,
    /// Print one setting's value.
    Get {
        /// The setting.
        name: String,
    },
    /// Change one setting in the user file; comments and layout stay.
    Set {
        /// The setting.
        name: String,
        /// The value; separate directories by colons.
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Change the project file.
        #[arg(long)]
        project: bool,
    },
    /// Remove one setting from the user file; its default applies again.
    Unset {
        /// The setting.
        name: String,
        /// Change the project file.
        #[arg(long)]
        project: bool,
    },
    /// Print the paths of the configuration files.
    Path,
    /// Print the JSON schema of the configuration files, for editors.
    Schema,
    /// Check a configuration file.
    ///
    /// A file named `tabwire.toml` is checked as a project file, any other as a user file.
    Check {
        /// The file (default: the user file and the project file).
        file: Option<PathBuf>,
    },
}

pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        other => return Err(format!("unknown unit `{other}`; use ms, s, m, h or d")),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a number with a unit such as 10s".to_owned())?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

pub(crate) fn parse_size(text: &str) -> Result<(u16, u16), String> {
    let parse = || {
        let (width, height) = text.split_once(['x', ','])?;
        Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
    };
    parse().ok_or_else(|| "expected a width and a height such as 1280x800".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations_and_sizes() {
        assert_eq!(parse_duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert!(
            parse_duration("soon").is_err()
                && parse_duration("-1s").is_err()
                && parse_duration("5y").is_err()
        );
        assert_eq!(parse_size("1280x800"), Ok((1280, 800)));
        assert!(parse_size("big").is_err() && parse_size("1x99999").is_err());
    }
}
