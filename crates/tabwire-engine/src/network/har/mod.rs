//! Writes requests as an HTTP Archive (HAR 1.2).

pub(crate) mod recording;
pub(crate) mod replay;

use std::collections::HashSet;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::events::ResourceTiming;
use super::har::recording::Recording;
use super::headers::HeaderList;
use super::log::body::Body;
use super::log::entry::{Origin, Outcome, RequestEntry, milliseconds_between};
use tabwire_secrets::{mask_body, mask_url};

/// How requests are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HarForm {
    /// Whether cookies, credentials and passwords are included.
    pub(crate) shows_secrets: bool,
}

impl HarForm {
    /// Writes requests and their recorded bodies. Masks secrets of requests that may not be shown.
    pub(crate) fn write(
        self,
        entries: &[RequestEntry],
        masked: &HashSet<u64>,
        recording: &Recording,
    ) -> Value {
        let form = |entry: &RequestEntry| {
            let shows_secrets = self.shows_secrets && !masked.contains(&entry.number);
            Self { shows_secrets }.entry(entry, recording)
        };
        let entries: Vec<Value> = entries.iter().map(form).collect();
        json!({"log": {
            "version": "1.2",
            "creator": {"name": "Tabwire", "version": env!("CARGO_PKG_VERSION")},
            "pages": [],
            "entries": entries,
        }})
    }

    fn entry(self, entry: &RequestEntry, recording: &Recording) -> Value {
        let time = entry.milliseconds().unwrap_or(0);
        let timing = entry.response.as_ref().and_then(|head| head.timing.as_ref());
        let mut written = json!({
            "startedDateTime": date(entry.wall),
            "time": time,
            "request": self.request(entry, recording),
            "response": self.response(entry, recording),
            "cache": {},
            "timings": timings(timing, entry),
            "_resourceType": entry.kind.as_str(),
        });
        if let Some(address) = entry.response.as_ref().and_then(|head| head.remote_address.as_ref()) {
            written["serverIPAddress"] = json!(address);
        }
        if let Outcome::Failed(error) = &entry.outcome {
            written["response"]["_error"] = json!(error);
        }
        match entry.origin {
            Some(Origin::MemoryCache) => written["_fromCache"] = json!("memory"),
            Some(Origin::DiskCache) => written["_fromCache"] = json!("disk"),
            _ => {}
        }
        if entry.message_count > 0 {
            written["_webSocketMessages"] = json!(entry.messages);
        }
        written
    }

    fn request(self, entry: &RequestEntry, recording: &Recording) -> Value {
        let sent = entry.post_data.clone().or_else(|| recording.sent(entry.number));
        let mut written = json!({
            "method": entry.method,
            "url": self.url(&entry.url),
            "httpVersion": version(entry),
            "cookies": [],
            "headers": self.headers(&entry.headers),
            "queryString": self.query(&entry.url),
            "headersSize": -1,
            "bodySize": sent.as_ref().map_or(0, String::len),
        });
        if let Some(sent) = sent {
            let content_type = entry.headers.find("content-type").unwrap_or_default();
            let text = if self.shows_secrets { sent } else { mask_body(&sent, content_type) };
            written["postData"] = json!({"mimeType": content_type, "text": text});
        }
        written
    }

    fn response(self, entry: &RequestEntry, recording: &Recording) -> Value {
        let head = entry.response.clone().unwrap_or_default();
        let mut content = json!({"size": 0, "mimeType": entry.content_type()});
        match recording.body(entry.number) {
            Some(Body::Text(text)) => {
                content["size"] = json!(text.len());
                content["text"] = json!(text);
            }
            Some(Body::Bytes(bytes)) => {
                content["size"] = json!(bytes.len());
                content["text"] = json!(BASE64_STANDARD.encode(&bytes));
                content["encoding"] = json!("base64");
            }
            None if entry.bytes > 0 && entry.outcome == Outcome::Done => {
                content["size"] = json!(entry.bytes);
                content["comment"] = json!("the body was not recorded");
            }
            None => {}
        }
        let location = head.headers.find("location").filter(|_| entry.outcome == Outcome::Redirected);
        json!({
            "status": head.status,
            "statusText": head.status_text,
            "httpVersion": version(entry),
            "cookies": [],
            "headers": self.headers(&head.headers),
            "content": content,
            "redirectURL": location.map(|location| self.url(location)).unwrap_or_default(),
            "headersSize": -1,
            "bodySize": entry.bytes,
        })
    }

    fn url(self, url: &str) -> String {
        if self.shows_secrets { url.to_owned() } else { mask_url(url) }
    }

    fn headers(self, headers: &HeaderList) -> Value {
        if self.shows_secrets { headers.to_value() } else { headers.masked().to_value() }
    }

    fn query(self, url: &str) -> Vec<Value> {
        let url = self.url(url);
        let url = url.split_once('#').map_or(url.as_str(), |(url, _)| url);
        let Some((_, query)) = url.split_once('?') else { return Vec::new() };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.map(|(name, value)| json!({"name": name, "value": value})).collect()
    }
}

fn version(entry: &RequestEntry) -> String {
    let protocol = entry.response.as_ref().and_then(|head| head.protocol.clone());
    match protocol.as_deref() {
        Some("h2") => "HTTP/2".to_owned(),
        Some("h3") => "HTTP/3".to_owned(),
        Some(other) => other.to_uppercase(),
        None => "HTTP/1.1".to_owned(),
    }
}

/// The phases of a request in milliseconds; -1 for absent ones.
pub(crate) fn timings(timing: Option<&ResourceTiming>, entry: &RequestEntry) -> Value {
    let Some(timing) = timing else {
        let time = entry.milliseconds().unwrap_or(0);
        return json!({"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": time, "receive": 0});
    };
    let step = |from: f64, to: f64| if from < 0.0 || to < from { -1.0 } else { to - from };
    let first = [timing.dns_start, timing.connect_start, timing.send_start];
    let blocked = first.into_iter().find(|start| *start >= 0.0).unwrap_or(-1.0);
    let headers_at = timing.request_time + timing.receive_headers_end.max(0.0) / 1000.0;
    json!({
        "blocked": blocked,
        "dns": step(timing.dns_start, timing.dns_end),
        "connect": step(timing.connect_start, timing.connect_end),
        "ssl": step(timing.ssl_start, timing.ssl_end),
        "send": step(timing.send_start, timing.send_end).max(0.0),
        "wait": step(timing.send_end, timing.receive_headers_end).max(0.0),
        "receive": entry.ended.map_or(0, |ended| milliseconds_between(headers_at, ended)),
    })
}

/// Unix time in seconds as `2026-11-15T09:20:36.123Z`.
fn date(seconds: f64) -> String {
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let (days, rest) = (time.as_secs() / 86_400, time.as_secs() % 86_400);
    // Years start in March here, so that the leap day is the last day.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", time.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_written_as_iso_8601() {
        assert_eq!(date(0.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(date(951_782_400.5), "2000-02-29T00:00:00.500Z");
        assert_eq!(date(1_794_734_436.25), "2026-11-15T09:20:36.250Z");
    }
}
