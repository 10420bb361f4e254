//! Table: MIME types of files by the endings of their names. Chrome reports no type for a download, so the type comes
//! from the response where the engine sees it, and from the name otherwise.

const TYPES: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("tar", "application/x-tar"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("csv", "text/csv"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("ics", "text/calendar"),
    ("js", "text/javascript"),
    ("css", "text/css"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("epub", "application/epub+zip"),
    ("bin", "application/octet-stream"),
];

/// The MIME type for a file name; none for an unknown ending.
pub(super) fn mime_type_of(name: &str) -> Option<&'static str> {
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

/// The MIME type in a Content-Type header, without parameters; none if it has another form.
pub(crate) fn mime_type_in(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let (kind, name) = essence.split_once('/')?;
    (essence.len() <= 120 && is_token(kind) && is_token(name)).then_some(essence)
}

/// The MIME type of a `data:` URL.
pub(crate) fn mime_type_of_data(url: &str) -> Option<String> {
    mime_type_in(url.strip_prefix("data:")?.split(',').next()?)
}

#[cfg(test)]
mod tests {
    use super::{mime_type_in, mime_type_of, mime_type_of_data};

    #[test]
    fn types_of_responses_have_no_parameters() {
        assert_eq!(mime_type_in("Text/HTML; charset=utf-8").as_deref(), Some("text/html"));
        for bad in ["", "text", "/", "a/b c", "a/<b>", "a/b/c"] {
            assert_eq!(mime_type_in(bad), None, "{bad:?}");
        }
        assert_eq!(mime_type_of_data("data:text/plain;base64,aGk=").as_deref(), Some("text/plain"));
        assert_eq!(mime_type_of_data("data:,hi"), None);
    }

    #[test]
    fn type_follows_from_the_ending() {
        assert_eq!(mime_type_of("Report 7.PDF"), Some("application/pdf"));
        assert_eq!(mime_type_of("report"), None);
        assert_eq!(mime_type_of("a.unknown"), None);
    }
}
