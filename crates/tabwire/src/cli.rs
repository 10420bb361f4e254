//! The commands that are not actions, and what every command takes. Actions come from the registry.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tabwire_wire::{ClientName, SessionName, TabId};

use crate::extension_command::ExtensionCommand;
use crate::policy_command::{AllowWish, ApprovalsCommand, GrantsCommand, PolicyCommand};
use crate::session_command::{ContextCommand, SessionCommand, TabCommand};
use crate::session_flags::{SessionFlags, ViewFlags};

use crate::commands::SaveWish;
use crate::commands::log::LogFlags;
use crate::commands::mcp::McpFlags;
use crate::completion::CompletionShell;
use crate::skill_place::SkillTool;

/// The heading of what every command takes.
const COMMON: &str = "Common options";

/// How each shell loads its script.
const COMPLETIONS_HELP: &str = "\
Load it in every new shell:
  bash        echo 'eval \"$(tabwire completions bash)\"' >> ~/.bashrc
  zsh         echo 'source <(tabwire completions zsh)' >> ~/.zshrc   (after compinit)
  fish        tabwire completions fish > ~/.config/fish/completions/tabwire.fish
  PowerShell  Add-Content $PROFILE 'tabwire completions powershell | Out-String | Invoke-Expression'
  Elvish      echo 'eval (tabwire completions elvish | slurp)' >> ~/.config/elvish/rc.elv";

/// What every command takes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct GlobalFlags {
    /// Act on this session.
    #[arg(long, alias = "context", global = true, help_heading = COMMON, value_name = "NAME", env = "TABWIRE_SESSION", hide_env_values = true)]
    pub(crate) session: Option<SessionName>,

    /// Print JSON.
    #[arg(long, global = true, help_heading = COMMON)]
    pub(crate) json: bool,

    /// Print the bare value, for scripts: no fence, no notes in it, no quotes.
    #[arg(long, global = true, help_heading = COMMON, conflicts_with = "json")]
    pub(crate) raw: bool,

    /// Print only the answer, no notes or progress.
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub(crate) quiet: bool,

    /// Give up after this long, e.g. `10s`, `500ms`, `2m`.
    #[arg(long, global = true, help_heading = COMMON, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// A directory that files may be read from and written to; may be repeated. The current one if left out.
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,

    /// Where relative addresses begin, from now on.
    #[arg(long, global = true, help_heading = COMMON, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Who you are, for leases of tabs and the journal.
    #[arg(long = "as", global = true, help_heading = COMMON, value_name = "NAME", env = "TABWIRE_CLIENT", hide_env_values = true)]
    pub(crate) acting_as: Option<ClientName>,

    /// Belong to no project: sessions outside projects, and no project's settings.
    #[arg(long, global = true, help_heading = COMMON, env = "TABWIRE_GLOBAL", hide_env_values = true)]
    #[arg(value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) global: bool,
}

/// The commands that are not actions of the registry.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a page and say what is on it.
    ///
    /// Uses the session's current tab. A session without a browser gets one: headless, with a profile that is
    /// thrown away, unless options say otherwise. Without a URL a demo page that Tabwire serves itself is opened.
    Open {
        /// The address; `https://` may be left out.
        url: Option<String>,
        /// Open in a new tab.
        #[arg(long)]
        new_tab: bool,
        /// Keep evidence of it: picture, Markdown, HTML and console lines, as files.
        #[arg(long)]
        capture: bool,
        #[command(flatten)]
        options: SessionFlags,
        #[command(flatten)]
        view: ViewFlags,
    },
    /// Close the session and its browser, or one tab.
    ///
    /// A browser Tabwire launched ends; one it is attached to goes on.
    Close {
        /// Close only this tab.
        #[arg(long, value_name = "TAB")]
        tab: Option<TabId>,
    },
    /// Run actions given as lines of JSON, one answer a line.
    ///
    /// A line is `{"action": "click", "params": {"target": "e3"}}`; `session`, `tab` and `timeout_ms` may be added.
    /// Answers come in the same order: `{"ok": true, "result": …}` or `{"ok": false, "error": …}`.
    Batch {
        /// The file; standard input if left out or `-`.
        file: Option<PathBuf>,
        /// Stop at the first action that fails.
        #[arg(long)]
        bail: bool,
        #[command(flatten)]
        options: SessionFlags,
    },
    /// Start, stop and look at sessions.
    Session {
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Show and change what the session remembers between commands.
    Context {
        #[command(subcommand)]
        command: ContextCommand,
    },
    /// Have a tab for yourself, or give it back.
    Tab {
        #[command(subcommand)]
        command: TabCommand,
    },
    /// Attach the session to a browser that runs already.
    ///
    /// A browser whose remote debugging its user switched on may ask for consent once; all agents and commands then
    /// share that one connection. The browser is never closed by Tabwire.
    Connect {
        /// A port, an http, ws or wss address, a profile directory, or a channel such as chrome or edge-beta. The first
        /// running browser that can be found if left out.
        address: Option<String>,
        /// A header for a remote browser, `Name: value`, or `@FILE` with one a line; may be repeated.
        #[arg(long = "header", value_name = "HEADER")]
        headers: Vec<String>,
    },
    /// Let go of a browser the session is attached to; it goes on.
    Disconnect,
    /// Show the daemon, its sessions and browsers.
    Status,
    /// Print an address for Playwright, Puppeteer and other CDP clients.
    ///
    /// The address is a secret: whoever has it drives the session's browser. It stays valid for as long as the
    /// session exists.
    #[command(
        after_help = "Playwright:  chromium.connectOverCDP(await address())\nPuppeteer:   puppeteer.connect({browserWSEndpoint: address})"
    )]
    CdpUrl {
        /// Print the http:// form, for clients that discover.
        #[arg(long)]
        http: bool,
        /// Show the client other clients' targets too.
        #[arg(long, conflicts_with = "http")]
        share_all: bool,
        #[command(flatten)]
        options: SessionFlags,
    },
    /// Serve the actions as tools to an MCP client, over its stdin and stdout.
    ///
    /// Each client has a session of its own that ends with it, unless `--session` names one. What is given here holds
    /// for all its calls.
    #[command(
        after_help = "In a client's configuration:\n  {\"mcpServers\": {\"tabwire\": {\"command\": \"tabwire\", \"args\": [\"mcp\"]}}}"
    )]
    Mcp(Box<McpFlags>),
    /// Stand in for Chrome where another program launches it: Playwright, Puppeteer, an MCP server.
    ///
    /// Takes the arguments that Chrome takes. A browser that runs on the profile directory is used, else one is
    /// started. A link to this program that is called `tabwire-chrome` does the same.
    #[command(
        disable_help_flag = true,
        after_help = crate::chrome::MORE_HELP
    )]
    Chrome {
        /// Arguments for Chrome; `--explain` among them prints what would be done, and why.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Check that everything Tabwire needs is there, and say what to do about what is not.
    Doctor {
        /// Do what can be done safely, and say what was done.
        #[arg(long)]
        fix: bool,
        /// Also start a browser, use it and end it, and say how long that took.
        #[arg(long)]
        launch: bool,
    },
    /// Find a browser, install one if there is none, and open the demo page.
    Demo {
        /// Install without asking.
        #[arg(long, short)]
        yes: bool,
    },
    /// Control the daemon that keeps sessions alive between commands.
    Daemon {
        #[command(subcommand)]
        command: DaemonCommand,
    },
    /// Save logins, and have them filled in without showing them.
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Manage browsers' data that is kept under a name.
    Profile {
        #[command(subcommand)]
        command: ProfileCommand,
    },
    /// Allow a site in guarded sessions: reading it, and what else is said.
    ///
    /// What is denied stays denied. Only a person in a terminal allows something; an agent that runs as you could get
    /// itself a terminal, so this keeps honest agents honest and is no wall against others.
    Allow(AllowWish),
    /// Deny a site everything, in every session, whatever was granted.
    Deny {
        /// The site; without a scheme every scheme and port of the host is meant.
        #[arg(value_name = "ORIGIN")]
        site: String,
    },
    /// List what was granted and denied, or take it back.
    Grants {
        #[command(subcommand)]
        command: GrantsCommand,
    },
    /// Show the policy, or what it would decide.
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Show what agents ask for, and answer.
    ///
    /// In a terminal it waits for questions and asks you each; elsewhere it lists them. A question that is not answered
    /// in 60 s counts as no.
    Approvals {
        #[command(subcommand)]
        command: Option<ApprovalsCommand>,
    },
    /// Show settings and where they come from, and change them.
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Show what was asked of Tabwire, by whom, and what came of it.
    ///
    /// Reads the journal, whether or not the daemon runs. What was typed, passwords, cookies, headers, code and the
    /// queries of addresses are not in it. `--session` shows one session's rows.
    Log(LogFlags),
    /// Print a completion script for a shell.
    ///
    /// It completes commands, options and values, and what exists right now: sessions, tabs, refs of the last
    /// snapshot, profiles. It never starts a daemon or a browser.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell.
        shell: CompletionShell,
    },
    /// Say which version runs here and how to update; asks nobody on the network unless told whom.
    UpgradeCheck {
        /// Also ask an address for the newest version: that of --url. There is no other.
        #[arg(long)]
        online: bool,
        /// The address to ask; it answers with a version, or with JSON that has a `version`.
        #[arg(long, env = "TABWIRE_UPDATE_URL", hide_env_values = true)]
        url: Option<String>,
    },
    /// Print a short text that teaches coding agents to use Tabwire.
    Skill,
    /// Put that text where coding agents look for skills.
    ///
    /// Without --for, the tools are meant that have left traces in the home directory or project, else the places
    /// of the open standard (.agents/skills). A file that Tabwire did not write is never touched.
    InstallSkill {
        /// For which tool; may be repeated.
        #[arg(long = "for", value_name = "TOOL", value_enum)]
        tools: Vec<SkillTool>,
        /// Only in this project: the nearest directory above with .git, tabwire.toml or playwright.config.
        #[arg(long)]
        project: bool,
        /// In the home directory, for every project (the default).
        #[arg(long, conflicts_with = "project")]
        user: bool,
        /// Write nothing; print where it would go and what it says.
        #[arg(long)]
        print: bool,
        /// Take it away again.
        #[arg(long, conflicts_with = "print")]
        uninstall: bool,
    },
    /// Let agents work in your own browser, in the tabs you share: set it up, look at it, end it.
    ///
    /// `tabwire open --upstream extension` then uses it.
    Extension {
        #[command(subcommand)]
        command: ExtensionCommand,
    },
    /// Own one browser (started by the daemon).
    #[command(hide = true)]
    Keep,
    /// Tell the extension where Tabwire is (started by the browser).
    #[command(hide = true)]
    NativeHost {
        /// Who asks, as the browser says it.
        origin: Option<String>,
        /// What else a browser adds.
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Run the daemon in the foreground.
    Run {
        /// Detach, and print one line of JSON when requests are answered.
        #[arg(long, hide = true)]
        announce: bool,
    },
    /// Start the daemon if it is not running.
    Start,
    /// End the daemon and every browser it launched.
    Stop,
    /// Say whether the daemon runs; never starts it.
    Status,
    /// Print the daemon's log.
    Logs {
        /// Print this many last lines.
        #[arg(long, short = 'n', default_value_t = 100)]
        lines: usize,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Save a login, sealed; the password is asked for and never shown.
    Save(SaveWish),
    /// Log in with what was saved: open its page if needed, fill in, send.
    Login {
        /// The saved login's name.
        name: String,
        /// A file whose first line is the passphrase of the saved logins, if they have one.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
        /// The tab it is for; the current one if left out.
        #[arg(long, value_name = "TAB")]
        tab: Option<TabId>,
        #[command(flatten)]
        options: SessionFlags,
    },
    /// List the saved logins: names, origins, user names.
    List {
        /// A file whose first line is the passphrase of the saved logins, if they have one.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
    /// Delete a saved login.
    Delete {
        /// Its name.
        name: String,
        /// A file whose first line is the passphrase of the saved logins, if they have one.
        #[arg(long, value_name = "FILE")]
        passphrase_file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles: size, last use, and which browser holds each.
    List,
    /// Make a profile; `open --profile NAME` does so too.
    Create {
        /// Its name.
        name: String,
    },
    /// Remove a profile with all logins in it; one that a browser uses is refused.
    Delete {
        /// Its name.
        name: String,
        /// Also if a browser left its lock, once that browser is proven dead.
        #[arg(long)]
        force: bool,
    },
    /// Print a profile's directory.
    Path {
        /// Its name.
        name: String,
    },
    /// Print which browser holds a profile: process and program.
    LockOwner {
        /// Its name, or a directory (with a slash).
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting with its value and where that came from.
    ///
    /// Built in, the user's file, the project's `tabwire.toml`, the environment, a flag: the later one wins.
    Show,
    /// Print one setting's value.
    Get {
        /// The setting.
        name: String,
    },
    /// Set one setting in the user's file; comments and layout stay.
    Set {
        /// The setting.
        name: String,
        /// Its value; directories are separated by colons.
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Set it in the project's file.
        #[arg(long)]
        project: bool,
    },
    /// Print the project, and which files settings are read from.
    Path,
    /// Print the files' JSON schema, for editors.
    Schema,
    /// Check a file without using it.
    ///
    /// A file called `tabwire.toml` is checked as a project's, any other as a user's.
    Check {
        /// The file; the user's and the project's if left out.
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
        other => return Err(format!("`{other}` is no unit of time; use ms, s, m, h or d")),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a number with a unit, e.g. 10s".to_owned())?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

pub(crate) fn parse_size(text: &str) -> Result<(u16, u16), String> {
    let parse = || {
        let (width, height) = text.split_once(['x', ','])?;
        Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
    };
    parse().ok_or_else(|| "expected a width and a height, e.g. 1280x800".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read_as_people_write_them() {
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
