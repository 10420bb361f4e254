//! What a chat gives its agent: the MCP server, and the transcript when a session cannot be resumed.

use std::path::Path;

use tabwire_acp::{ItemBody, McpServer, SessionSetup, Transcript};

use crate::chat::Chat;
use crate::chat::agent::table::SERVER;
use crate::config::DaemonConfig;
use crate::paths::Paths;

/// Longest transcript that an agent gets as a preamble.
const PREAMBLE_BYTES: usize = 24 * 1024;

impl Chat {
    /// What the agent's session is opened with.
    pub(in crate::chat) fn setup(&self, config: &DaemonConfig) -> SessionSetup {
        let record = self.state().record.clone();
        let words = [
            "mcp",
            "--session",
            record.session.as_str(),
            "--as",
            self.agent.id,
            "--policy",
            "guarded",
            "--upstream",
            &record.upstream,
            "--chat",
            &record.id.to_string(),
        ];
        let server = McpServer {
            name: SERVER.to_owned(),
            command: config.self_exe.display().to_string(),
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: directories(&config.paths),
        };
        SessionSetup {
            directory: record.directory.display().to_string(),
            servers: vec![server],
            meta: self.agent.session_meta(),
        }
    }

    /// The transcript as text, for an agent that cannot resume its session. `None` when it is empty.
    pub(in crate::chat) fn preamble(&self) -> Option<String> {
        preamble(&self.state().transcript)
    }
}

/// The variables that lead to this daemon: agents start MCP servers with a part of their environment only.
fn directories(paths: &Paths) -> Vec<(String, String)> {
    if let Some(home) = paths.home() {
        return vec![("TABWIRE_HOME".to_owned(), home.display().to_string())];
    }
    let base = |name: &str, path: &Path| {
        let base = path.parent().filter(|_| path.ends_with("tabwire"))?;
        Some((name.to_owned(), base.display().to_string()))
    };
    let found = [
        base("XDG_RUNTIME_DIR", &paths.runtime),
        base("XDG_STATE_HOME", &paths.state),
        base("XDG_DATA_HOME", &paths.data),
        base("XDG_CONFIG_HOME", &paths.config),
    ];
    found.into_iter().flatten().collect()
}

fn preamble(transcript: &Transcript) -> Option<String> {
    let mut lines = Vec::new();
    let mut left = PREAMBLE_BYTES;
    for item in transcript.items().iter().rev() {
        let line = match &item.body {
            ItemBody::User(message) if !message.queued => format!("User: {}", message.text),
            ItemBody::Agent { text, .. } => format!("You: {text}"),
            ItemBody::Step(step) => format!("(browser action: {})", step.action),
            _ => continue,
        };
        if line.len() > left {
            break;
        }
        left -= line.len();
        lines.push(line);
    }
    lines.reverse();
    (!lines.is_empty())
        .then(|| format!("This is the conversation so far. Continue it.\n\n{}\n\n---\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_server_finds_this_daemon_with_few_variables() {
        let home = Paths::below(Path::new("/h"));
        assert_eq!(directories(&home), [("TABWIRE_HOME".to_owned(), "/h".to_owned())]);
        let usual = Paths {
            runtime: PathBuf::from("/run/user/7/tabwire"),
            state: PathBuf::from("/s/tabwire"),
            data: PathBuf::from("/d/tabwire"),
            config: PathBuf::from("/c/other"),
        };
        let names: Vec<String> =
            directories(&usual).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(names, ["XDG_RUNTIME_DIR=/run/user/7", "XDG_STATE_HOME=/s", "XDG_DATA_HOME=/d"]);
    }
}
