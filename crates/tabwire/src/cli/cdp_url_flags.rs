//! The flags of `cdp-url`.

use clap::Args;

use crate::cli::session_flags::SessionFlags;

/// How a CDP client connects, and what it sees.
#[derive(Debug, Args)]
pub(crate) struct CdpUrlFlags {
    /// Print the http:// URL, for clients that use `/json/version`.
    #[arg(long)]
    pub(crate) http: bool,
    /// Show the client the session's tabs too, the current one first.
    #[arg(long, conflicts_with = "http")]
    pub(crate) join: bool,
    /// Include the targets of other clients, for debugging.
    #[arg(long, conflicts_with_all = ["http", "join"])]
    pub(crate) share_all: bool,
    /// Open a loopback port without a secret, for clients that drop the path of a URL. Every program of every user on this
    /// machine can then drive the session. N is the port; default: any free one.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0", conflicts_with = "http")]
    pub(crate) port: Option<u16>,
    /// Close the port that `--port` opened.
    #[arg(long, requires = "port")]
    pub(crate) close: bool,
    /// Also for a Firefox, in an open session: Playwright works in part, Puppeteer does not.
    #[arg(long, conflicts_with_all = ["http", "port"])]
    pub(crate) experimental: bool,
    #[command(flatten)]
    pub(crate) options: SessionFlags,
}
