//! The commands about the extension, as they are typed.

use std::time::Duration;

use clap::Subcommand;

use crate::cli::parse_duration;

/// What can be done about the extension.
#[derive(Debug, Subcommand)]
pub(crate) enum ExtensionCommand {
    /// Put the extension where a browser can load it, and tell the browser how it finds Tabwire.
    ///
    /// Three clicks remain, which no program can do; they are printed. Then it waits until the browser is connected.
    Install {
        /// For which browser: chrome, chromium, edge, brave, or a directory of browser data (with a slash); may be
        /// repeated. Every one that has left traces if left out.
        #[arg(long = "browser", value_name = "BROWSER")]
        browsers: Vec<String>,
        /// How long to wait for the browser to connect; `0s` does not wait.
        #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_duration)]
        wait: Duration,
    },
    /// Say what is installed and which browsers are connected; never starts the daemon.
    Status {
        /// Also print port and key, for pairing by hand. The key opens your browser to who has it.
        #[arg(long)]
        key: bool,
    },
    /// Take away what `install` wrote. The browser keeps its copy until it is removed there.
    Uninstall,
    /// Print the folder that browsers load the extension from.
    Path,
    /// Draw a new key: every browser has to pair again, by itself where it was installed, by hand elsewhere.
    Rotate,
}
