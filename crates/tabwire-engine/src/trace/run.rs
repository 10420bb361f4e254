//! A running trace: start, stop, and reading its stream.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, EventFilter};
use tokio::time::Instant;

use crate::cdp::MergedEvents;
use crate::files::NewFile;
use crate::page::Page;
use crate::trace::events::TraceEvents;
use crate::trace::summary::{TraceReader, TraceSummary};

/// Bytes of a trace file. A longer trace is cut after a whole event.
const TRACE_BYTES: u64 = 256 * 1024 * 1024;

/// The browser's trace buffer in KiB. Tracing ends when it is full.
const TRACE_BUFFER_KIB: u64 = 200 * 1024;

/// Bytes of a trace that are read at a time.
const TRACE_PIECE: u64 = 1024 * 1024;

/// Default categories: enough for a flame chart and web vitals.
const CATEGORIES: &[&str] = &[
    "blink.console",
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-v8.cpu_profiler",
    "latencyInfo",
    "loading",
    "v8.execute",
];

/// The CDP event when a trace can be read.
const COMPLETE: &str = "Tracing.tracingComplete";

/// The target of a trace.
#[derive(Debug)]
enum Tracer {
    /// The whole browser.
    Browser(CdpSession),
    /// One page, for browsers that cannot trace as a whole: its processes and the browser process.
    Page(Box<Page>),
}

impl Tracer {
    async fn send(
        &self,
        method: &'static str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, CdpError> {
        match self {
            Self::Browser(session) => session.send(method, params, deadline).await?.to(),
            Self::Page(page) => page.begin(method, params, deadline).await,
        }
    }

    /// Subscribes to the completion event.
    fn complete(&self) -> MergedEvents {
        MergedEvents::new(match self {
            Self::Browser(session) => vec![session.events(EventFilter::methods([COMPLETE]))],
            Self::Page(page) => page.session().events(&[COMPLETE]),
        })
    }
}

/// A running trace.
#[derive(Debug)]
pub(crate) struct TraceRun {
    tracer: Tracer,
    /// The main frame of the page for the summary.
    frame: FrameId,
    since: Instant,
    complete: MergedEvents,
}

/// A trace file.
#[derive(Debug)]
pub(crate) struct WrittenTrace {
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    /// Whether the browser or the size limit dropped events.
    pub(crate) truncated: bool,
    pub(crate) summary: TraceSummary,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complete {
    #[serde(default)]
    data_loss_occurred: bool,
    stream: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    data: String,
    eof: bool,
}

impl TraceRun {
    /// Starts a trace of the whole browser, or of a page where the browser supports no more.
    pub(crate) async fn start(
        browser: CdpSession,
        page: &Page,
        more: &[String],
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let categories: Vec<&str> =
            CATEGORIES.iter().copied().chain(more.iter().map(String::as_str)).collect();
        let params = json!({
            "transferMode": "ReturnAsStream",
            "streamFormat": "json",
            "traceConfig": {
                "recordMode": "recordUntilFull",
                "traceBufferSizeInKb": TRACE_BUFFER_KIB,
                "includedCategories": categories,
                "excludedCategories": ["*"],
            },
        });
        let frame = page.main_frame().clone();
        let mut tracer = Tracer::Browser(browser);
        let mut complete = tracer.complete();
        let mut started = tracer.send("Tracing.start", &params, deadline).await;
        if started.as_ref().is_err_and(CdpError::is_unknown_method) {
            tracer = Tracer::Page(Box::new(page.clone()));
            complete = tracer.complete();
            started = tracer.send("Tracing.start", &params, deadline).await;
        }
        started.map_err(not_started)?;
        Ok(Self { tracer, frame, since: Instant::now(), complete })
    }

    /// Stops the trace and writes it.
    pub(crate) async fn finish(
        mut self,
        file: &mut NewFile,
        deadline: Deadline,
    ) -> Result<WrittenTrace, Failure> {
        let seconds = self.since.elapsed().as_secs_f64();
        let failed = CdpError::into_failure;
        self.tracer.send("Tracing.end", &json!({}), deadline).await.map_err(failed)?;
        let complete = self.complete.next(deadline).await.map_err(failed)?;
        let complete: Complete = complete.to().map_err(failed)?;
        let Some(stream) = complete.stream else {
            return Err(Failure::new(ErrorCode::CdpError, "The browser returned no trace."));
        };
        let written = self.read_out(&stream, file, deadline).await;
        // The response does not matter any more.
        let _ = self.tracer.send("IO.close", &json!({"handle": stream}), deadline).await;
        let (bytes, is_cut, summary) = written?;
        Ok(WrittenTrace { bytes, seconds, truncated: is_cut || complete.data_loss_occurred, summary })
    }

    async fn read_out(
        &self,
        stream: &str,
        file: &mut NewFile,
        deadline: Deadline,
    ) -> Result<(u64, bool, TraceSummary), Failure> {
        let params = json!({"handle": stream, "size": TRACE_PIECE});
        let mut events = TraceEvents::default();
        let mut reader = TraceReader::new(self.frame.clone());
        let mut bytes = 0;
        loop {
            let response = self.tracer.send("IO.read", &params, deadline).await;
            let response = response.map_err(CdpError::into_failure)?;
            let piece = serde_json::from_value::<Piece>(response).map_err(unreadable)?;
            let content = piece.data.as_bytes();
            let last = events.feed(content, |event| reader.take(event));
            let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
            if bytes + length > TRACE_BYTES {
                // Cut after a complete event, so that the file stays valid.
                file.add(&content[..last.unwrap_or(0)])?;
                file.add(b"]}")?;
                return Ok((bytes, true, reader.finish()));
            }
            file.add(content)?;
            bytes += length;
            if piece.eof {
                return Ok((bytes, false, reader.finish()));
            }
        }
    }
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::new(ErrorCode::CdpError, format!("A piece of the trace cannot be read: {error}."))
}

fn not_started(error: CdpError) -> Failure {
    match error {
        CdpError::Protocol { message, .. } if message.contains("already") => {
            Failure::new(ErrorCode::Busy, "Another client is tracing this browser.")
                .with_remedy("A browser runs one trace at a time. Stop the other one first.")
        }
        error => error.into_failure(),
    }
}

/// Category names in CDP format.
pub(crate) fn check_categories(given: &[String]) -> Result<(), Failure> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-*".contains(&byte))
    };
    match given.iter().find(|name| !is_name(name) || name.starts_with('-')) {
        None => Ok(()),
        Some(wrong) => Err(Failure::new(ErrorCode::BadArgs, format!("{wrong:?} is no trace category."))
            .with_remedy("A category is a name such as v8 or disabled-by-default-devtools.screenshot.")),
    }
}
