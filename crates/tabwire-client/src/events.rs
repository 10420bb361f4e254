//! The daemon's events (`GET /v1/events`), received on a thread.

use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use crate::request::{RequestError, connect};
use crate::stream::open;

/// Events that wait for their reader. The daemon sends no more until there is room.
const QUEUED_EVENTS: usize = 256;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonEvent {
    /// `entry`, `gap` or `reset`.
    pub kind: String,
    /// JSON.
    pub data: String,
}

/// Requests events; `path` has the query. The receiver ends with the connection. Does not start a daemon.
///
/// # Errors
/// When no daemon runs, or it refuses the request.
pub fn receive_events(socket: &Path, path: &str) -> Result<Receiver<DaemonEvent>, RequestError> {
    let reader = open(connect(socket)?, ("GET", path), None, None)?;
    let (sender, receiver) = sync_channel(QUEUED_EVENTS);
    // Ends with the connection, or when the receiver is gone at the next event.
    std::thread::spawn(move || {
        let mut event = DaemonEvent::default();
        for line in reader.lines().map_while(Result::ok) {
            if let Some(done) = take_line(&mut event, &line)
                && sender.send(done).is_err()
            {
                return;
            }
        }
    });
    Ok(receiver)
}

/// Adds a line to an event; returns the event when the line ends it.
fn take_line(event: &mut DaemonEvent, line: &str) -> Option<DaemonEvent> {
    if line.is_empty() {
        let done = std::mem::take(event);
        return (!done.data.is_empty()).then_some(done);
    }
    if let Some(kind) = line.strip_prefix("event: ") {
        kind.clone_into(&mut event.kind);
    } else if let Some(data) = line.strip_prefix("data: ") {
        data.clone_into(&mut event.data);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_events_and_comments_do_not() {
        let mut event = DaemonEvent::default();
        let lines = [
            ": hello",
            "",
            "id: 4",
            "event: entry",
            "data: {\"number\":4}",
            "",
            "event: gap",
            "data: {}",
            "",
        ];
        let events: Vec<_> = lines.iter().filter_map(|line| take_line(&mut event, line)).collect();
        let kinds: Vec<_> = events.iter().map(|event| (event.kind.as_str(), event.data.as_str())).collect();
        assert_eq!(kinds, [("entry", "{\"number\":4}"), ("gap", "{}")]);
    }
}
