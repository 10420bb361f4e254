//! A session as one HTML file: the rows of the audit log with their screenshots. It has no script, and its policy allows only
//! its own style and screenshots. Everything that pages and clients wrote is text in it.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tabwire_audit::Row;

const STYLE: &str = include_str!("export.css");

/// The SHA-256 of the style, which the document's policy names. The test of the export in a browser fails if it is wrong.
const STYLE_HASH: &str = "U5siZSfnfbd5Chb59ZJ4Ytm0khUJ2jqqUw9H9pdWArs=";

/// The document of a session.
pub fn document(title: &str, rows: &[Row], mut screenshot: impl FnMut(&Row) -> Option<Vec<u8>>) -> String {
    let mut html = String::new();
    let title = escaped(title);
    let (first, last) = (time_of(rows.first()), time_of(rows.last()));
    let refused = rows.iter().filter(|row| !row.is_ok()).count();
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Session {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>Session {title}</h1>\
         <p>{} actions, {refused} failed. {first} to {last} (UTC). Written by Tabwire.</p></header>\n<main><ol>\n",
        rows.len(),
    );
    for row in rows {
        write_row(&mut html, row, screenshot(row));
    }
    html.push_str("</ol></main>\n</body>\n</html>\n");
    html
}

fn time_of(row: Option<&Row>) -> String {
    row.map(|row| escaped(row.time.trim_end_matches('Z').replace('T', " ").as_str())).unwrap_or_default()
}

fn write_row(html: &mut String, row: &Row, screenshot: Option<Vec<u8>>) {
    let look = if row.is_ok() { "" } else { " class=\"failed\"" };
    let origin = row.origin.as_deref().map(escaped).unwrap_or_default();
    let _ = write!(
        html,
        "<li{look}><details><summary><time>{}</time><strong>{}</strong><span>{origin}</span><em>{}</em></summary>\n<dl>",
        time_of(Some(row)),
        escaped(&row.action),
        if row.is_ok() { format!("{:.0} ms", row.duration_ms) } else { escaped(&row.result) },
    );
    let reason = row.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let facts = [
        ("Row", row.number.to_string()),
        ("Client", row.client.label()),
        ("Kind", row.effect.clone()),
        ("Decision", format!("{} by {}{reason}", row.decision, row.decided_by)),
        ("Result", row.result.clone()),
        ("Message", row.message.clone().unwrap_or_default()),
        ("Parameters", json_text(&row.params)),
        ("Changes", json_text(&row.changes)),
    ];
    for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
        let _ = write!(html, "<dt>{name}</dt><dd>{}</dd>", escaped(text));
    }
    html.push_str("</dl></details>");
    if let Some(screenshot) = screenshot {
        let _ = write!(
            html,
            "\n<img alt=\"The page after {}\" src=\"data:image/jpeg;base64,{}\">",
            escaped(&row.action),
            STANDARD.encode(screenshot)
        );
    }
    html.push_str("</li>\n");
}

fn json_text(value: &serde_json::Value) -> String {
    if value.is_null() { String::new() } else { serde_json::to_string_pretty(value).unwrap_or_default() }
}

/// Text without markup, for elements and attributes. Control characters are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            letter if letter.is_control() => {}
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_rows_is_text_in_the_document() {
        let row: Row = serde_json::from_value(serde_json::json!({
            "number": 1, "time": "2026-11-15T10:02:03.004Z", "duration_ms": 1.5, "session": {"name": "work"},
            "client": {"name": "<script>alert(1)</script>", "transport": "socket"}, "action": "click\"><img src=x>",
            "effect": "act", "origin": "https://a.test/'onload='x", "decision": "allow", "decided_by": "policy open",
            "result": "ok", "params": {"target": "</style><b>x</b>"},
        }))
        .expect("a row");
        let html = document("<i>work</i>", &[row], |_| Some(vec![1, 2, 3]));
        for markup in ["<script", "<img src=x", "<b>", "<i>", "'onload"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("data:image/jpeg;base64,AQID"), "{html}");
    }
}
