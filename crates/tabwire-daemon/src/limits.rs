//! Limits of the daemon that users can notice (`pub`) or several files share.

use std::time::Duration;

/// The loopback port. If it is taken, the daemon uses another one.
pub const DEFAULT_PORT: u16 = 38_017;

/// Connections at once over the socket, and as many authenticated ones over the port. On the socket more wait in
/// the kernel's queue.
pub const CONNECTIONS: usize = 256;

/// Unauthenticated connections at once over the port, and as many websockets of extensions. A new one replaces the
/// oldest.
#[doc(hidden)]
pub const UNAUTHENTICATED_CONNECTIONS: usize = 64;

/// Largest message of an unauthenticated peer.
#[doc(hidden)]
pub const UNAUTHENTICATED_BYTES: usize = 64 * 1024;

/// Largest body of a request to the API.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;

/// Largest head of a request, in bytes.
#[doc(hidden)]
pub const HEAD_BYTES: usize = 64 * 1024;

/// How long a peer may take to send the head of a request, and how long a connection may be idle between two.
#[doc(hidden)]
pub const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// How long a peer may take to send the body of a request.
#[doc(hidden)]
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// How long the start of a browser may take.
pub const LAUNCH_DEADLINE: Duration = Duration::from_secs(40);

/// How long a session waits for a browser of a Grid or a provider, unless its options say otherwise.
pub const RENT_WAIT: Duration = Duration::from_secs(120);

/// Default timeout of an action on an element.
pub const ACTING_DEADLINE: Duration = Duration::from_secs(10);

/// Default timeout of any other action.
pub const ACTION_DEADLINE: Duration = Duration::from_secs(30);

/// How long the daemon stays without a browser and without a client.
pub const IDLE_EXIT: Duration = Duration::from_secs(600);

/// How long the user has to decide an approval request. Then it is denied.
pub const APPROVAL_DEADLINE: Duration = Duration::from_secs(60);

/// Bytes of the screenshots in the trail, which is off by default. The oldest are deleted first.
pub const TRAIL_BYTES: u64 = 64 * 1024 * 1024;

/// How long a screenshot of the trail is kept.
pub const TRAIL_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Approval requests that may wait at once.
pub const APPROVALS: usize = 100;

/// Largest file that an action reads.
pub const READ_BYTES: u64 = 64 * 1024 * 1024;

/// Largest file that is uploaded to a page. It is copied if it cannot be linked.
pub const UPLOAD_BYTES: u64 = 512 * 1024 * 1024;

/// Directories one request may declare.
pub const ROOTS: usize = 32;

/// Longest name of a client in the audit log, in bytes.
pub(crate) const CLIENT_NAME_BYTES: usize = 64;

/// Default length of a tab lease.
pub const LEASE: Duration = Duration::from_secs(600);

/// Longest tab lease.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 3600);

/// How long an extension may take for the handshake.
#[doc(hidden)]
pub const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(5);
