//! The configuration of the daemon, which the binary reads from the environment and the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tabwire_mcp::Extras;

use crate::paths::Paths;

/// How a daemon runs.
#[derive(Clone, Debug)]
pub struct DaemonConfig {
    /// Its files.
    pub paths: Paths,
    /// The loopback port; 0 takes any.
    pub port: u16,
    /// The program that starts keepers.
    pub self_exe: PathBuf,
    /// The arguments that make it a keeper.
    pub keep_arguments: Vec<String>,
    /// The arguments that make it the process of a script.
    pub script_arguments: Vec<String>,
    /// The browser to launch when a session names none.
    pub browser: Option<String>,
    /// The search path of programs.
    pub path_env: Option<OsString>,
    /// The user's configuration directory, to recognise default profiles.
    pub config_home: Option<PathBuf>,
    /// The user's home directory, with the default profiles.
    pub home: Option<PathBuf>,
    /// How long a browser outlives a daemon that died. The keeper has a default.
    pub linger: Option<Duration>,
    /// Directories with skills for scripts, beside the one in the configuration directory.
    pub skills: Vec<PathBuf>,
    /// Whether an audit log is written.
    pub audit_log: bool,
    /// Whether transcripts of chats are kept.
    pub chat_history: bool,
    /// Variables by which the user names the programs of agents, with their values.
    pub agent_programs: Vec<(String, OsString)>,
    /// How long to wait for the lock of a daemon that does not respond.
    pub lock_timeout: Duration,
    /// How long to stay idle before the exit.
    pub idle_exit: Duration,
    /// Additional MCP tools and resources, for conformance tests.
    pub mcp_extras: Option<Arc<dyn Extras>>,
}
