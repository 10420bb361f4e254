//! Sends requests to the daemon over its socket, and starts or replaces the daemon on demand.

mod events;
mod interrupt;
mod own_program;
mod request;
mod start;
mod stream;
mod upgrade;

pub use events::{DaemonEvent, receive_events};
pub use interrupt::{report_interrupts, watch_interrupts};
pub use own_program::own_program;
pub use request::{RequestError, connect, request, request_within};
pub use start::{RELAY_VARIABLE, START_TIMEOUT, request_daemon, request_daemon_text, start, with_daemon};
pub use stream::{stream_lines, stream_lines_until_interrupt};
pub use upgrade::Upgrade;
