//! A tab of our own that only downloads: what it goes to is saved, whatever it is, and never shown.
//!
//! Cookies, logins and proxies apply as they do for every tab, and no page notices.

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Deadline, Event, EventFilter};
use tabwire_wire::{BrowserContextId, ErrorCode, Failure, TargetId};

use crate::browser::Browser;

/// A tab that downloads; closed when it goes.
pub(crate) struct DownloadTab<'a> {
    browser: &'a Browser,
    target: TargetId,
    session: CdpSession,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
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
struct Went {
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

    /// The tab's target, which is its main frame's name too.
    pub(crate) fn target(&self) -> &TargetId {
        &self.target
    }

    /// Goes to an address and returns when its download has begun.
    pub(crate) async fn download(&self, url: &str, deadline: Deadline) -> Result<(), Failure> {
        let failed = CdpError::into_failure;
        let begin = |method: &'static str, params: Value| self.session.begin(method, &params, deadline);
        let mut paused = self.session.events(EventFilter::methods(["Fetch.requestPaused"]));
        let patterns = json!([{"urlPattern": "*", "requestStage": "Response"}]);
        let preparations = [
            begin("Network.enable", json!({})),
            begin("Network.setBypassServiceWorker", json!({"bypass": true})),
            begin("Fetch.enable", json!({"patterns": patterns})),
        ];
        let going = begin("Page.navigate", json!({"url": url})).map_err(failed)?;
        for preparation in preparations {
            preparation.map_err(failed)?.answer().await.map_err(failed)?;
        }
        let mut refused = None;
        let mut going = std::pin::pin!(going.answer());
        let went: Went = loop {
            tokio::select! {
                biased;
                event = paused.next() => match event {
                    Ok(event) => refused = self.answer(&event, deadline).or(refused),
                    Err(CdpError::Missed { .. }) => {}
                    Err(error) => return Err(failed(error)),
                },
                went = &mut going => break went.and_then(|answer| answer.to()).map_err(failed)?,
            }
        };
        // A download that breaks off is asked for again by the browser, which must not wait for us.
        begin("Fetch.disable", json!({})).map_err(failed)?.answer().await.map_err(failed)?;
        match (refused, went) {
            (Some(reason), _) => Err(not_downloaded(&reason)),
            (None, Went { is_download: true, .. }) => Ok(()),
            (None, Went { error_text: Some(reason), .. }) => Err(not_downloaded(&reason)),
            (None, _) => Err(not_downloaded("the browser showed it in place of saving it")),
        }
    }

    /// Lets an answer of the site become a download; says why when it cannot.
    fn answer(&self, event: &Event, deadline: Deadline) -> Option<String> {
        let paused: Paused = event.to().ok()?;
        let request = &paused.request_id;
        let (method, params, refused) = match (&paused.response_error_reason, paused.response_status_code) {
            (Some(reason), _) => {
                let refused = format!("the site cannot be reached: {reason}");
                ("Fetch.failRequest", json!({"requestId": request, "errorReason": reason}), Some(refused))
            }
            (None, Some(301 | 302 | 303 | 307 | 308)) => {
                ("Fetch.continueResponse", json!({"requestId": request}), None)
            }
            (None, Some(status)) if status == 204 || status >= 300 => {
                let refused = format!("the site answered with status {status}");
                ("Fetch.failRequest", json!({"requestId": request, "errorReason": "Aborted"}), Some(refused))
            }
            (None, status) => {
                let headers = as_attachment(&paused.response_headers);
                let code = status.unwrap_or(200);
                let params = json!({"requestId": request, "responseCode": code, "responseHeaders": headers});
                ("Fetch.continueResponse", params, None)
            }
        };
        // When this fails the navigation fails, which is told.
        let _ = self.session.begin(method, &params, deadline);
        refused
    }
}

/// A site's headers, changed so that a browser saves what it sends under the name the site gives it.
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
    Failure::new(ErrorCode::DownloadFailed, format!("The download did not begin: {reason}."))
        .with_hint("Check the address, and whether one has to be logged in; `tabwire requests` shows what the page asked for.")
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
    fn what_a_site_would_show_becomes_an_attachment_under_its_own_name() {
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
