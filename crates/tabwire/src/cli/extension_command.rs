//! Command-line definition of `extension`.

use std::time::Duration;

use clap::Subcommand;

use crate::cli::parse_duration;

#[derive(Debug, Subcommand)]
pub(crate) enum ExtensionCommand {
    /// Install the extension and its native messaging host.
    ///
    /// Prints three manual steps in the browser, then waits until the browser connects.
    Install {
        /// Install for this browser: chrome, chromium, edge, brave, or a data directory (with a slash); repeatable
        /// (default: every browser found).
        #[arg(long = "browser", value_name = "BROWSER")]
        browsers: Vec<String>,
        /// Time to wait for the browser to connect.
        #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_duration)]
        wait: Duration,
    },
    /// Show the installation and the connected browsers; never start the daemon.
    Status {
        /// Also print port and key, for manual pairing. The key gives access to your browser.
        #[arg(long)]
        key: bool,
    },
    /// Remove the files of `install`. Remove the extension itself in the browser.
    Uninstall,
    /// Print the directory that browsers load the extension from.
    Path,
    /// Create a new key. Browsers on this machine pair again by themselves, others manually.
    Rotate,
}
