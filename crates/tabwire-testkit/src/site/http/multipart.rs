//! Parses `multipart/form-data` bodies.

use crate::site::limits;

/// One field or file of an upload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<'body> {
    /// The field's name.
    pub(crate) field: String,
    /// The file name that the browser sent; `None` for a plain field.
    pub(crate) file: Option<String>,
    /// The content type that the browser sent; empty for a plain field.
    pub(crate) content_type: String,
    /// The content.
    pub(crate) content: &'body [u8],
}

/// Splits a body by the boundary in its content type; `None` if it is not multipart.
pub(crate) fn parts<'body>(content_type: &str, body: &'body [u8]) -> Option<Vec<Part<'body>>> {
    let (kind, boundary) = content_type.split_once("boundary=")?;
    if !kind.trim_start().starts_with("multipart/form-data") {
        return None;
    }
    let boundary = boundary.split(';').next().unwrap_or_default().trim().trim_matches('"');
    let marker = [b"--", boundary.as_bytes()].concat();
    let mut rest = body.get(find(body, &marker)? + marker.len()..)?;
    let separator = [b"\r\n".as_slice(), &marker].concat();
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") && parts.len() < limits::UPLOAD_PARTS {
        rest = rest.strip_prefix(b"\r\n")?;
        let end = find(rest, &separator)?;
        parts.push(part(rest.get(..end)?)?);
        rest = rest.get(end + separator.len()..)?;
    }
    Some(parts)
}

fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let head_end = find(bytes, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(bytes.get(..head_end)?).into_owned();
    let header = |wanted: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim().to_owned())
    };
    let disposition = header("content-disposition")?;
    Some(Part {
        field: find_quoted(&disposition, "; name=")?,
        file: find_quoted(&disposition, "; filename="),
        content_type: header("content-type").unwrap_or_default(),
        content: bytes.get(head_end + 4..)?,
    })
}

/// Finds a quoted value. Browsers encode a quotation mark in it as `%22`.
fn find_quoted(text: &str, name: &str) -> Option<String> {
    let (_, after) = text.split_once(name)?;
    let (value, _) = after.strip_prefix('"')?.split_once('"')?;
    Some(value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    // Compares only the first byte at most positions, which keeps large uploads fast.
    let first = wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| byte == first) {
        if bytes.get(from + at..)?.starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=x-y";

    #[test]
    fn fields_and_files_are_distinguished() {
        let body = "--x-y\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n\
            --x-y\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22b.txt\"\r\n\
            Content-Type: text/plain\r\n\r\none\r\ntwo\r\n--x-y--\r\n";
        let parts = parts(TYPE, body.as_bytes()).expect("an upload");
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].field.as_str(), parts[0].file.as_deref(), parts[0].content),
            ("note", None, b"hi".as_slice())
        );
        assert_eq!(parts[1].file.as_deref(), Some("a\"b.txt"));
        assert_eq!(
            (parts[1].content_type.as_str(), parts[1].content),
            ("text/plain", b"one\r\ntwo".as_slice())
        );
    }

    #[test]
    fn invalid_or_truncated_upload_is_none() {
        assert_eq!(parts("text/plain", b"--x-y--"), None);
        assert_eq!(parts(TYPE, b"rubbish"), None);
        assert_eq!(parts(TYPE, b"--x-y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhalf"), None);
        assert_eq!(parts(TYPE, b"--x-y--\r\n"), Some(Vec::new()));
    }
}
