//! Console calls and errors of scripts.

use serde_json::{Value, json};

use crate::browser::EmulatedBrowser;
use crate::protocol::message::text;
use crate::protocol::remote_value::{call_frames, to_console_object};

/// Whether an error is one that a script threw. Firefox reports its own errors, such as a blocked request, in the same way,
/// without a stack and not as `SomeError: message`.
fn is_exception(params: &Value, frames: &[Value]) -> bool {
    let message = text(params, "text");
    let class = message.split(':').next().unwrap_or_default();
    !frames.is_empty() || message.starts_with("uncaught exception") || !class.contains(' ')
}

impl EmulatedBrowser {
    /// `log.entryAdded`.
    pub(in crate::browser) fn log_event(&mut self, params: &Value) {
        let source = params.get("source").cloned().unwrap_or_default();
        let Some(tab) = self.contexts.tab_of(text(&source, "context")).map(|tab| tab.id.clone()) else {
            return;
        };
        let realm = self.realms.find_by_id(text(&source, "realm"));
        let number = realm.map(|realm| realm.number).unwrap_or_default();
        let frames = call_frames(params.get("stackTrace"));
        match text(params, "type") {
            "console" => {
                let kind = match text(params, "method") {
                    "warn" => "warning",
                    "" => "log",
                    method => method,
                };
                let arguments = params.get("args").and_then(Value::as_array);
                let arguments: Vec<Value> =
                    arguments.into_iter().flatten().map(|value| to_console_object(value, number)).collect();
                let event = json!({
                    "type": kind, "args": arguments, "executionContextId": number,
                    "timestamp": params.get("timestamp"), "stackTrace": {"callFrames": frames},
                });
                self.tab_event(&tab, "Runtime.consoleAPICalled", &event);
            }
            "javascript" if text(params, "level") == "error" && is_exception(params, &frames) => {
                self.exception_thrown(&tab, number, params, &frames);
            }
            _ => {
                let level = match text(params, "level") {
                    "warn" => "warning",
                    "debug" => "verbose",
                    level => level,
                };
                let entry = json!({
                    "source": "other", "level": level, "text": text(params, "text"),
                    "timestamp": params.get("timestamp"),
                    "url": frames.first().map(|frame| text(frame, "url")),
                });
                self.tab_event(&tab, "Log.entryAdded", &json!({"entry": entry}));
            }
        }
    }

    fn exception_thrown(&mut self, tab: &str, number: i64, params: &Value, frames: &[Value]) {
        let message = text(params, "text");
        let class = message.split(':').next().filter(|name| name.ends_with("Error")).unwrap_or("Error");
        let first = frames.first().cloned().unwrap_or_default();
        let details = json!({
            "exceptionId": 1, "text": "Uncaught", "lineNumber": first.get("lineNumber").cloned().unwrap_or(json!(0)),
            "columnNumber": first.get("columnNumber").cloned().unwrap_or(json!(0)), "url": text(&first, "url"),
            "stackTrace": {"callFrames": frames}, "executionContextId": number,
            "exception": {
                "type": "object", "subtype": "error", "className": class, "description": message,
            },
        });
        let event = json!({"timestamp": params.get("timestamp"), "exceptionDetails": details});
        self.tab_event(tab, "Runtime.exceptionThrown", &event);
    }
}
