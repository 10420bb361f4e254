//! HTTP discovery (`/json/...`), with the responses of Chrome.

use bytes::Bytes;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::discovery::{target_body, version_body};

use super::view::{View, identity_of};
use super::{CdpEndpoint, ServedSession};
use crate::http::gate::Scope;
use crate::http::handler::caller_of;
use crate::http::server::{HttpResponse, json as json_response, page};
use crate::limits::ACTION_DEADLINE;

impl CdpEndpoint {
    /// `/json/version`: the browser's version and websocket URL.
    pub(crate) async fn json_version(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let served = self.served_session(scope, request).await?;
        let version = served.live.engine.version(ACTION_DEADLINE).await?;
        Ok(json_response(StatusCode::OK, &version_body(&version, &self.websocket_of(request, &served))))
    }

    /// `/json/list`: the targets that the client sees.
    pub(crate) async fn json_list(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let served = self.served_session(scope, request).await?;
        let listed = self.command(request, &served, "Target.getTargets", json!({})).await?;
        let Some(listed) = listed else { return Ok(json_response(StatusCode::OK, &json!([]))) };
        let infos = listed.get("targetInfos").and_then(Value::as_array).cloned().unwrap_or_default();
        let bodies = self.describe(request, &served, &infos).await?;
        Ok(json_response(StatusCode::OK, &bodies))
    }

    /// `/json/protocol`: the commands and events of the browser.
    pub(crate) async fn json_protocol(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let served = self.served_session(scope, request).await?;
        let version = served.live.engine.version(ACTION_DEADLINE).await?;
        let product = version.get("product").and_then(Value::as_str).unwrap_or_default().to_owned();
        let source = served.live.browser.protocol_source(product);
        let described = self.browsers.describe_protocol(source).await?;
        Ok(page(StatusCode::OK, "application/json", "default-src 'none'", Bytes::from(described)))
    }

    /// `/json/new?URL`: opens a page.
    pub(crate) async fn json_new(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
    ) -> Result<HttpResponse, Failure> {
        let served = self.served_session(scope, request).await?;
        let query = request.uri().query().unwrap_or_default();
        let url =
            percent_decode(query).filter(|url| !url.is_empty()).unwrap_or_else(|| "about:blank".to_owned());
        let created = self.command(request, &served, "Target.createTarget", json!({"url": url})).await?;
        let target = created.and_then(|created| Some(created.get("targetId")?.as_str()?.to_owned()));
        let Some(target) = target else {
            return Err(Failure::new(ErrorCode::CdpError, "The browser opened no page.")
                .with_remedy("Check the URL, and that the session's policy allows it."));
        };
        let info =
            self.command(request, &served, "Target.getTargetInfo", json!({"targetId": target})).await?;
        let info = info.and_then(|info| info.get("targetInfo").cloned()).unwrap_or_default();
        let bodies = self.describe(request, &served, &[info]).await?;
        Ok(json_response(StatusCode::OK, &bodies.first().cloned().unwrap_or_default()))
    }

    /// `/json/activate/ID` and `/json/close/ID`.
    pub(crate) async fn json_act(
        &self,
        scope: &Scope,
        request: &Request<Incoming>,
        (method, done): (&'static str, &'static str),
        target: &str,
    ) -> Result<HttpResponse, Failure> {
        let served = self.served_session(scope, request).await?;
        let response = self.command(request, &served, method, json!({"targetId": target})).await?;
        Ok(match response {
            Some(_) => plain(StatusCode::OK, done.to_owned()),
            None => plain(StatusCode::NOT_FOUND, format!("No such target id: {target}")),
        })
    }

    /// The bodies of targets. Targets whose URL the client may not know are left out.
    async fn describe(
        &self,
        request: &Request<Incoming>,
        served: &ServedSession,
        infos: &[Value],
    ) -> Result<Vec<Value>, Failure> {
        let version = served.live.engine.version(ACTION_DEADLINE).await?;
        let revision = version.get("revision").and_then(Value::as_str).unwrap_or_default();
        let base = self.base_of(request, &served.session);
        let is_hidden = |info: &&Value| info.get("url").and_then(Value::as_str) == Some("");
        let is_listed = |info: &&Value| {
            let kind = info.get("type").and_then(Value::as_str).unwrap_or_default();
            !matches!(kind, "tab" | "browser") && !is_hidden(info)
        };
        Ok(infos.iter().filter(is_listed).map(|info| target_body(info, &base, revision)).collect())
    }

    /// Sends a command as the client of this request; `None` when the browser refuses it.
    async fn command(
        &self,
        request: &Request<Incoming>,
        served: &ServedSession,
        method: &'static str,
        params: Value,
    ) -> Result<Option<Value>, Failure> {
        let process = caller_of(request).find_process().await;
        let view = View::read(request, served.default_view)?;
        let key = &served.session.key;
        let identity = identity_of(key, None, process);
        let guard = self.guard_of(&served.session, &served.live);
        let options = view.options(&served.live, guard, identity);
        let place = (key.clone(), process, view);
        let command = (method, params);
        let response = self.listers.send(&place, &served.live, options, command, &self.tasks).await?;
        Ok(response.ok())
    }
}

fn plain(status: StatusCode, text: String) -> HttpResponse {
    page(status, "text/plain; charset=utf-8", "default-src 'none'", Bytes::from(text))
}

/// Decodes `%XX`; `None` if the text is not UTF-8 afterwards.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |at: usize| tail.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (*first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_new_pages_are_decoded() {
        assert_eq!(
            percent_decode("http://a.test/%20%C3%A4?x=1&y=%"),
            Some("http://a.test/ ä?x=1&y=%".to_owned())
        );
        assert_eq!(percent_decode("%ff"), None);
        assert_eq!(percent_decode(""), Some(String::new()));
    }
}
