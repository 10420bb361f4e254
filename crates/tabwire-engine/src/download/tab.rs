//! A hidden tab that only downloads: it saves whatever its URL returns.
//!
//! Cookies, logins and proxies apply as in every tab, and no page notices.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{BrowserContextId, ErrorCode, Failure, Remedy, Step, TargetId};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter};

use crate::browser::Browser;
use crate::browser::hidden_tab::{BYPASS, bypassed};
use crate::download::mime_type::mime_type_in;

/// A hidden tab for one download; closed on drop.
pub(crate) struct DownloadTab<'a> {
    browser: &'a Browser,
    target: TargetId,
    session: CdpSession,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    response_error_reason: Option<String>,
    response_status_code: Option<u16>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Clone, Deserialize, serde::Serialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateResponse {
    #[serde(default)]
    is_download: bool,
    error_text: Option<String>,
}

impl<'a> DownloadTab<'a> {
    pub(crate) async fn open(
        browser: &'a Browser,
        context: Option<&BrowserContextId>,
    ) -> Result<Self, Failure> {
        let (target, session) = browser.open_hidden_tab(context, true).await?;
        Ok(Self { browser, target, session })
    }

    /// The target id, which is also the id of its main frame.
    pub(crate) fn target(&self) -> &TargetId {
        &self.target
    }

    /// Navigates to a URL and returns when the download has started, with the MIME type of the response.
    pub(crate) async fn download(&self, url: &str, deadline: Deadline) -> Result<Option<String>, Failure> {
        let failed = CdpError::into_failure;
        let begin = |method: &'static str, params: Value| self.session.begin(method, &params, deadline);
        let mut paused = self.session.events(EventFilter::methods(["Fetch.requestPaused"]));
        let patterns = json!([{"urlPattern": "*", "requestStage": "Response"}]);
        let enabling = begin("Network.enable", json!({}));
        // A response of a service worker would not be paused. The browser then shows it, which fails below.
        let bypassing = begin(BYPASS, json!({"bypass": true}));
        let preparations = [enabling, begin("Fetch.enable", json!({"patterns": patterns}))];
        let going = begin("Page.navigate", json!({"url": url})).map_err(failed)?;
        bypassed(bypassing.map_err(failed)?.response().await)?;
        for preparation in preparations {
            preparation.map_err(failed)?.response().await.map_err(failed)?;
        }
        let (mut refused, mut mime_type) = (None, None);
        let mut going = std::pin::pin!(going.response());
        let response: NavigateResponse = loop {
            tokio::select! {
                biased;
                event = paused.next() => match event {
                    Ok(event) => {
                        mime_type = type_of_response(&event);
                        refused = self.respond(&event, deadline).or(refused);
                    }
                    Err(CdpError::Missed { .. }) => {}
                    Err(error) => return Err(failed(error)),
                },
                response = &mut going => break response.and_then(|response| response.to()).map_err(failed)?,
            }
        };
        // The browser retries an interrupted download; the retry must not wait for us.
        begin("Fetch.disable", json!({})).map_err(failed)?.response().await.map_err(failed)?;
        match (refused, response) {
            (Some(reason), _) => Err(not_downloaded(&reason)),
            (None, NavigateResponse { is_download: true, .. }) => Ok(mime_type),
            (None, NavigateResponse { error_text: Some(reason), .. }) => Err(not_downloaded(&reason)),
            (None, _) => Err(not_downloaded("the browser displayed it instead of saving it")),
        }
    }

    /// Turns a response into a download; returns the reason when it cannot.
    fn respond(&self, event: &Event, deadline: Deadline) -> Option<String> {
        let paused: RequestPaused = event.to().ok()?;
        let request = &paused.request_id;
        let (method, params, refused) = match (&paused.response_error_reason, paused.response_status_code) {
            (Some(reason), _) => {
                let refused = format!("the site cannot be reached: {reason}");
                ("Fetch.failRequest", json!({"requestId": request, "errorReason": reason}), Some(refused))
            }
            // A redirect pauses again for its new URL (docs/cdp/network-against-fetch.md).
            (None, Some(301 | 302 | 303 | 307 | 308)) => {
                ("Fetch.continueResponse", json!({"requestId": request}), None)
            }
            (None, Some(status)) if status == 204 || status >= 300 => {
                let refused = format!("the site responded with status {status}");
                ("Fetch.failRequest", json!({"requestId": request, "errorReason": "Aborted"}), Some(refused))
            }
            (None, status) => {
                // The browser saves a response with this header; without it, it shows those that it can
                // display.
                let headers = as_attachment(&paused.response_headers);
                let code = status.unwrap_or(200);
                let params = json!({"requestId": request, "responseCode": code, "responseHeaders": headers});
                ("Fetch.continueResponse", params, None)
            }
        };
        // When this fails, the navigation fails and reports it.
        self.session.post(method, &params, deadline);
        refused
    }
}

/// The MIME type of a paused response.
fn type_of_response(event: &Event) -> Option<String> {
    let paused: RequestPaused = event.to().ok()?;
    let is_type = |header: &&Header| header.name.eq_ignore_ascii_case("content-type");
    paused.response_headers.iter().find(is_type).and_then(|header| mime_type_in(&header.value))
}

/// Headers changed so that the browser saves the response under the site's file name.
fn as_attachment(headers: &[Header]) -> Vec<Header> {
    let is_disposition = |header: &&Header| header.name.eq_ignore_ascii_case("content-disposition");
    let given = headers.iter().find(is_disposition).map_or("", |header| header.value.as_str());
    let value = match given.split_once(';') {
        Some((_, parameters)) => format!("attachment;{parameters}"),
        None => "attachment".to_owned(),
    };
    let mut headers: Vec<Header> = headers.iter().filter(|header| !is_disposition(header)).cloned().collect();
    headers.push(Header { name: "Content-Disposition".to_owned(), value });
    headers
}

pub(crate) fn not_downloaded(reason: &str) -> Failure {
    Failure::new(ErrorCode::DownloadFailed, format!("The download did not start: {reason}.")).with_remedy(
        Remedy::new(
            "Check the URL and whether a login is needed; {} lists the requests of the page.",
            [Step::action("requests")],
        ),
    )
}

impl Drop for DownloadTab<'_> {
    fn drop(&mut self) {
        self.browser.close_hidden_tab(&self.target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_response_becomes_an_attachment_with_its_own_name() {
        let header =
            |value: &str| vec![Header { name: "content-Disposition".to_owned(), value: value.to_owned() }];
        for (given, wanted) in [
            ("inline; filename=\"a;b.txt\"", "attachment; filename=\"a;b.txt\""),
            ("attachment; filename*=UTF-8''%41", "attachment; filename*=UTF-8''%41"),
            ("inline", "attachment"),
        ] {
            let headers = as_attachment(&header(given));
            assert_eq!((headers.len(), headers[0].value.as_str()), (1, wanted));
        }
        assert_eq!(as_attachment(&[])[0].value, "attachment");
    }
}
