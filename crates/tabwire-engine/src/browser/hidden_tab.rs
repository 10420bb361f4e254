//! A hidden tab that runs scripts at an origin without a request to its server.
//!
//! Every request of the tab is intercepted: the document is fulfilled with an empty page, every other request fails.
//! The tab closes on drop.

use base64::Engine;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, EventFilter, EventStream, PendingResponse, Response};

use crate::browser::Browser;
use crate::page::evaluate::EvaluateResponse;

/// An empty page. Its icon is inline, so that Chrome requests no `favicon.ico`.
const EMPTY_PAGE: &str = "<!doctype html><title>Tabwire</title><link rel=icon href=data:,>";

/// Has Chrome request documents past service workers. Firefox cannot.
pub(crate) const BYPASS: &str = "Network.setBypassServiceWorker";

/// The outcome of that command: a browser that does not support it is no failure.
pub(crate) fn bypassed(response: Result<Response, CdpError>) -> Result<(), Failure> {
    let failure = response.map(|_| ()).map_err(CdpError::into_failure);
    failure.or_else(|failure| if failure.code == ErrorCode::UnsupportedHere { Ok(()) } else { Err(failure) })
}

/// A hidden tab; closed on drop.
#[derive(Debug)]
pub(crate) struct HiddenTab<'a> {
    browser: &'a Browser,
    target: TargetId,
    session: CdpSession,
    paused: EventStream,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    #[serde(default)]
    resource_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateResponse {
    error_text: Option<String>,
}

impl<'a> HiddenTab<'a> {
    /// Opens a tab with the cookies and storage of the given context.
    pub(crate) async fn open(
        browser: &'a Browser,
        context: Option<&BrowserContextId>,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let failed = CdpError::into_failure;
        let (target, session) = browser.open_hidden_tab(context, false).await?;
        let paused = session.events(EventFilter::methods(["Fetch.requestPaused"]));
        let tab = Self { browser, target, session, paused };
        let commands = [
            ("Page.enable", json!({})),
            ("Network.enable", json!({})),
            // Requests that a service worker fulfils are not paused.
            (BYPASS, json!({"bypass": true})),
            ("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]})),
        ];
        let begun: Vec<_> =
            commands.iter().map(|(method, params)| tab.session.begin(*method, params, deadline)).collect();
        for (begun, (method, _)) in begun.into_iter().zip(&commands) {
            let response = begun.map_err(failed)?.response().await;
            match *method {
                // `run_at` leaves out an origin that has one.
                BYPASS => bypassed(response)?,
                _ => drop(response.map_err(failed)?),
            }
        }
        Ok(tab)
    }

    /// Navigates to an origin and runs a function there with an argument.
    pub(crate) async fn run_at<T: DeserializeOwned>(
        &mut self,
        origin: &str,
        function: &str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<T, Failure> {
        self.navigate(origin, deadline).await?;
        // Chrome may upgrade http to https (HSTS), which is another origin.
        let expression = format!(
            "if (location.origin !== {}) throw new Error('is at ' + location.origin); \
             if (navigator.serviceWorker?.controller) throw new Error('a service worker responds for it'); \
             ({function})({argument})",
            json!(origin)
        );
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let response = self.session.send("Runtime.evaluate", &params, deadline).await;
        let evaluation: EvaluateResponse =
            response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        let value = evaluation.into_result()?.value;
        serde_json::from_value(value)
            .map_err(|error| Failure::new(ErrorCode::Internal, format!("The storage of {origin}: {error}.")))
    }

    async fn navigate(&mut self, origin: &str, deadline: Deadline) -> Result<(), Failure> {
        let params = json!({"url": format!("{origin}/")});
        let going = self.session.begin("Page.navigate", &params, deadline).map_err(CdpError::into_failure)?;
        let mut going = std::pin::pin!(going.response());
        // Kept until the end: a command whose `PendingResponse` is dropped may never be sent.
        let mut pending = Vec::new();
        let response = loop {
            tokio::select! {
                biased;
                response = &mut going => break response,
                paused = self.paused.next_within(deadline) => {
                    let paused: RequestPaused = paused.and_then(|event| event.to()).map_err(CdpError::into_failure)?;
                    pending.push(self.respond(&paused, deadline).map_err(CdpError::into_failure)?);
                }
            }
        };
        let navigated: NavigateResponse =
            response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        match navigated.error_text.filter(|text| !text.is_empty()) {
            None => Ok(()),
            Some(text) => {
                Err(Failure::new(ErrorCode::CdpError, format!("{origin} cannot be visited: {text}.")))
            }
        }
    }

    /// Fulfils or fails a paused request of the tab.
    fn respond(&self, paused: &RequestPaused, deadline: Deadline) -> Result<PendingResponse, CdpError> {
        let (method, params) = if paused.resource_type == "Document" {
            // The document has the origin of its URL, and the server gets no request for it.
            let body = base64::engine::general_purpose::STANDARD.encode(EMPTY_PAGE);
            let headers = json!([{"name": "content-type", "value": "text/html; charset=utf-8"}]);
            let params = json!({
                "requestId": paused.request_id, "responseCode": 200, "responseHeaders": headers, "body": body,
            });
            ("Fetch.fulfillRequest", params)
        } else {
            ("Fetch.failRequest", json!({"requestId": paused.request_id, "errorReason": "Aborted"}))
        };
        self.session.begin(method, &params, deadline)
    }
}

impl Drop for HiddenTab<'_> {
    fn drop(&mut self) {
        self.browser.close_hidden_tab(&self.target);
    }
}
