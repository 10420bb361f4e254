//! Finds, launches, keeps, attaches to and stops browsers.
//!
//! Synchronous: the keeper is one thread around `poll`, so that keeping a browser costs little memory. The crate
//! reads no environment variables and prints nothing.

pub mod attach;
mod error;
mod files;
pub mod keeper;
mod launch;
pub mod limits;
mod process;
mod profile;
pub mod protocol;
pub mod rent;
mod sweep;

pub use attach::{AttachTarget, BrowserRun, RequestHeader, WebsocketUrl};
pub use error::{AttachFault, BrowserError, LaunchFault};
pub use files::atomic_file;
pub use files::private_dir::{DirectoryFault, PrivateDir};
pub use files::random_name::{new_browser_id, new_instance_id};
pub use files::stable_digest::stable_digest;
pub use keeper::client as keeper_client;
pub use keeper::client::Claim;
pub use keeper::descriptor::BrowserDescriptor;
pub use keeper::marionette::Marionette;
pub use keeper::{BidiSession, KeepOutcome, KeepRequest};
pub use launch::browser_kind::{BrowserKind, Channel};
pub use launch::debugging_pipe::DebuggingPipe;
pub use launch::finder::{self, FoundBrowser};
pub use launch::firefox;
pub use launch::hidden_automation::HiddenAutomation;
pub use launch::launcher_flag::{SortedFlag, sort_launcher_flag};
pub use launch::other_engine::OtherEngine;
pub use launch::sandbox::{SandboxMode, SandboxObstacle};
pub use launch::spec::{BrowserEngine, Display, LaunchSpec, LauncherOptions, WindowSize};
pub use process::identity::{ProcessIdentity, SignalResult};
pub use process::memory::memory_of_group;
pub use profile::directory::ProfileFault;
pub use profile::lock::{LockState, StaleLock, lock_state, remove_stale_lock};
pub use profile::named as named_profile;
pub use profile::{ProfileChoice, ProfileHomes, refuse_default_profile};
pub use rustix::process::Signal;
pub use sweep::{Leftovers, Orphan, Ownership, Removed, StaleReason, SweepReport, Verdict, sweep};
