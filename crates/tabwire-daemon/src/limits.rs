//! Bounds of the daemon, each with its reason.

use std::time::Duration;

/// The loopback port asked for first; another is taken when a stranger has it.
pub const DEFAULT_PORT: u16 = 38_017;

/// Connections served at once over the socket, where more wait in the kernel's queue; and as many over the port of
/// peers that have shown a credential.
pub const CONNECTIONS: usize = 256;

/// Connections over the port, and websockets of extensions, whose peers have not proved themselves yet. The newest
/// takes the place of the oldest.
pub const UNPROVED_CONNECTIONS: usize = 64;

/// Largest message of a peer that has not proved itself.
pub const UNPROVED_BYTES: usize = 64 * 1024;

/// Largest body of a request to the API.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;

/// Largest head of a request, in bytes.
pub const HEAD_BYTES: usize = 64 * 1024;

/// How long a peer may take to send the head of a request, and how long a connection may be idle between two.
pub const HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// How long a peer may take to send the body of a request, once its head was let through.
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// First pause after a failed accept; doubles up to [`ACCEPT_PAUSE_LONGEST`].
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Longest pause after failed accepts, as when descriptors have run out.
pub const ACCEPT_PAUSE_LONGEST: Duration = Duration::from_secs(1);

/// Bytes waiting for the browser above which clients are not read from.
pub const UPSTREAM_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// Frames taken from one peer in a row when they are there already; then others have their turn.
pub const FRAMES_IN_A_ROW: usize = 64;

/// Bytes moved from a client's queue to its socket in one go.
pub const PUMP_BYTES: usize = 1024 * 1024;

/// How often deadlines are looked at.
pub const TICK: Duration = Duration::from_secs(1);

/// How long between two looks at the clock until the process counts as having stood still meanwhile: three ticks.
pub const STANDSTILL: Duration = Duration::from_secs(3);

/// Silence of a browser behind a websocket after which it is asked for a sign of life.
pub const UPSTREAM_SILENCE: Duration = Duration::from_secs(5);

/// Silence after which a browser behind a websocket counts as gone, though the socket is open.
pub const UPSTREAM_LOST: Duration = Duration::from_secs(13);

/// How long a browser may take to answer the first commands after it was started or claimed.
pub const LINK_DEADLINE: Duration = Duration::from_secs(30);

/// How long starting a browser may take.
pub const LAUNCH_DEADLINE: Duration = Duration::from_secs(40);

/// How long claiming or asking a keeper may take.
pub const KEEPER_DEADLINE: Duration = Duration::from_secs(5);

/// How long an action may take that acts on an element, when the caller says nothing.
pub const ACTING_DEADLINE: Duration = Duration::from_secs(10);

/// How long any other action may take when the caller says nothing.
pub const ACTION_DEADLINE: Duration = Duration::from_secs(30);

/// How long work under way may take when the daemon is asked to make room for a newer one.
pub const DRAIN_DEADLINE: Duration = Duration::from_secs(10);

/// How long the daemon stays without a browser and without a client.
pub const IDLE_EXIT: Duration = Duration::from_secs(600);

/// How long a person has to answer whether something may be done; then it is no.
pub const APPROVAL_DEADLINE: Duration = Duration::from_secs(60);

/// How long somebody who attends by asking again and again counts as there in between.
pub const ATTENDANCE_GRACE: Duration = Duration::from_secs(3);

/// Questions that may wait for people at a time; more than anybody answers.
pub const APPROVALS: usize = 100;

/// Longest wait for a question in one request of somebody who attends.
pub const ATTENDANCE_WAIT: Duration = Duration::from_secs(25);

/// Largest policy or list of grants that is read: a thousand rules of the longest kind.
pub const POLICY_BYTES: usize = 4 * 1024 * 1024;

/// How often the user's policy is looked at when nobody asks for anything; actions look at once.
pub const POLICY_LOOK: Duration = Duration::from_secs(1);

/// Largest file of ours that is read whole (session files, handshake).
pub const FILE_BYTES: usize = 256 * 1024;

/// Longest line that is logged to a pipe; one that has room takes so much without waiting.
pub const LOG_LINE_BYTES: usize = 4_000;

/// Size at which the log file is rotated.
pub const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// Rotated log files kept beside the current one.
pub const LOG_FILES: usize = 3;

/// Longest name of a file that is kept, in bytes: room for a number and a harmless extension below every system's 255.
pub const NAME_BYTES: usize = 200;

/// Largest file that is read whole for an action.
pub const READ_BYTES: u64 = 64 * 1024 * 1024;

/// Largest file that is handed to a page. It is copied when it cannot be linked.
pub const UPLOAD_BYTES: u64 = 512 * 1024 * 1024;

/// How many files of one name are kept in one of our directories before more are refused.
pub const SAME_NAMES: u64 = 100_000;

/// How long files that were handed to pages are kept for them; pages read them when they like.
pub const UPLOAD_KEPT: Duration = Duration::from_secs(24 * 3600);

/// Names whose next number is remembered.
pub const NAMES_REMEMBERED: usize = 4_096;

/// Directories one request may declare.
pub const ROOTS: usize = 32;

/// How long an encoder may take to end once it has all pictures.
pub const ENCODER_DEADLINE: Duration = Duration::from_secs(30);

/// How long an answer waits for its row in the journal; then it is given without.
pub const JOURNAL_DEADLINE: Duration = Duration::from_secs(1);

/// How long the journal may take to write what waits when the daemon ends.
pub const JOURNAL_CLOSE_DEADLINE: Duration = Duration::from_secs(3);

/// Things about the journal that wait to be told with the next answer.
pub const JOURNAL_NOTICES: usize = 4;

/// Longest name of a client in the journal, in bytes.
pub const CLIENT_NAME_BYTES: usize = 64;

/// Largest file of saved logins.
pub const VAULT_BYTES: usize = 1024 * 1024;

/// How long a command waits while another one changes the saved logins.
pub const VAULT_LOCK_DEADLINE: Duration = Duration::from_secs(5);

/// How long the system's keyring may take; it may ask its owner to unlock it.
pub const KEYRING_DEADLINE: Duration = Duration::from_secs(30);

/// Tabs of a session whose addresses are remembered and opened again after a crash.
pub const REMEMBERED_TABS: usize = 50;

/// Remembered sessions that are listed.
pub const RECORDS_LISTED: usize = 1_000;

/// Largest saved state (cookies and local storage) that is read back.
pub const STATE_BYTES: usize = 64 * 1024 * 1024;

/// How often a session that saves its state does so.
pub const STATE_EVERY: Duration = Duration::from_secs(30);

/// When a session's state is saved for the first time.
pub const STATE_FIRST: Duration = Duration::from_secs(3);

/// How long saving or restoring a session's state may take.
pub const STATE_DEADLINE: Duration = Duration::from_secs(15);

/// How long changes of tabs are gathered before a session is written down.
pub const REMEMBER_AFTER: Duration = Duration::from_millis(250);

/// How long a tab is leased when nothing is said.
pub const LEASE: Duration = Duration::from_secs(600);

/// Longest lease of a tab.
pub const LEASE_LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Named clients of one session whose tabs are told apart.
pub const CLIENTS_REMEMBERED: usize = 256;

/// How long an empty tab may take to close.
pub const CLOSE_DEADLINE: Duration = Duration::from_secs(5);

/// How long tabs may take to load that are opened again, all at once.
pub const REOPEN_DEADLINE: Duration = Duration::from_secs(10);

/// Longest first line of an MCP connection.
pub const OPENING_BYTES: u64 = 1024 * 1024;

/// Longest name of an MCP client that is told apart from others by a number.
pub const GUEST_NAME_BYTES: usize = 40;

/// Largest picture that is read for an MCP client.
pub const GUEST_PICTURE_BYTES: u64 = 32 * 1024 * 1024;

/// How long each tab of an MCP client that has gone may take to close.
pub const LEAVE_DEADLINE: Duration = Duration::from_millis(1_500);

/// How long a browser's extension may take for its part of the greeting.
pub const GREETING_DEADLINE: Duration = Duration::from_secs(5);

/// How long a command waits for the user's own browser to connect; a sleeping extension wakes every 30 s.
pub const EXTENSION_DEADLINE: Duration = Duration::from_secs(35);

/// How long an extension may take to say that it is there.
pub const EXTENSION_PROBE: Duration = Duration::from_millis(800);

/// How long the user's own browser is kept for an extension that went away; it wakes every 30 s.
pub const EXTENSION_GRACE: Duration = Duration::from_secs(40);

/// After this long without a word, an extension that owes an answer is asked whether it is there.
pub const EXTENSION_SILENCE: Duration = Duration::from_secs(5);

/// The user's own browsers that may be there at once.
pub const EXTENSIONS: usize = 16;

/// Longest time that a CDP client stands by for the place of another.
pub const STANDBY_LONGEST: Duration = Duration::from_secs(30);

/// How often, more or less, a CDP client that does not stand by is to look whether the place is free.
pub const SLOT_LOOK: Duration = Duration::from_secs(1);

/// Questions that were answered lately and are told where they could have been answered too.
pub const APPROVALS_DECIDED: usize = 10;

/// Refusals in one of the user's own browsers that are told there.
pub const REFUSALS_TOLD: usize = 20;

/// Clients over HTTP whose names are remembered; the oldest is forgotten, and has to greet again.
pub const GREETED_CLIENTS: usize = 256;

/// How long a browser that a stand-in launched lives while nobody holds it: gone within 5 s of whatever was killed.
pub const CHROME_LINGER: Duration = Duration::from_millis(2_000);

/// Longest opening of a stand-in: a launcher's whole command line.
pub const CHROME_OPENING_BYTES: usize = 1024 * 1024;

/// How long a live browser on a profile is looked for before the profile counts as taken by a stranger.
pub const CHROME_SEARCH: Duration = Duration::from_secs(5);

/// How long PowerShell of Windows may take until its script runs: it compiles a class first.
pub const POWERSHELL_START: Duration = Duration::from_secs(20);

/// How long PowerShell may take to find a browser, find a port, or end a browser: all processes are looked at.
pub const POWERSHELL_PATIENCE: Duration = Duration::from_secs(8);

/// How long PowerShell may take to start a browser, which a virus scanner may look at first.
pub const POWERSHELL_LAUNCH: Duration = Duration::from_secs(15);

/// How long a browser of Windows may take until its port answers.
pub const WINDOWS_BROWSER_START: Duration = Duration::from_secs(30);

/// Pause between two looks at such a port.
pub const WINDOWS_PORT_LOOK: Duration = Duration::from_millis(200);

/// How long PowerShell may take to end once its input is closed.
pub const POWERSHELL_END: Duration = Duration::from_secs(3);

/// Lines that may wait for PowerShell to read them.
pub const POWERSHELL_LINES: usize = 256;

/// Lines that are not understood before PowerShell counts as broken: a profile or a policy may print a few.
pub const POWERSHELL_NOISE: usize = 64;

/// Browsers of Windows that are remembered as started by this daemon; far more than run at once.
pub const WINDOWS_LAUNCHES: usize = 256;
