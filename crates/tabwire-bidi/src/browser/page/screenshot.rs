//! Screenshots, page sizes and PDF.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::page::clip::Clip;
use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, flag, number, text};
use crate::protocol::script_text::LAYOUT;

/// Results that clients may read in parts at once.
const STREAMS: usize = 8;

/// Characters of one part.
const PART: usize = 4 * 256 * 1024;

/// Centimetres of an inch: CDP measures paper in inches, BiDi in centimetres.
const CENTIMETRES: f64 = 2.54;

impl EmulatedBrowser {
    pub(in crate::browser) fn screenshot(&mut self, tab: &str, params: &Value, reply: Reply) {
        let format = match text(params, "format") {
            "jpeg" => "image/jpeg",
            "webp" => "image/webp",
            _ => "image/png",
        };
        let mut kind = json!({"type": format});
        if let Some(quality) = number(params, "quality").filter(|_| format != "image/png") {
            kind["quality"] = json!(quality / 100.0);
        }
        let origin = if flag(params, "captureBeyondViewport") { "document" } else { "viewport" };
        match params.get("clip").filter(|clip| clip.is_object()) {
            Some(clip) => self.capture_clip(tab, Clip::read(clip), kind, reply),
            None => self.capture(tab, origin, None, &kind, move |browser, outcome| {
                browser.respond_captured(reply, outcome);
            }),
        }
    }

    /// Takes a picture of a part of the document or of the viewport.
    pub(super) fn capture(
        &mut self,
        tab: &str,
        origin: &str,
        clip: Option<Clip>,
        format: &Value,
        then: impl FnOnce(&mut Self, Result<Value, BidiError>) + Send + 'static,
    ) {
        let mut command = json!({"context": tab, "origin": origin, "format": format});
        if let Some(clip) = clip {
            command["clip"] = clip.to_box();
        }
        self.send_for(Some(tab), None, "browsingContext.captureScreenshot", command, Box::new(then));
    }

    pub(super) fn respond_captured(&mut self, reply: Reply, outcome: Result<Value, BidiError>) {
        match outcome {
            Ok(taken) => self.succeed(reply, json!({"data": taken.get("data")})),
            Err(error) => self.fail(reply, &error.to_protocol()),
        }
    }

    pub(in crate::browser) fn layout_metrics(&mut self, tab: &str, reply: Reply) {
        self.call_own(tab, LAYOUT, &json!([]), move |browser, outcome| match outcome {
            Ok(value) => {
                let sizes: Value = serde_json::from_str(text(&value, "value")).unwrap_or_default();
                browser.succeed(reply, to_metrics(&sizes));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        });
    }

    pub(in crate::browser) fn print(&mut self, tab: &str, params: &Value, reply: Reply) {
        let inches = |name: &str, default: f64| number(params, name).unwrap_or(default) * CENTIMETRES;
        let orientation = if flag(params, "landscape") { "landscape" } else { "portrait" };
        let mut command = json!({
            "context": tab, "background": flag(params, "printBackground"), "orientation": orientation,
            "margin": {
                "top": inches("marginTop", 0.4), "bottom": inches("marginBottom", 0.4),
                "left": inches("marginLeft", 0.4), "right": inches("marginRight", 0.4),
            },
            "page": {"width": inches("paperWidth", 8.5), "height": inches("paperHeight", 11.0)},
            "scale": number(params, "scale").unwrap_or(1.0), "shrinkToFit": true,
        });
        let ranges: Vec<&str> =
            text(params, "pageRanges").split(',').map(str::trim).filter(|range| !range.is_empty()).collect();
        if !ranges.is_empty() {
            command["pageRanges"] = json!(ranges);
        }
        let is_stream = text(params, "transferMode") == "ReturnAsStream";
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(printed) if is_stream => {
                let name = browser.keep_stream(text(&printed, "data").to_owned());
                browser.succeed(reply, json!({"data": "", "stream": name}));
            }
            Ok(printed) => browser.succeed(reply, json!({"data": printed.get("data")})),
            Err(error) => browser.fail(reply, &error.to_protocol()),
        };
        self.send_for(Some(tab), None, "browsingContext.print", command, Box::new(then));
    }

    /// Keeps Base64 text that a client reads in parts.
    fn keep_stream(&mut self, data: String) -> String {
        while self.streams.len() >= STREAMS {
            self.streams.pop_first();
        }
        let name = format!("{:08}", self.next_number());
        self.streams.insert(name.clone(), data);
        name
    }

    pub(in crate::browser) fn stream_command(&mut self, command: &Command, reply: Reply) {
        let name = text(&command.params, "handle");
        match command.method.as_str() {
            "IO.close" => {
                self.streams.remove(name);
                self.succeed(reply, "{}");
            }
            "IO.read" => {
                let Some(left) = self.streams.get_mut(name) else {
                    return self
                        .fail(reply, &ProtocolError::invalid_params("Invalid stream handle specified"));
                };
                // Base64 is ASCII, and a part of full groups of four is Base64 again.
                let rest = left.split_off(left.len().min(PART));
                let part = std::mem::replace(left, rest);
                let is_end = left.is_empty();
                let read = json!({"base64Encoded": true, "data": part, "eof": is_end});
                self.succeed(reply, read);
            }
            method => self.refuse(reply, method),
        }
    }
}

fn to_metrics(sizes: &Value) -> Value {
    let part = |name: &str| number(sizes, name).unwrap_or_default();
    let layout = json!({
        "pageX": part("x"), "pageY": part("y"), "clientWidth": part("width"), "clientHeight": part("height"),
    });
    let visual = json!({
        "offsetX": part("offsetX"), "offsetY": part("offsetY"), "pageX": part("x"), "pageY": part("y"),
        "clientWidth": part("width"), "clientHeight": part("height"), "scale": part("scale"), "zoom": 1,
    });
    let content = json!({"x": 0, "y": 0, "width": part("contentWidth"), "height": part("contentHeight")});
    json!({
        "layoutViewport": layout, "visualViewport": visual, "contentSize": content,
        "cssLayoutViewport": layout, "cssVisualViewport": visual, "cssContentSize": content,
    })
}
