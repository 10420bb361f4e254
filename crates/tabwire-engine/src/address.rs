//! An address as people type it: completed, or refused. Knows nothing of what may be visited.

use tabwire_wire::{ErrorCode, Failure};

/// Completes an address as a person types it; refuses what is not one.
///
/// # Errors
/// With `BAD_ARGS` and the reason.
pub fn checked_address(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let bad = |why: &str| {
        Failure::new(ErrorCode::BadArgs, format!("`{text}` cannot be opened: {why}."))
            .with_hint("Give an address such as https://example.org or example.org/path.")
    };
    if text.is_empty() {
        return Err(bad("it is empty"));
    }
    if text.chars().any(|letter| letter.is_control() || letter == ' ') {
        return Err(bad("it has blanks or control characters"));
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    match scheme {
        Some("http" | "https" | "about" | "data" | "file" | "chrome" | "blob" | "view-source") => {
            Ok(text.to_owned())
        }
        // `host:port` looks like a scheme; a host has a dot or is this machine.
        Some(host) if host == "localhost" || host.contains('.') => Ok(format!("http://{text}")),
        Some(_) => Err(bad("its scheme is not one a page can have")),
        None => Ok(format!("https://{text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::checked_address;

    #[test]
    fn addresses_are_completed_as_people_type_them() {
        for (typed, opened) in [
            ("https://example.org", "https://example.org"),
            ("example.org/a", "https://example.org/a"),
            ("localhost:8080/x", "http://localhost:8080/x"),
            ("127.0.0.1:1", "http://127.0.0.1:1"),
            ("about:blank", "about:blank"),
            ("data:text/html,hi", "data:text/html,hi"),
        ] {
            assert_eq!(checked_address(typed).as_deref(), Ok(opened));
        }
        for bad in
            ["", " ", "javascript:alert(1)", "javascript:1", "intranet:80", "two words", "a\nb", "mailto:x@y"]
        {
            assert!(checked_address(bad).is_err(), "{bad}");
        }
    }
}
