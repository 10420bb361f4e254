//! Bounds of the command line, each with its reason.

use std::time::Duration;

/// How long `doctor` waits for the daemon to say how it is; a healthy one takes a millisecond.
pub const DOCTOR_PATIENCE: Duration = Duration::from_secs(5);

/// Files and directories of ours that `doctor` looks at in one place; the rest is as likely well or not.
pub const DOCTOR_ENTRIES: usize = 4096;

/// Free bytes below which nothing can be relied on: a fresh profile alone takes about as much.
pub const DISK_BYTES_NEEDED: u64 = 32 * 1024 * 1024;

/// Free bytes below which `doctor` warns: a few pages with pictures fill as much of a cache.
pub const DISK_BYTES_WANTED: u64 = 256 * 1024 * 1024;

/// Size of the shared memory below which pages with large pictures crash; containers often have 64 MiB.
pub const SHARED_MEMORY_BYTES: u64 = 128 * 1024 * 1024;

/// Open files a process should be allowed; a browser with a dozen tabs has several hundred.
pub const OPEN_FILES: u64 = 1024;

/// How far the clock may be behind what was written before it counts as wrong.
pub const CLOCK_SLACK: Duration = Duration::from_secs(300);

/// Seconds since 1970 before which the clock is wrong for certain: the start of 2026.
pub const CLOCK_FLOOR_SECONDS: u64 = 1_767_225_600;

/// How long a browser that was ended may hold its profile.
pub const DYING: Duration = Duration::from_secs(3);

/// Pause between two looks at it.
pub const DYING_LOOK: Duration = Duration::from_millis(50);

/// How long the daemon may take to open an MCP connection.
pub const MCP_GREETING_DEADLINE: Duration = Duration::from_secs(10);

/// Longest answer of the daemon to that.
pub const MCP_GREETING_BYTES: usize = 64 * 1024;

/// Bytes copied in one go between an MCP client and the daemon; a pipe holds four times that.
pub const MCP_COPY_BYTES: usize = 16 * 1024;

/// How long the last answers may take once an MCP client has stopped speaking.
pub const MCP_LAST_WORDS: Duration = Duration::from_millis(1_900);

/// How long the browser of an isolated MCP server outlives it when it is killed.
pub const ISOLATED_LINGER: Duration = Duration::from_millis(500);

/// How long an isolated MCP server may take to end.
pub const ISOLATED_END: Duration = Duration::from_secs(5);

/// Longest line of an MCP client that is looked at to know what it waits for.
pub const MCP_SEEN_BYTES: usize = 256 * 1024;

/// Longest greeting of an MCP client that is remembered for another daemon; the environment carries it there.
pub const MCP_FIRST_WORDS_BYTES: usize = 48 * 1024;

/// Requests of an MCP client that are known to be waited for.
pub const MCP_SEEN_CALLS: usize = 1024;

/// How long a browser may take to tell its version to somebody who asks its stand-in.
pub const CHROME_VERSION_DEADLINE: Duration = Duration::from_secs(10);

/// How long a stand-in waits for its browser: the daemon's own time for a launch, and some. On Windows several programs
/// are started for one browser, each with its own limit.
pub const CHROME_OPEN_DEADLINE: Duration = Duration::from_secs(90);

/// How long a tool of WSL (`wslpath`, `wslinfo`) may take; usual are a few milliseconds.
pub const WSL_TOOL_DEADLINE: Duration = Duration::from_secs(2);

/// How long a stand-in that is asked to end waits until its browser is gone.
pub const CHROME_END_DEADLINE: Duration = Duration::from_secs(20);

/// Longest word of the daemon's to a stand-in: a failure with the browser's last lines.
pub const CHROME_WORD_BYTES: usize = 256 * 1024;

/// Longest head of a request to the port of a stand-in.
pub const CHROME_HEAD_BYTES: usize = 16 * 1024;

/// How long a visitor of that port may take to send it.
pub const CHROME_HEAD_DEADLINE: Duration = Duration::from_secs(5);

/// Clients of that port at once; and as many visitors without a request yet, the newest in place of the oldest.
pub const CHROME_CONNECTIONS: usize = 64;

/// How long a browser may take to answer what a stand-in itself asks of it.
pub const CHROME_ASK_DEADLINE: Duration = Duration::from_secs(15);

/// Bytes of requests that wait for a browser to come back, of one client.
pub const CHROME_QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// Unanswered requests and cdp sessions of one client that are remembered, each.
pub const CHROME_REMEMBERED: usize = 10_000;

/// How long it may take to learn which protocol a browser speaks: a start of a browser on a busy machine, and some.
pub const CHROME_PROTOCOL_DEADLINE: Duration = Duration::from_secs(30);

/// Longest description of a protocol; Chromium's has 1.6 MB.
pub const CHROME_PROTOCOL_BYTES: usize = 16 * 1024 * 1024;

/// Descriptions that are kept, of the browsers that were asked last.
pub const CHROME_PROTOCOLS: usize = 4;

/// How long a browser that was started to be asked outlives whoever asked it.
pub const CHROME_PROTOCOL_LINGER: Duration = Duration::from_millis(2_000);

/// How long it may take to end.
pub const CHROME_PROTOCOL_END: Duration = Duration::from_secs(10);

/// Pause between two looks whether it listens, and whether it is our turn to ask.
pub const CHROME_PROTOCOL_LOOK: Duration = Duration::from_millis(10);

/// Bytes of frames that one stand-in writes down where that is wanted.
pub const CHROME_FRAMES_BYTES: usize = 64 * 1024 * 1024;

/// Files of frames in one directory; the oldest go.
pub const CHROME_FRAME_FILES: usize = 16;

/// Longest frame that is written down whole on a pipe: as long as a file may be.
pub const CHROME_TAP_BYTES: usize = CHROME_FRAMES_BYTES;

/// How long a launcher may take to read what was last said to it, where frames are written down.
pub const CHROME_FRAMES_END: Duration = Duration::from_secs(2);
