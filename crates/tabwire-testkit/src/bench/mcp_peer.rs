//! Other MCP servers for browsers, if they are installed (`npm ci` in `benches/peers`). Ends them on drop.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::bare_browser::FLAGS;
use super::mcp_client::McpClient;
use super::peer::Peer;

/// The operations that every server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpOperation {
    /// Evaluates `1`.
    Eval,
    /// Reads the text of the page.
    GetText,
    /// Takes a snapshot.
    Snapshot,
    /// Clicks the element with the id `b1`.
    Click,
}

/// One server with its own browser.
#[derive(Debug)]
pub struct McpPeer {
    name: &'static str,
    client: McpClient,
    /// The ids of the page and the button in chrome-devtools-mcp.
    page: u64,
    button: String,
    _home: tempfile::TempDir,
    _program: Option<Peer>,
}

const AGENT_BROWSER: &str = "agent-browser";
const PLAYWRIGHT: &str = "playwright-mcp";
const DEVTOOLS: &str = "chrome-devtools-mcp";

impl McpPeer {
    /// Starts all servers that are installed below `benches/peers`, with this page open.
    ///
    /// # Panics
    /// When an installed server does not work.
    #[must_use]
    pub fn start_all(benches: &Path, browser: &Path, url: &str) -> Vec<Self> {
        let modules = benches.join("peers/node_modules");
        let mut found = Vec::new();
        if let Some(peer) = Peer::find(benches, browser) {
            let command = peer.command(&["mcp"]);
            found.push(Self::start(
                AGENT_BROWSER,
                command,
                Some(peer),
                tempfile::tempdir().expect("a place"),
            ));
        }
        for (name, script) in [
            (PLAYWRIGHT, modules.join("@playwright/mcp/cli.js")),
            (DEVTOOLS, modules.join("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")),
        ] {
            if script.is_file() {
                let home = tempfile::tempdir().expect("a place");
                let command = of_node(name, &script, home.path(), browser);
                found.push(Self::start(name, command, None, home));
            }
        }
        for peer in &mut found {
            peer.open(url);
        }
        found
    }

    fn start(name: &'static str, command: Command, program: Option<Peer>, home: tempfile::TempDir) -> Self {
        let client = McpClient::start(command);
        Self { name, client, page: 0, button: String::new(), _home: home, _program: program }
    }

    /// The server's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    fn open(&mut self, url: &str) {
        match self.name {
            AGENT_BROWSER => {
                self.client.call("agent_browser_open", &json!({"url": url}));
            }
            PLAYWRIGHT => {
                self.client.call("browser_navigate", &json!({"url": url}));
            }
            _ => {
                let (_, pages) = self.client.call_for_text("list_pages", &json!({}));
                let mut numbers =
                    pages.lines().filter_map(|line| line.split(':').next()?.trim().parse().ok());
                self.page = numbers.next_back().expect("a page");
                let there = json!({"pageId": self.page, "type": "url", "url": url});
                self.client.call("navigate_page", &there);
                let (_, seen) = self.client.call_for_text("take_snapshot", &json!({"pageId": self.page}));
                let line = seen.lines().find(|line| line.contains(" button ")).expect("a button");
                let uid = line.trim().strip_prefix("uid=").and_then(|line| line.split(' ').next());
                uid.expect("an id").clone_into(&mut self.button);
            }
        }
    }

    /// Runs the operation once and returns its duration; `None` if the server has no tool for it.
    ///
    /// # Panics
    /// When the tool fails.
    pub fn time(&mut self, operation: McpOperation) -> Option<Duration> {
        let (tool, arguments) = self.tool(operation)?;
        Some(self.client.call(tool, &arguments))
    }

    fn tool(&self, operation: McpOperation) -> Option<(&'static str, Value)> {
        let (page, uid) = (self.page, &self.button);
        Some(match (self.name, operation) {
            (AGENT_BROWSER, McpOperation::Eval) => ("agent_browser_eval", json!({"script": "1"})),
            (AGENT_BROWSER, McpOperation::GetText) => ("agent_browser_get_text", json!({"selector": "body"})),
            (AGENT_BROWSER, McpOperation::Snapshot) => ("agent_browser_snapshot", json!({})),
            (AGENT_BROWSER, McpOperation::Click) => ("agent_browser_click", json!({"selector": "#b1"})),
            (PLAYWRIGHT, McpOperation::Eval) => ("browser_evaluate", json!({"function": "() => 1"})),
            (PLAYWRIGHT, McpOperation::Snapshot) => ("browser_snapshot", json!({})),
            (PLAYWRIGHT, McpOperation::Click) => {
                ("browser_click", json!({"element": "button", "target": "#b1"}))
            }
            (DEVTOOLS, McpOperation::Eval) => {
                ("evaluate_script", json!({"pageId": page, "function": "() => 1"}))
            }
            (DEVTOOLS, McpOperation::Snapshot) => ("take_snapshot", json!({"pageId": page})),
            (DEVTOOLS, McpOperation::Click) => ("click", json!({"pageId": page, "uid": uid})),
            _ => return None,
        })
    }
}

/// A server on Node.js with a headless browser and its own profile.
fn of_node(name: &str, script: &PathBuf, home: &Path, browser: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg(script).args(["--headless", "--isolated"]).env("HOME", home).current_dir(home);
    if name == PLAYWRIGHT {
        let options =
            json!({"executablePath": browser, "headless": true, "chromiumSandbox": false, "args": FLAGS});
        let config = home.join("config.json");
        let text = json!({"browser": {"launchOptions": options}}).to_string();
        std::fs::write(&config, text).expect("written");
        command.arg("--config").arg(config);
    } else {
        command.arg("--executablePath").arg(browser).args(["--no-usage-statistics", "--no-performance-crux"]);
        command.args(FLAGS.iter().map(|flag| format!("--chromeArg={flag}")));
    }
    command
}
