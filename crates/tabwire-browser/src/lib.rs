//! Finds, launches, keeps, attaches to and stops browsers.
//!
//! Synchronous on purpose: the keeper is one thread around `poll`, so that a
//! browser costs next to nothing to keep. Knows nothing of sessions, MCP or the
//! protocol beyond closing a browser; reads no environment and prints nothing.

pub mod atomic_file;
pub mod attach;
mod browser_kind;
mod browser_run;
mod debugging_pipe;
mod descriptor;
mod error;
pub mod finder;
mod flag;
mod http_page;
pub mod keeper;
pub mod keeper_client;
mod launch_spec;
mod launcher_flag;
mod leftover;
pub mod limits;
pub mod named_profile;
mod other_engine;
mod ownership;
mod private_dir;
mod process_identity;
mod process_memory;
mod profile;
mod profile_directory;
mod profile_lock;
mod quiet_preferences;
mod random_name;
mod sandbox;
mod stable_digest;
mod sweep;
mod unix_socket;

pub use attach::{AttachAddress, WebsocketAddress};
pub use browser_kind::{BrowserKind, Channel};
pub use browser_run::BrowserRun;
pub use debugging_pipe::DebuggingPipe;
pub use descriptor::BrowserDescriptor;
pub use error::{AttachFault, BrowserError, LaunchFault};
pub use finder::FoundBrowser;
pub use keeper::{KeepOutcome, KeepRequest};
pub use keeper_client::Claim;
pub use launch_spec::{Display, LaunchSpec, LauncherWish, WindowSize};
pub use leftover::{Leftovers, Orphan};
pub use other_engine::OtherEngine;
pub use ownership::Ownership;
pub use private_dir::{DirectoryFault, PrivateDir};
pub use process_identity::{ProcessIdentity, Signalled};
pub use process_memory::memory_of_group;
pub use profile::{ProfileChoice, ProfileHomes, refuse_default_profile};
pub use profile_directory::ProfileFault;
pub use profile_lock::{LockState, StaleLock, lock_state, remove_stale_lock};
pub use random_name::{new_browser_id, new_instance_id};
pub use rustix::process::Signal;
pub use sandbox::{SandboxMode, SandboxObstacle};
pub use stable_digest::stable_digest;
pub use sweep::{Removed, StaleReason, Swept, Verdict, sweep};

pub(crate) use random_name::random_name;
