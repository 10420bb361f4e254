//! The audit log as a stream of events, in order and without gaps: for `GET /v1/events` as server-sent events, and for
//! dashboards.
//!
//! An event is a row of the log, and its id is the row's number, so a client that reconnects with the last id it saw gets
//! the rest, also from the next daemon. A stream holds no queue of its own: it reads the log, and a slow client only reads
//! later.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use schemars::JsonSchema;
use serde::Serialize;
use tabwire_api::{ErrorCode, Failure, SessionName};
use tabwire_audit::{AuditError, Filter, Reader, Row, RowNumber};
use tabwire_cdp::TaskGroup;
use tokio::sync::{mpsc, watch};

use crate::audit::writer::AuditWriter;
use crate::http::server::{HttpResponse, page};

/// Streams that run at once.
const STREAMS: usize = 64;

/// Blocks of events that wait for a client.
const QUEUED_BLOCKS: usize = 2;

/// Most rows that a stream starts with.
const MOST_LAST: u32 = 10_000;

/// A comment is sent this often, so that a broken connection is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// What a client wants to receive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventRequest {
    pub(crate) filter: Filter,
    /// The last rows to begin with.
    pub(crate) last: u32,
}

/// What a stream of the log sends.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum LogEvent {
    /// A row: an action, or an event that no request asked for.
    Entry(Box<Row>),
    /// Rows that the client does not have are gone.
    Gap {
        /// The oldest row that is left.
        first: i64,
    },
    /// A new log has begun. Numbers start at 1 again.
    Reset,
}

/// The streams that run, and what they read.
#[derive(Debug)]
pub(crate) struct EventStreams {
    running: Arc<AtomicUsize>,
    audit: Arc<AuditWriter>,
    log: PathBuf,
    tasks: TaskGroup,
}

/// One stream, until it is dropped.
pub(crate) struct EventSlot(Arc<AtomicUsize>);

impl Drop for EventSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl EventStreams {
    /// Streams of the audit log in a file.
    pub(crate) fn new(audit: &Arc<AuditWriter>, log: PathBuf, tasks: &TaskGroup) -> Self {
        Self { running: Arc::default(), audit: Arc::clone(audit), log, tasks: tasks.clone() }
    }

    /// The streams that run.
    pub(crate) fn count(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// A stream, unless too many run.
    pub(crate) fn take(&self) -> Option<EventSlot> {
        let slot = EventSlot(Arc::clone(&self.running));
        // Counted first: the slot counts down when it is dropped.
        (self.running.fetch_add(1, Ordering::Relaxed) < STREAMS).then_some(slot)
    }

    /// Starts a stream. A client that disconnects ends it.
    pub(crate) async fn open(&self, request: &Request<Incoming>) -> Result<HttpResponse, Failure> {
        let resumed = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
        let wanted = EventRequest::parse(request.uri().query().unwrap_or_default(), resumed)?;
        if !self.audit.writes() {
            let message = "The audit log is switched off, so there are no events.";
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let slot = self.take().ok_or_else(|| {
            Failure::new(ErrorCode::Busy, format!("{STREAMS} event streams run already."))
                .with_remedy("Close one of them.")
        })?;
        let (blocks, receiver) = mpsc::channel(QUEUED_BLOCKS);
        let mut stream = EventStream { commits: self.audit.commits(), blocks, _slot: slot };
        // Read before the client has its response: what happens after that is sent.
        let log = OpenLog::new(self.log.clone(), wanted);
        let (log, first) = stream.read(log).await.map_err(|error| unreadable(&error))?;
        self.tasks.start("events", stream.run(log, first));
        let body = StreamBody::new(unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async move {
            let block = receiver.recv().await?;
            Some((Ok::<_, Infallible>(Frame::data(block)), receiver))
        }));
        let mut response = page(StatusCode::OK, "text/event-stream", "default-src 'none'", Bytes::new());
        *response.body_mut() = body.boxed();
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

impl EventRequest {
    /// Reads the query. `after` and the header `Last-Event-ID` name the last event that the client has.
    fn parse(query: &str, resumed: Option<&str>) -> Result<Self, Failure> {
        let wrong = |name: &str, what: &str| {
            Failure::new(ErrorCode::BadArgs, format!("`{name}` {what}.")).with_remedy(
                "Parameters are `after`, `last`, `since`, `session`, `client`, `action` and `failed`.",
            )
        };
        let number =
            |name: &str, text: &str| text.parse::<u32>().map_err(|_| wrong(name, "must be a number"));
        let mut wanted = Self::default();
        let mut after = resumed.map(str::to_owned);
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "after" => after = Some(value.into_owned()),
                "last" => wanted.last = number("last", &value)?.min(MOST_LAST),
                "session" => {
                    let session =
                        SessionName::new(&value).map_err(|error| wrong("session", &error.to_string()))?;
                    wanted.filter.session = Some(session);
                }
                "client" => wanted.filter.client = Some(value.into_owned()),
                "since" => {
                    let since = value
                        .parse::<i64>()
                        .map_err(|_| wrong("since", "must be milliseconds since 1970"))?;
                    wanted.filter.since_ms = Some(since);
                }
                "action" => wanted.filter.action = Some(value.into_owned()),
                "failed" => wanted.filter.failed = value == "true",
                other => return Err(wrong(other, "is no parameter of the event stream")),
            }
        }
        if let Some(after) = after {
            let after = after.parse::<i64>().ok().filter(|after| *after >= 0);
            wanted.filter.after =
                Some(RowNumber(after.ok_or_else(|| wrong("after", "must be an event's id"))?));
        }
        Ok(wanted)
    }
}

/// The task of one stream.
struct EventStream {
    /// Changes after every committed row.
    commits: watch::Receiver<u64>,
    blocks: mpsc::Sender<Bytes>,
    _slot: EventSlot,
}

impl EventStream {
    /// Reads the next events of the log.
    async fn read(&mut self, mut log: OpenLog) -> Result<(OpenLog, Vec<LogEvent>), AuditError> {
        // Marked before the log is read, so that no commit in between is missed.
        self.commits.mark_unchanged();
        let read = tokio::task::spawn_blocking(move || {
            let events = log.next_events();
            (log, events)
        });
        let (log, events) = read.await.map_err(|_| AuditError::Late)?;
        Ok((log, events?))
    }

    async fn run(mut self, mut log: OpenLog, first: Vec<LogEvent>) {
        // Sent at once, so that the client knows that the stream works.
        let mut block = ": events of the audit log\n\n".to_owned();
        let mut events = first;
        loop {
            events.iter().for_each(|event| write_event(&mut block, event));
            if !block.is_empty() && self.blocks.send(Bytes::from(std::mem::take(&mut block))).await.is_err() {
                return;
            }
            if events.is_empty() && !self.wait().await {
                return;
            }
            (log, events) = match self.read(log).await {
                Ok(read) => read,
                Err(error) => {
                    return tracing::warn!(%error, "an event stream ends: the audit log cannot be read");
                }
            };
        }
    }

    /// Waits for the next row. Returns whether the client is still there.
    async fn wait(&mut self) -> bool {
        loop {
            tokio::select! {
                changed = self.commits.changed() => return changed.is_ok(),
                () = self.blocks.closed() => return false,
                () = tokio::time::sleep(HEARTBEAT) => {
                    if self.blocks.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                        return false;
                    }
                }
            }
        }
    }
}

/// The log as one stream reads it.
#[derive(Debug)]
pub(crate) struct OpenLog {
    path: PathBuf,
    reader: Option<Reader>,
    wanted: EventRequest,
    is_begun: bool,
}

impl OpenLog {
    pub(crate) fn new(path: PathBuf, wanted: EventRequest) -> Self {
        Self { path, reader: None, wanted, is_begun: false }
    }

    /// The next events; empty when there are none yet.
    pub(crate) fn next_events(&mut self) -> Result<Vec<LogEvent>, AuditError> {
        let mut events = Vec::new();
        if self.reader.as_ref().is_some_and(Reader::was_replaced) {
            // Rows of a new file start at 1 again.
            (self.reader, self.wanted.filter.after) = (None, Some(RowNumber(0)));
            events.push(LogEvent::Reset);
        }
        if self.reader.is_none() {
            match Reader::open(&self.path) {
                Ok(reader) => self.reader = Some(reader),
                Err(AuditError::Missing) => {
                    // All rows of a file that does not exist yet are new.
                    self.wanted.filter.after.get_or_insert(RowNumber(0));
                    return Ok(events);
                }
                Err(error) => return Err(error),
            }
        }
        let Some(reader) = &self.reader else { return Ok(events) };
        let rows = if self.is_begun {
            reader.next(&self.wanted.filter)?
        } else {
            self.is_begun = true;
            begin(reader, &mut self.wanted, &mut events)?
        };
        if let Some(last) = rows.last() {
            self.wanted.filter.after = Some(last.number);
        }
        events.extend(rows.into_iter().map(|row| LogEvent::Entry(Box::new(row))));
        Ok(events)
    }
}

/// The first rows of a stream. Rows that the client missed and that are gone are reported as a gap.
fn begin(
    reader: &Reader,
    wanted: &mut EventRequest,
    events: &mut Vec<LogEvent>,
) -> Result<Vec<Row>, AuditError> {
    let ends = reader.ends()?;
    match (wanted.filter.after, ends) {
        (Some(RowNumber(after)), Some((first, last))) => {
            if after > last.0 {
                events.push(LogEvent::Reset);
                wanted.filter.after = Some(RowNumber(0));
            } else if after + 1 < first.0 {
                events.push(LogEvent::Gap { first: first.0 });
            }
            reader.next(&wanted.filter)
        }
        (Some(_), None) => Ok(Vec::new()),
        (None, ends) => {
            let rows = if wanted.last > 0 { reader.last(&wanted.filter, wanted.last)? } else { Vec::new() };
            wanted.filter.after = Some(ends.map_or(RowNumber(0), |(_, last)| last));
            Ok(rows)
        }
    }
}

/// The failure of a log that cannot be read.
pub(crate) fn unreadable(error: &AuditError) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The audit log cannot be read: {error}."))
        .with_remedy(tabwire_api::Remedy::new("Run {}.", [tabwire_api::Step::command("tabwire doctor")]))
}

/// Adds a server-sent event. Writing to a String cannot fail.
fn write_event(block: &mut String, event: &LogEvent) {
    let _ = match event {
        LogEvent::Entry(row) => {
            // JSON has no line feeds outside of strings, and escapes those inside.
            let data = serde_json::to_string(row).unwrap_or_default();
            write!(block, "id: {}\nevent: entry\ndata: {data}\n\n", row.number)
        }
        LogEvent::Gap { first } => write!(block, "event: gap\ndata: {{\"first\":{first}}}\n\n"),
        LogEvent::Reset => write!(block, "event: reset\ndata: {{}}\n\n"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_filters_and_where_to_go_on() {
        let wanted =
            EventRequest::parse("session=work&client=my%20agent&failed=true&last=5", None).expect("valid");
        assert_eq!(wanted.filter.session.as_ref().map(SessionName::as_str), Some("work"));
        assert_eq!(
            (wanted.filter.client.as_deref(), wanted.filter.failed, wanted.last),
            (Some("my agent"), true, 5)
        );
        assert_eq!(wanted.filter.after, None);
        assert_eq!(EventRequest::parse("", Some("7")).expect("valid").filter.after, Some(RowNumber(7)));
        assert_eq!(
            EventRequest::parse("after=9", Some("7")).expect("valid").filter.after,
            Some(RowNumber(9))
        );
        for wrong in ["after=-1", "after=x", "last=many", "seq=3", "session=%00"] {
            assert_eq!(
                EventRequest::parse(wrong, None).expect_err(wrong).code,
                ErrorCode::BadArgs,
                "{wrong}"
            );
        }
    }

    #[test]
    fn streams_are_counted() {
        let streams = EventStreams::new(&AuditWriter::start(None), PathBuf::new(), &TaskGroup::new());
        let taken: Vec<_> = std::iter::from_fn(|| streams.take()).collect();
        assert_eq!(taken.len(), STREAMS);
        drop(taken);
        assert!(streams.take().is_some(), "a refused stream is not counted");
    }
}
