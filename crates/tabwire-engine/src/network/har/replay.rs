//! Serves recorded responses instead of the network.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::network::headers::{Header, HeaderList, is_header_name};
use crate::network::route::MockResponse;
use tabwire_secrets::{mask_body, mask_url};

/// Headers about the transfer encoding, which the recorded body does not have.
const TRANSFER_HEADERS: &[&str] =
    &["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"];

/// Recorded responses.
#[derive(Debug)]
pub(crate) struct HarReplay {
    records: Vec<Record>,
    /// Requests of the file without a usable response.
    pub(crate) unusable: usize,
    strict: bool,
    pub(crate) served: u64,
    pub(crate) missed: u64,
    /// Requests that the policy does not allow to be fulfilled.
    pub(crate) refused: u64,
}

#[derive(Debug)]
struct Record {
    method: String,
    url: String,
    sent: Option<String>,
    response: MockResponse,
    is_served: bool,
}

#[derive(Deserialize)]
struct File {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct PostData {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    status: i64,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    content: Content,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    size: Option<f64>,
    text: Option<String>,
    encoding: Option<String>,
}

impl HarReplay {
    /// Parses a HAR file.
    pub(crate) fn read(content: &[u8], strict: bool) -> Result<Self, Failure> {
        let file: File = serde_json::from_slice(content).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The file is not an HTTP Archive (HAR): {error}."))
                .with_remedy(Remedy::new(
                    "Use a file from {} or from the developer tools of a browser.",
                    [Step::action("har")],
                ))
        })?;
        let count = file.log.entries.len();
        let records: Vec<Record> = file.log.entries.into_iter().filter_map(Entry::into_record).collect();
        if records.is_empty() {
            return Err(Failure::new(
                ErrorCode::BadArgs,
                "The archive has no response that can be replayed.",
            )
            .with_remedy(Remedy::new(
                "Record it with bodies: start a recording with {}, load the page, stop the recording.",
                [Step::action("har")],
            )));
        }
        Ok(Self { unusable: count - records.len(), records, strict, served: 0, missed: 0, refused: 0 })
    }

    /// Number of responses.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether requests that are not in the file fail.
    pub(crate) fn is_strict(&self) -> bool {
        self.strict
    }

    /// The response for a request. Equal requests get their responses in order, then the last one again.
    pub(crate) fn find(&mut self, method: &str, url: &str, sent: Option<&str>) -> Option<MockResponse> {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let masked = mask_url(url);
        let fits = |record: &Record| {
            record.method.eq_ignore_ascii_case(method) && (record.url == url || record.url == masked)
        };
        let same_body = |record: &Record| match (&record.sent, sent) {
            (Some(kept), Some(sent)) => kept == sent || *kept == mask_body(sent, ""),
            (kept, sent) => kept.is_none() && sent.is_none(),
        };
        let candidates = |exact: bool| {
            let meant = move |record: &Record| fits(record) && (!exact || same_body(record));
            let next = self.records.iter().position(|record| meant(record) && !record.is_served);
            next.or_else(|| self.records.iter().rposition(meant))
        };
        let Some(index) = candidates(true).or_else(|| candidates(false)) else {
            self.missed += 1;
            return None;
        };
        self.served += 1;
        self.records[index].is_served = true;
        Some(self.records[index].response.clone())
    }
}

impl Entry {
    fn into_record(self) -> Option<Record> {
        let status = u16::try_from(self.response.status).ok()?;
        // A 304 response is useless to a page without a cached copy.
        if !(200..600).contains(&status) || status == 304 {
            return None;
        }
        let content = self.response.content;
        let body = match (content.text, content.encoding.as_deref()) {
            (Some(text), Some("base64")) => BASE64_STANDARD.decode(text).ok()?,
            (Some(text), _) => text.into_bytes(),
            (None, _) if content.size.unwrap_or(0.0) > 0.0 && !(300..400).contains(&status) => return None,
            (None, _) => Vec::new(),
        };
        let is_kept = |header: &Header| {
            is_header_name(&header.name)
                && !TRANSFER_HEADERS.iter().any(|name| header.name.eq_ignore_ascii_case(name))
        };
        let headers: HeaderList = self.response.headers.into_iter().filter(is_kept).collect();
        let url = self.request.url.split('#').next().unwrap_or_default().to_owned();
        let sent = self.request.post_data.and_then(|data| data.text);
        let response = MockResponse { status, headers, body };
        Some(Record { method: self.request.method, url, sent, response, is_served: false })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn entry(method: &str, url: &str, sent: Option<&str>, body: &str) -> Value {
        let mut request = json!({"method": method, "url": url});
        if let Some(sent) = sent {
            request["postData"] = json!({"mimeType": "text/plain", "text": sent});
        }
        let headers = json!([{"name": "Content-Encoding", "value": "br"}, {"name": "X", "value": "1"}]);
        json!({"request": request, "response": {"status": 200, "headers": headers, "content": {"text": body}}})
    }

    fn archive(entries: &[Value]) -> HarReplay {
        HarReplay::read(json!({"log": {"entries": entries}}).to_string().as_bytes(), false).expect("valid")
    }

    fn body(archive: &mut HarReplay, method: &str, url: &str, sent: Option<&str>) -> Option<String> {
        archive.find(method, url, sent).map(|response| String::from_utf8(response.body).expect("text"))
    }

    #[test]
    fn responses_are_served_in_order_and_the_last_one_repeats() {
        let url = "http://a.test/x";
        let mut archive = archive(&[entry("GET", url, None, "one"), entry("GET", url, None, "two")]);
        let mut next = || body(&mut archive, "GET", "http://a.test/x#part", None);
        assert_eq!([next(), next(), next()].map(Option::unwrap_or_default), ["one", "two", "two"]);
        assert_eq!(body(&mut archive, "POST", url, None), None);
        assert_eq!((archive.served, archive.missed), (3, 1));
        assert_eq!(archive.find("GET", url, None).map(|response| response.headers.iter().count()), Some(1));
    }

    #[test]
    fn requests_match_by_body_with_masked_secrets() {
        let url = "http://a.test/x?token=•••";
        let mut archive = archive(&[entry("POST", url, Some("a"), "A"), entry("POST", url, Some("b"), "B")]);
        assert_eq!(body(&mut archive, "POST", "http://a.test/x?token=5", Some("b")).as_deref(), Some("B"));
        assert_eq!(body(&mut archive, "POST", "http://a.test/x?token=6", Some("a")).as_deref(), Some("A"));
    }

    #[test]
    fn invalid_archives_are_refused() {
        for bad in ["", "{}", r#"{"log": {"entries": []}}"#, "[1"] {
            assert_eq!(HarReplay::read(bad.as_bytes(), true).expect_err(bad).code, ErrorCode::BadArgs);
        }
        let without_body = json!({"request": {"method": "GET", "url": "x"},
            "response": {"status": 200, "content": {"size": 5}}});
        let archive = archive(&[without_body, entry("GET", "y", None, "")]);
        assert_eq!((archive.len(), archive.unusable), (1, 1));
    }
}
