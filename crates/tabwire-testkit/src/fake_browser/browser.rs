//! Decides what a fake browser sends for each frame it reads. Does no I/O and uses no clock.

use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Fault, Script, duration};
use super::targets::{Address, ConnectionId, Outcome, Targets};

/// One step on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send a frame with these bytes, valid or not.
    Send(Vec<u8>),
    /// Send a frame with these bytes after a delay, without delaying other frames.
    SendLater(Duration, Vec<u8>),
    /// Send the first half of a frame, then exit.
    SendHalfAndExit(Vec<u8>),
    /// Stop reading from all connections for this long.
    StallReads(Duration),
    /// Exit normally.
    Exit,
}

/// The fake browser's state.
#[derive(Debug)]
pub struct FakeBrowser {
    script: Script,
    targets: Targets,
}

impl FakeBrowser {
    /// Creates a browser with one blank page and a script of faults.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script, targets: Targets::with_one_page() }
    }

    /// Removes a disconnected peer.
    pub fn forget(&mut self, connection: ConnectionId) {
        self.targets.forget(connection);
    }

    /// The steps for a new peer, before its first frame.
    pub fn connected(&mut self, connection: ConnectionId) -> Vec<(ConnectionId, Step)> {
        match self.script.take("@connect") {
            Some(fault) => apply_fault(fault, &(connection, None), &json!({"method": "Inspector.connected"})),
            None => Vec::new(),
        }
    }

    /// The steps for one frame. Frames that are not CDP cause a protocol error, as in Chrome.
    pub fn received(&mut self, connection: ConnectionId, frame: &[u8]) -> Vec<(ConnectionId, Step)> {
        let Ok(request) = serde_json::from_slice::<Value>(frame) else {
            let error = json!({"error": {"code": -32700, "message": "JSON: parse error"}});
            return vec![(connection, Step::Send(bytes(&error)))];
        };
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let session = request.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        if session.as_ref().is_some_and(|session| !self.targets.has_session(connection, session)) {
            // As in Chrome, this error has no `sessionId`.
            let error = json!({"code": -32001, "message": "Session with given id not found."});
            return vec![(connection, Step::Send(bytes(&json!({"id": id, "error": error}))))];
        }
        let from = (connection, session);
        let mut events = Vec::new();
        let fault = self.script.take(method);
        let outcome = match fault {
            Some(Fault::Never) => return Vec::new(),
            _ => self.outcome(&from, method, request.get("params").unwrap_or(&Value::Null), &mut events),
        };
        let mut response = match outcome {
            Ok(result) => json!({"id": id, "result": result}),
            Err(message) => json!({"id": id, "error": {"code": -32601, "message": message}}),
        };
        if let Some(session) = &from.1 {
            response["sessionId"] = json!(session);
        }
        let mut steps: Vec<_> = events.into_iter().map(|(to, event)| send_event(&to, event)).collect();
        match fault {
            Some(fault) => steps.extend(apply_fault(fault, &from, &response)),
            None => steps.push((connection, Step::Send(bytes(&response)))),
        }
        if method == "Browser.close" && !self.script.has(&Fault::IgnoreClose) {
            steps.push((connection, Step::Exit));
        }
        steps
    }

    fn outcome(
        &mut self,
        from: &Address,
        method: &str,
        parameters: &Value,
        events: &mut Vec<(Address, Value)>,
    ) -> Outcome {
        match method {
            "Browser.getVersion" => Ok(json!({"protocolVersion": "1.3", "product": "Chrome/156.0.0.0",
                "revision": "@fake", "userAgent": "FakeBrowser", "jsVersion": "15.6"})),
            "Browser.close" | "Browser.setDownloadBehavior" | "Runtime.runIfWaitingForDebugger" => {
                Ok(json!({}))
            }
            // Returns the expression, so that a caller can recognize its own response.
            "Runtime.evaluate" => {
                Ok(json!({"result": {"type": "string", "value": parameters.get("expression")}}))
            }
            _ if method.ends_with(".enable") || method.ends_with(".disable") => Ok(json!({})),
            _ => self.targets.call(from, method, parameters, events),
        }
    }
}

/// Applies one fault to the normal response.
fn apply_fault(fault: Fault, from: &Address, response: &Value) -> Vec<(ConnectionId, Step)> {
    let to = from.0;
    let honest = Step::Send(bytes(response));
    let with = |key: &str, value: Value| {
        let mut changed = response.clone();
        if let Some(fields) = changed.as_object_mut() {
            fields.retain(|name, _| name != "result" && name != "error");
            fields.insert(key.to_owned(), value);
        }
        Step::Send(bytes(&changed))
    };
    let steps = match fault {
        Fault::Never => vec![],
        Fault::Twice => vec![honest.clone(), honest],
        Fault::Late { milliseconds } => {
            vec![Step::SendLater(duration(Some(milliseconds)), bytes(response))]
        }
        Fault::Result { result } => vec![with("result", result)],
        Fault::Error { code, message } => vec![with("error", json!({"code": code, "message": message}))],
        Fault::ForeignSession { session_id } => {
            let mut changed = response.clone();
            changed["sessionId"] = json!(session_id);
            vec![Step::Send(bytes(&changed))]
        }
        Fault::Events { event, count, bytes: length } => {
            let filler = "x".repeat(length);
            let mut steps: Vec<_> = (0..count)
                .map(|number| {
                    let body = json!({"method": event, "params": {"number": number, "filler": filler}});
                    send_event(from, body).1
                })
                .collect();
            steps.push(honest);
            steps
        }
        Fault::Large { bytes } => vec![with("result", json!({"data": "x".repeat(bytes)}))],
        Fault::InvalidUtf8 => {
            vec![Step::Send(b"{\"method\":\"Bad.text\",\"params\":{\"t\":\"\xC3\x28\"}}".to_vec()), honest]
        }
        Fault::ExitMidFrame => vec![Step::SendHalfAndExit(bytes(response))],
        Fault::StallReads { milliseconds } => vec![Step::StallReads(duration(milliseconds)), honest],
        Fault::IgnoreClose | Fault::IgnoreTerminate => vec![honest],
    };
    steps.into_iter().map(|step| (to, step)).collect()
}

fn send_event(to: &Address, mut event: Value) -> (ConnectionId, Step) {
    if let Some(session) = &to.1 {
        event["sessionId"] = json!(session);
    }
    (to.0, Step::Send(bytes(&event)))
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: ConnectionId = ConnectionId(1);
    const OTHER: ConnectionId = ConnectionId(2);

    /// Feeds one frame and returns the sent frames as `peer: text` lines.
    fn feed(browser: &mut FakeBrowser, from: ConnectionId, frame: &str) -> Vec<String> {
        browser
            .received(from, frame.as_bytes())
            .into_iter()
            .map(|(to, step)| match step {
                Step::Send(bytes) => format!("{}: {}", to.0, String::from_utf8_lossy(&bytes)),
                other => format!("{}: {other:?}", to.0),
            })
            .collect()
    }

    fn browser(script: &str) -> FakeBrowser {
        FakeBrowser::new(Script::parse(script).expect("valid script"))
    }

    #[test]
    fn auto_attach_sees_targets_of_other_peers() {
        let mut browser = browser("");
        feed(&mut browser, OTHER, r#"{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true}}"#);
        let said = feed(
            &mut browser,
            PEER,
            r#"{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}"#,
        );
        assert!(said[0].starts_with("2: ") && said[0].contains("Target.attachedToTarget"), "{said:?}");
        assert!(said[1].starts_with("1: ") && said[1].contains("\"id\":1"), "{said:?}");
    }

    #[test]
    fn a_session_of_another_peer_is_not_found() {
        let mut browser = browser("");
        let said = feed(
            &mut browser,
            PEER,
            r#"{"id":1,"method":"Target.attachToTarget","params":{"targetId":"T00000001"}}"#,
        );
        assert!(said[1].contains("S00000002"), "{said:?}");
        let own =
            r#"{"id":2,"method":"Runtime.evaluate","sessionId":"S00000002","params":{"expression":"mine"}}"#;
        assert!(feed(&mut browser, PEER, own)[0].contains("mine"));
        assert!(feed(&mut browser, OTHER, own)[0].contains("not found"));
    }

    #[test]
    fn f18_response_can_be_sent_twice_and_f20_never() {
        let mut browser = browser(
            "{\"method\":\"Page.enable\",\"do\":\"twice\",\"times\":1}\n{\"method\":\"Page.enable\",\"do\":\"never\"}",
        );
        assert_eq!(feed(&mut browser, PEER, r#"{"id":7,"method":"Page.enable"}"#).len(), 2);
        assert!(feed(&mut browser, PEER, r#"{"id":8,"method":"Page.enable"}"#).is_empty());
    }

    #[test]
    fn f46_close_gets_a_response_and_is_obeyed_or_ignored() {
        let close = r#"{"id":1,"method":"Browser.close"}"#;
        assert_eq!(feed(&mut browser(""), PEER, close).last().map(String::as_str), Some("1: Exit"));
        assert_eq!(feed(&mut browser("{\"do\":\"ignore_close\"}"), PEER, close).len(), 1);
    }

    #[test]
    fn invalid_frames_and_unknown_methods_are_protocol_errors() {
        let mut browser = browser("");
        assert!(feed(&mut browser, PEER, "{").iter().all(|line| line.contains("-32700")));
        assert!(feed(&mut browser, PEER, r#"{"id":1,"method":"No.such"}"#)[0].contains("wasn't found"));
    }

    #[test]
    fn events_precede_the_response_on_the_callers_session() {
        let script = r#"{"method":"Log.enable","do":"events","event":"Log.entryAdded","count":3,"bytes":10}"#;
        let said = feed(&mut browser(script), PEER, r#"{"id":1,"method":"Log.enable"}"#);
        assert_eq!(said.len(), 4);
        assert!(said[2].contains("\"number\":2") && said[3].contains("\"id\":1"), "{said:?}");
    }
}
