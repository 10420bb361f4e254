//! What the binary tells the daemon: everything that comes from the environment or the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tabwire_mcp::Extras;

use crate::paths::Paths;

/// How a daemon runs.
#[derive(Clone, Debug)]
pub struct DaemonConfig {
    /// Where its files are.
    pub paths: Paths,
    /// The loopback port to ask for; 0 takes any.
    pub port: u16,
    /// The program to start keepers with.
    pub self_exe: PathBuf,
    /// The arguments that make it a keeper.
    pub keep_arguments: Vec<String>,
    /// Which browser to launch when a session does not say.
    pub browser: Option<String>,
    /// Where programs are searched.
    pub path_env: Option<OsString>,
    /// The user's configuration directory, to know default profiles by.
    pub config_home: Option<PathBuf>,
    /// The user's home directory, where channels' own profiles are.
    pub home: Option<PathBuf>,
    /// How long a browser outlives a daemon that died; the keeper's default when absent.
    pub linger: Option<Duration>,
    /// Whether a journal is written.
    pub journal: bool,
    /// How long to wait for the place of a daemon that has it and answers nobody.
    pub patience: Duration,
    /// How long to stay with nothing to do.
    pub idle_exit: Duration,
    /// What MCP clients are offered besides the actions: nothing, unless a test shows the protocol with it.
    pub mcp_extras: Option<Arc<dyn Extras>>,
}
