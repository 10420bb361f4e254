//! Checks file names against the `accept` attribute of a file input.

/// The media types of common extensions.
const KINDS: &[(&str, &str)] = &[
    ("aac", "audio/aac"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "text/xml"),
    ("zip", "application/zip"),
];

/// Whether a file input accepts a file of this name. Files of unknown type are accepted.
pub(crate) fn is_accepted(accept: &str, name: &str) -> bool {
    let wanted: Vec<String> =
        accept.split(',').map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty()).collect();
    let name = name.to_lowercase();
    let kind = name.rsplit_once('.').and_then(|(_, extension)| {
        KINDS.iter().find(|(known, _)| *known == extension).map(|(_, kind)| *kind)
    });
    let only_extensions = wanted.iter().all(|word| word.starts_with('.'));
    if wanted.is_empty() || kind.is_none() && !only_extensions {
        return true;
    }
    wanted.iter().any(|word| match (word.strip_suffix("/*"), kind) {
        _ if word.starts_with('.') => name.ends_with(word.as_str()),
        _ if word == "*/*" => true,
        (Some(family), Some(kind)) => kind.split('/').next() == Some(family),
        (None, Some(kind)) => word == kind,
        (_, None) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_accepted;

    #[test]
    fn files_match_as_in_a_file_chooser() {
        for (accept, name, accepted) in [
            ("", "a.exe", true),
            ("image/png,.svg", "a.PNG", true),
            ("image/png, .svg", "a.svg", true),
            ("image/png,.svg", "a.txt", false),
            ("image/*", "a.jpeg", true),
            ("image/*", "a.pdf", false),
            ("image/*", "a.unknown", true),
            (".pdf", "a.unknown", false),
            (".pdf", "a", false),
            ("*/*", "a.txt", true),
        ] {
            assert_eq!(is_accepted(accept, name), accepted, "{accept} {name}");
        }
    }
}
