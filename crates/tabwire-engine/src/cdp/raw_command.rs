//! CDP commands that a caller sends itself, in a CDP session of their own.

use std::fmt;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, TargetId};
use tabwire_cdp::{CdpError, Connection, Deadline, TargetRegistry};

/// Sends a caller's CDP commands as a CDP client, judged by the policy's table of CDP methods.
pub trait RawCdp: Send + Sync + fmt::Debug {
    /// Sends a command to a page and returns its result.
    ///
    /// # Errors
    /// When the policy or the browser refuses it.
    fn send<'a>(
        &'a self,
        target: &'a TargetId,
        method: &'a str,
        params: &'a Value,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Value, Failure>>;
}

/// Domains whose commands work only after `enable`, with the domains to enable.
const ENABLED_FIRST: &[(&str, &[&str])] = &[
    ("Accessibility", &["Accessibility"]),
    ("Animation", &["Animation"]),
    ("CSS", &["DOM", "CSS"]),
    ("DOM", &["DOM"]),
    ("DOMStorage", &["DOMStorage"]),
    ("IndexedDB", &["IndexedDB"]),
    ("LayerTree", &["DOM", "LayerTree"]),
    ("Overlay", &["DOM", "Overlay"]),
    ("Performance", &["Performance"]),
];

/// Sends one command to a page over a connection, in a new CDP session that ends afterwards. Enables its domain first.
///
/// # Errors
/// When the browser, or the guard of the connection, refuses it.
pub async fn send_raw_command(
    connection: &Connection,
    target: &TargetId,
    method: &str,
    params: &Value,
    deadline: Deadline,
) -> Result<Value, Failure> {
    let registry = TargetRegistry::start(connection, deadline).await.map_err(CdpError::into_failure)?;
    let session = registry.attach(target, deadline).await.map_err(CdpError::into_failure)?;
    let domain = method.split('.').next().unwrap_or_default();
    let enabled = ENABLED_FIRST.iter().find(|(name, _)| *name == domain).map_or(&[][..], |(_, all)| *all);
    for domain in enabled.iter().filter(|domain| method != format!("{domain}.enable")) {
        // The command itself reports why it cannot run.
        let _ = session.send(format!("{domain}.enable"), &json!({}), deadline).await;
    }
    let response = session.send(method.to_owned(), params, deadline).await;
    let outcome = response.and_then(|response| response.to::<Value>()).map_err(CdpError::into_failure);
    // The connection may be gone, and the session with it.
    let detach = json!({"sessionId": session.id()});
    let _ = connection.browser().send("Target.detachFromTarget", &detach, deadline).await;
    outcome
}

/// Refuses commands that concern other tabs or the browser as a whole: they are not about the page.
///
/// # Errors
/// With `BAD_ARGS` for a text that is no method, with `POLICY_DENIED` for a method of such a domain.
pub(crate) fn check_method(method: &str) -> Result<(), Failure> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let parts = method.split_once('.').filter(|(domain, name)| is_word(domain) && is_word(name));
    let Some((domain, _)) = parts else {
        return Err(Failure::new(ErrorCode::BadArgs, format!("`{method}` is not a CDP method."))
            .with_remedy("Give domain and name, such as Page.getLayoutMetrics."));
    };
    // Chromium accepts some browser-level commands on a session of a page too, `Target.createTarget` among
    // them.
    let is_plain = matches!(method, "Browser.getVersion" | "Target.getTargetInfo");
    if matches!(domain, "Target" | "Browser" | "Tracing" | "Extensions" | "SystemInfo") && !is_plain {
        let message = format!("{method} concerns the whole browser, and `cdp` sends commands to one page.");
        return Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
            "Use an action, or connect a CDP client with the URL of {}.",
            [Step::command("tabwire cdp-url")],
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_methods_of_a_page_are_sent() {
        for method in ["Page.getLayoutMetrics", "DOM.getDocument", "Browser.getVersion"] {
            assert!(check_method(method).is_ok(), "{method}");
        }
        for (method, code) in [
            ("", ErrorCode::BadArgs),
            ("Page", ErrorCode::BadArgs),
            ("Page.a.b", ErrorCode::BadArgs),
            ("Page.get layout", ErrorCode::BadArgs),
            ("Target.closeTarget", ErrorCode::PolicyDenied),
            ("Browser.close", ErrorCode::PolicyDenied),
            ("Tracing.start", ErrorCode::PolicyDenied),
        ] {
            assert_eq!(check_method(method).map_err(|failure| failure.code), Err(code), "{method}");
        }
    }
}
