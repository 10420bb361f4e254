//! The actions of the spine: opening, listing, evaluating, closing.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_cdp::Deadline;
use tabwire_wire::api::{ActionAnswer, ActionRequest};
use tabwire_wire::{ErrorCode, Failure, TabId};

use crate::daemon::Daemon;
use crate::limits::ACTION_DEADLINE;
use crate::session::{Ready, Session};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Open {
    /// Absent: the demo page.
    url: Option<String>,
    #[serde(default)]
    new_tab: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Eval {
    expression: String,
    tab: Option<TabId>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Close {
    tab: Option<TabId>,
}

impl Daemon {
    pub(crate) async fn act(&self, name: &str, request: ActionRequest) -> Result<ActionAnswer, Failure> {
        let deadline = Deadline::after(request.timeout_ms.map_or(ACTION_DEADLINE, Duration::from_millis));
        match name {
            "open" => self.act_open(request, deadline).await,
            "tabs" => {
                let (session, Ready { live, notices }) = self.ready(&request).await?;
                live.ensure_tab().await?;
                let result = json!({"tabs": live.engine.tabs(deadline).await?});
                session.remember(&live);
                Ok(ActionAnswer { session: request.session, result, notices })
            }
            "eval" => {
                let params: Eval = read_params(&request.params)?;
                let (_, Ready { live, notices }) = self.ready(&request).await?;
                if params.tab.is_none() {
                    live.ensure_tab().await?;
                }
                let page = live.engine.page(params.tab).await?;
                let evaluated = page.evaluate(&params.expression, deadline).await?;
                let mut result = json!(evaluated);
                if let Some(members) = result.as_object_mut() {
                    members.insert("tab".to_owned(), json!(live.engine.tab_of(&page)));
                }
                Ok(ActionAnswer { session: request.session, result, notices })
            }
            "close" => self.act_close(request, deadline).await,
            other => Err(Failure::new(ErrorCode::UnknownMethod, format!("There is no action `{other}`."))
                .with_hint("The actions are: open, tabs, eval, close.")),
        }
    }

    async fn ready(&self, request: &ActionRequest) -> Result<(std::sync::Arc<Session>, Ready), Failure> {
        let session = self.sessions.obtain(&request.session)?;
        let ready = session.ready(&self.fleet, &request.options).await?;
        Ok((session, ready))
    }

    async fn act_open(&self, request: ActionRequest, deadline: Deadline) -> Result<ActionAnswer, Failure> {
        let params: Open = read_params(&request.params)?;
        let url = match params.url {
            Some(url) => checked_address(&url)?,
            None => format!("http://127.0.0.1:{}/demo", self.port),
        };
        let (session, Ready { live, notices }) = self.ready(&request).await?;
        let (page, outline) = match live.engine.page_to_open_in(params.new_tab).await? {
            Some(page) => {
                live.engine.navigate(&page, &url, deadline).await?;
                let outline = page.outline(deadline).await?;
                (page, outline)
            }
            None => {
                let page = live.open_first_tab(&url).await?;
                let outline = page.first_outline(&url, deadline).await?;
                (page, outline)
            }
        };
        let mut result = json!(outline);
        if let Some(members) = result.as_object_mut() {
            members.insert("tab".to_owned(), json!(live.engine.tab_of(&page)));
        }
        session.remember(&live);
        Ok(ActionAnswer { session: request.session, result, notices })
    }

    async fn act_close(&self, request: ActionRequest, deadline: Deadline) -> Result<ActionAnswer, Failure> {
        let params: Close = read_params(&request.params)?;
        let answer = |result| ActionAnswer { session: request.session.clone(), result, notices: Vec::new() };
        let nothing = || {
            let message = format!("Session {} has no browser.", request.session);
            Failure::new(ErrorCode::NoBackend, message)
                .with_hint("Run `tabwire status` to see the sessions there are.")
        };
        let session = self.sessions.find(&request.session).ok_or_else(nothing)?;
        if let Some(tab) = params.tab {
            let live = session.find_live().await.ok_or_else(nothing)?;
            live.engine.close_tab(tab, deadline).await?;
            session.remember(&live);
            return Ok(answer(json!({"closed": "tab", "tab": tab})));
        }
        let live = session.take_live().await.ok_or_else(nothing)?;
        self.sessions.forget(&request.session);
        let ownership = if live.browser.ownership.may_close() { "launched" } else { "attached" };
        if self.sessions.is_shared(&live).await {
            return Ok(answer(json!({"closed": "session", "browser": "kept: another session uses it"})));
        }
        self.fleet.stop(&live.browser).await?;
        let fate = if ownership == "launched" { "ended" } else { "left running: it was attached" };
        Ok(answer(json!({"closed": "session", "browser": fate})))
    }
}

fn read_params<T: for<'de> Deserialize<'de>>(params: &Value) -> Result<T, Failure> {
    let params = if params.is_null() { json!({}) } else { params.clone() };
    serde_json::from_value(params).map_err(|error| {
        Failure::new(ErrorCode::BadArgs, format!("The action's parameters are not valid: {error}."))
    })
}

/// Completes an address as a person types it; refuses what is not one.
fn checked_address(text: &str) -> Result<String, Failure> {
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
