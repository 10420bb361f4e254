//! Requests of a script through the browser, in a hidden tab: cookies, proxies and certificates apply as in every tab.
//!
//! The request of a navigation is paused and changed into the script's, and its response is taken before any document is
//! shown. So no page notices, and nothing of the response runs.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, EventFilter, EventStream};

use super::Browser;
use crate::network::HeaderList;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct FetchRequest {
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) headers: HeaderList,
    pub(crate) body: Option<Vec<u8>>,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct FetchResponse {
    pub(crate) status: u16,
    pub(crate) status_text: String,
    pub(crate) headers: HeaderList,
    pub(crate) body: Vec<u8>,
    /// Where the server is: `Public`, `Local`, `Loopback` or `Unknown`.
    pub(crate) address_space: String,
}

/// A hidden tab for requests; closed on drop.
pub(crate) struct FetchTab<'a> {
    browser: &'a Browser,
    target: TargetId,
    session: CdpSession,
    events: EventStream,
}

const PAUSED: &str = "Fetch.requestPaused";
const EXTRA_INFO: &str = "Network.responseReceivedExtraInfo";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    request: PausedRequest,
    response_error_reason: Option<String>,
    response_status_code: Option<u16>,
    #[serde(default)]
    response_status_text: String,
    #[serde(default)]
    response_headers: Vec<crate::network::Header>,
    #[serde(default)]
    resource_type: String,
}

#[derive(Deserialize)]
struct PausedRequest {
    #[serde(default)]
    headers: HeaderList,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtraInfo {
    #[serde(rename = "resourceIPAddressSpace", default)]
    address_space: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BodyResponse {
    body: String,
    base64_encoded: bool,
}

impl<'a> FetchTab<'a> {
    /// Opens a tab with the cookies of the given context.
    pub(crate) async fn open(
        browser: &'a Browser,
        context: Option<&BrowserContextId>,
        deadline: Deadline,
    ) -> Result<Self, Failure> {
        let (target, session) = browser.open_hidden_tab(context, false).await?;
        let events = session.events(EventFilter::methods([PAUSED, EXTRA_INFO]));
        let tab = Self { browser, target, session, events };
        // A redirect pauses again for the new URL, so every hop is judged.
        let patterns = json!([{"urlPattern": "*"}, {"urlPattern": "*", "requestStage": "Response"}]);
        let commands = [
            ("Network.enable", json!({})),
            ("Network.setBypassServiceWorker", json!({"bypass": true})),
            ("Network.setCacheDisabled", json!({"cacheDisabled": true})),
            ("Fetch.enable", json!({"patterns": patterns})),
        ];
        let begun: Vec<_> =
            commands.iter().map(|(method, params)| tab.session.begin(*method, params, deadline)).collect();
        for pending in begun {
            pending.map_err(CdpError::into_failure)?.response().await.map_err(CdpError::into_failure)?;
        }
        Ok(tab)
    }

    /// Sends one request and returns its response. A redirect is not followed.
    pub(crate) async fn send(
        &mut self,
        request: &FetchRequest,
        deadline: Deadline,
    ) -> Result<FetchResponse, Failure> {
        let failed = CdpError::into_failure;
        let params = json!({"url": request.url});
        let going = self.session.begin("Page.navigate", &params, deadline).map_err(failed)?;
        let mut going = std::pin::pin!(going.response());
        let (mut is_sent, mut has_navigated, mut address_space) = (false, false, String::new());
        loop {
            let event = tokio::select! {
                biased;
                event = self.events.next_within(deadline) => event.map_err(failed)?,
                response = &mut going, if !has_navigated => {
                    has_navigated = true;
                    let response: Value = response.and_then(|response| response.to()).map_err(failed)?;
                    // A navigation that fails before its request is paused.
                    match response["errorText"].as_str() {
                        Some(text) if !is_sent => return Err(unreachable_site(&request.url, text)),
                        _ => continue,
                    }
                }
            };
            if event.method() == EXTRA_INFO {
                address_space = event.to::<ExtraInfo>().map_err(failed)?.address_space;
                continue;
            }
            let paused: RequestPaused = event.to().map_err(failed)?;
            if paused.resource_type != "Document" {
                self.abort(&paused.request_id, deadline);
            } else if let Some(reason) = &paused.response_error_reason {
                self.abort(&paused.request_id, deadline);
                return Err(unreachable_site(&request.url, reason));
            } else if let Some(status) = paused.response_status_code {
                let body = self.take_body(&paused, status, deadline).await;
                self.abort(&paused.request_id, deadline);
                if !has_navigated {
                    // The next navigation must not meet the end of this one.
                    let _ = going.await;
                }
                return Ok(FetchResponse {
                    status,
                    status_text: paused.response_status_text,
                    headers: paused.response_headers.into_iter().collect(),
                    body: body?,
                    address_space,
                });
            } else if is_sent {
                // The browser tries again; the script's request was sent once.
                self.abort(&paused.request_id, deadline);
            } else {
                is_sent = true;
                self.release(&paused, request, deadline).await?;
            }
        }
    }

    /// Sends the script's request in place of the navigation's.
    async fn release(
        &self,
        paused: &RequestPaused,
        request: &FetchRequest,
        deadline: Deadline,
    ) -> Result<(), Failure> {
        let mut headers = paused.request.headers.clone();
        // What a navigation adds and a program would not send.
        for name in ["upgrade-insecure-requests", "accept"] {
            headers.remove(name);
        }
        headers.set("Accept", "*/*");
        for header in request.headers.iter() {
            headers.set(&header.name, &header.value);
        }
        let mut params = json!({
            "requestId": paused.request_id, "method": request.method, "headers": headers.to_value(),
        });
        if let Some(body) = &request.body {
            params["postData"] = json!(BASE64_STANDARD.encode(body));
        }
        let sent = self.session.send("Fetch.continueRequest", &params, deadline).await;
        sent.map(drop).map_err(CdpError::into_failure)
    }

    async fn take_body(
        &self,
        paused: &RequestPaused,
        status: u16,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failure> {
        // Chromium has no body to give for these.
        if matches!(status, 204 | 205 | 301 | 302 | 303 | 304 | 307 | 308) {
            return Ok(Vec::new());
        }
        let params = json!({"requestId": paused.request_id});
        let response = self.session.send("Fetch.getResponseBody", &params, deadline).await;
        let response: BodyResponse =
            response.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        if !response.base64_encoded {
            return Ok(response.body.into_bytes());
        }
        BASE64_STANDARD.decode(&response.body).map_err(|error| {
            Failure::new(ErrorCode::CdpError, format!("The browser sent an unreadable body: {error}."))
        })
    }

    fn abort(&self, request: &str, deadline: Deadline) {
        let params = json!({"requestId": request, "errorReason": "Aborted"});
        self.session.post("Fetch.failRequest", &params, deadline);
    }
}

fn unreachable_site(url: &str, reason: &str) -> Failure {
    let site = crate::frames::policy::site_of(url);
    Failure::new(ErrorCode::CdpError, format!("{site} cannot be reached: {reason}."))
}

impl Drop for FetchTab<'_> {
    fn drop(&mut self) {
        self.browser.close_hidden_tab(&self.target);
    }
}
