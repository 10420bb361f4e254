//! Limits of the daemon that a user can notice.

use std::time::Duration;

/// The loopback port. If it is taken, the daemon uses another one.
pub const DEFAULT_PORT: u16 = 38_017;

/// Connections at once over the socket, and as many authenticated ones over the port. On the socket more wait in
/// the kernel's queue.
pub const CONNECTIONS: usize = 256;

/// Unauthenticated connections at once over the port, and as many websockets of extensions. A new one replaces the
/// oldest.
pub const UNAUTHENTICATED_CONNECTIONS: usize = 64;

/// Largest message of an unauthenticated peer.
pub const UNAUTHENTICATED_BYTES: usize = 64 * 1024;

/// Largest body of a request to the API.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;

/// Largest head of a request, in bytes.
pub const HEAD_BYTES: usize = 64 * 1024;

/// How long a peer may take to send the head of a request, and how long a connection may be idle between two.
pub const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// How long a peer may take to send the body of a request.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Silence after which a browser behind an open websocket counts as gone.
pub const UPSTREAM_LOST: Duration = Duration::from_secs(13);

/// How long the start of a browser may take.
pub const LAUNCH_DEADLINE: Duration = Duration::from_secs(40);

/// Default timeout of an action on an element.
pub const ACTING_DEADLINE: Duration = Duration::from_secs(10);

/// Default timeout of any other action.
pub const ACTION_DEADLINE: Duration = Duration::from_secs(30);

/// How long running requests may take when a newer daemon replaces this one.
pub const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// How long the daemon stays without a browser and without a client.
pub const IDLE_EXIT: Duration = Duration::from_secs(600);

/// How long the user has to decide an approval request. Then it is denied.
pub const APPROVAL_DEADLINE: Duration = Duration::from_secs(60);

/// Approval requests that may wait at once.
pub const APPROVALS: usize = 100;

/// Largest policy file, and largest list of grants.
pub const POLICY_BYTES: usize = 4 * 1024 * 1024;

/// Size at which the log file is rotated.
pub const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// Rotated log files that are kept.
pub const LOG_FILES: usize = 3;

/// Largest file that an action reads.
pub const READ_BYTES: u64 = 64 * 1024 * 1024;

/// Largest file that is uploaded to a page. It is copied if it cannot be linked.
pub const UPLOAD_BYTES: u64 = 512 * 1024 * 1024;

/// How long the copy of an uploaded file is kept. A page may read it at any time.
pub const UPLOAD_KEPT: Duration = Duration::from_secs(24 * 3600);

/// Directories one request may declare.
pub const ROOTS: usize = 32;

/// How long the video encoder may take to end after the last frame.
pub const ENCODER_DEADLINE: Duration = Duration::from_secs(30);

/// How long a response waits for its row in the audit log. Then it is sent without.
pub const AUDIT_DEADLINE: Duration = Duration::from_secs(1);

/// Longest name of a client in the audit log, in bytes.
pub const CLIENT_NAME_BYTES: usize = 64;

/// Largest file of saved logins.
pub const VAULT_BYTES: usize = 1024 * 1024;

/// Tabs of a session that are opened again after a crash.
pub const REMEMBERED_TABS: usize = 50;

/// Largest saved state (cookies and local storage) that is restored.
pub const STATE_BYTES: usize = 64 * 1024 * 1024;

/// How often a session with `--save-state` saves its state.
pub const STATE_EVERY: Duration = Duration::from_secs(30);

/// Default length of a tab lease.
pub const LEASE: Duration = Duration::from_secs(600);

/// Longest tab lease.
pub const LEASE_MAX: Duration = Duration::from_secs(24 * 3600);

/// Largest image that is sent to an MCP client.
pub const MCP_IMAGE_BYTES: u64 = 32 * 1024 * 1024;

/// How long an extension may take for the handshake.
pub const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(5);

/// How long a command waits for the user's own browser to connect. A sleeping extension wakes every 30 s.
pub const EXTENSION_DEADLINE: Duration = Duration::from_secs(35);

/// How long the user's own browser is kept after its extension disconnected. A sleeping extension wakes every 30 s.
pub const EXTENSION_GRACE: Duration = Duration::from_secs(40);

/// The user's own browsers that may be connected at once.
pub const EXTENSIONS: usize = 16;

/// Longest time that a CDP client may wait for the slot of a single-client session.
pub const STANDBY_MAX: Duration = Duration::from_secs(30);
