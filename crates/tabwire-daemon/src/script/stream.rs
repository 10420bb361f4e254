//! The response to `POST /v1/execute`: JSON lines that arrive while the script runs.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tabwire_api::api::{ExecuteLine, ExecuteRequest};
use tokio::sync::mpsc;

use crate::daemon::Daemon;
use crate::http::caller::Caller;
use crate::http::server::{HttpResponse, page};

/// Lines that may wait for a slow client. Then the script waits.
const QUEUED_LINES: usize = 64;

impl Daemon {
    /// Runs a script in a task. A client that disconnects cancels it.
    pub(crate) fn stream_script(self: &Arc<Self>, request: ExecuteRequest, caller: Caller) -> HttpResponse {
        let (lines, receiver) = mpsc::channel(QUEUED_LINES);
        let (daemon, working) = (Arc::clone(self), self.work.begin());
        self.tasks.start("script", async move {
            let _working = working;
            let outcome = daemon.execute(request, &caller, lines.clone()).await;
            let last = outcome.map_or_else(ExecuteLine::Failed, ExecuteLine::Done);
            let _ = lines.send(last).await;
        });
        let body = StreamBody::new(unfold(receiver, |mut receiver| async move {
            let line: ExecuteLine = receiver.recv().await?;
            let mut text = serde_json::to_vec(&line).unwrap_or_default();
            text.push(b'\n');
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), receiver))
        }));
        let mut response = page(StatusCode::OK, "application/x-ndjson", "default-src 'none'", Bytes::new());
        *response.body_mut() = body.boxed();
        response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}
