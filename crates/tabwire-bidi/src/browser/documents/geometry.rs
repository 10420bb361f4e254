//! Where nodes are: `DOM.scrollIntoViewIfNeeded`, `DOM.getContentQuads` and `DOM.getBoxModel`, which clients of the DevTools
//! protocol use.

use serde_json::{Value, json};
use tabwire_cdp::ProtocolError;

use crate::browser::{EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, text};
use crate::protocol::script_text::{BOXES, FRAME_ORIGIN, QUADS, SCROLL_INTO_VIEW};

/// Chrome's messages, which clients compare.
const DETACHED: &str = "Node is detached from document";
const WITHOUT_BOX: &str = "Node does not have a layout object";
const NO_QUADS: &str = "Could not compute content quads.";
const NO_BOX: &str = "Could not compute box model.";

/// Four corners.
type Quad = [f64; 8];

/// What a command on quads gives, and its failure.
#[derive(Clone, Copy)]
struct Shape {
    read: fn(&[Quad]) -> Option<Value>,
    failure: &'static str,
}

impl EmulatedBrowser {
    pub(super) fn scroll_into_view(&mut self, tab: &str, params: &Value, reply: Reply) {
        self.call_on_node(tab, params, SCROLL_INTO_VIEW, reply, |browser, _, value, reply| match value {
            "" => browser.succeed(reply, "{}"),
            "detached" => browser.fail(reply, &ProtocolError::chrome(-32000, DETACHED)),
            _ => browser.fail(reply, &ProtocolError::chrome(-32000, WITHOUT_BOX)),
        });
    }

    pub(super) fn content_quads(&mut self, tab: &str, params: &Value, reply: Reply) {
        let read = |quads: &[Quad]| (!quads.is_empty()).then(|| json!({"quads": quads}));
        self.quads(tab, params, QUADS, Shape { read, failure: NO_QUADS }, reply);
    }

    pub(super) fn box_model(&mut self, tab: &str, params: &Value, reply: Reply) {
        let read = |quads: &[Quad]| {
            let [border, padding, content, margin] = quads else { return None };
            let [left, top, _, _, right, bottom, _, _] = *border;
            Some(json!({"model": {
                "content": content, "padding": padding, "border": border, "margin": margin,
                "width": (right - left).round(), "height": (bottom - top).round(),
            }}))
        };
        self.quads(tab, params, BOXES, Shape { read, failure: NO_BOX }, reply);
    }

    /// Responds with quads in the coordinates of the tab.
    fn quads(&mut self, tab: &str, params: &Value, function: &str, shape: Shape, reply: Reply) {
        self.call_on_node(tab, params, function, reply, move |browser, context, value, reply| {
            let quads = serde_json::from_str(value).unwrap_or_default();
            browser.add_frame_origin(context, quads, shape, reply);
        });
    }

    /// Runs a function on the node of a command. It gives text.
    fn call_on_node(
        &mut self,
        tab: &str,
        params: &Value,
        function: &str,
        reply: Reply,
        then: impl FnOnce(&mut Self, &str, &str, Reply) + Send + 'static,
    ) {
        let node = self.find_node(params).and_then(|(shared, number)| {
            let context = self.realms.find(number)?.context.clone();
            self.contexts.tab_of(&context).filter(|found| found.id == tab)?;
            Some((shared, context))
        });
        let Some((shared, context)) = node else {
            return self.fail(reply, &ProtocolError::chrome(-32000, "Could not find node with given id"));
        };
        let within = context.clone();
        let read = move |browser: &mut Self, outcome: Result<Value, BidiError>| match outcome {
            Ok(value) => then(browser, &within, text(&value, "value"), reply),
            Err(error) if error.name == "no such node" => {
                browser.fail(reply, &ProtocolError::chrome(-32000, DETACHED));
            }
            Err(error) => browser.fail(reply, &error.to_script_error()),
        };
        self.call_own(&context, function, &json!([{"sharedId": shared}]), read);
    }

    /// Moves quads of a frame's document to the coordinates of its tab, and responds.
    fn add_frame_origin(&mut self, context: &str, quads: Vec<Quad>, shape: Shape, reply: Reply) {
        let Some(parent) = self.contexts.find(context).and_then(|found| found.parent.clone()) else {
            return match (shape.read)(&quads) {
                Some(result) => self.succeed(reply, result),
                None => self.fail(reply, &ProtocolError::chrome(-32000, shape.failure)),
            };
        };
        let locate =
            json!({"context": parent, "locator": {"type": "context", "value": {"context": context}}});
        let above = parent.clone();
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            let shared = outcome.ok().and_then(|found| {
                found.pointer("/nodes/0/sharedId").and_then(Value::as_str).map(str::to_owned)
            });
            let Some(shared) = shared else {
                return browser.fail(reply, &ProtocolError::chrome(-32000, shape.failure));
            };
            let within = above.clone();
            let moved = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
                let origin = outcome.ok().and_then(|value| serde_json::from_str(text(&value, "value")).ok());
                let Some::<[f64; 2]>([left, top]) = origin else {
                    return browser.fail(reply, &ProtocolError::chrome(-32000, shape.failure));
                };
                let move_quad = |[a, b, c, d, e, f, g, h]: Quad| {
                    [a + left, b + top, c + left, d + top, e + left, f + top, g + left, h + top]
                };
                let moved = quads.into_iter().map(move_quad).collect();
                browser.add_frame_origin(&within, moved, shape, reply);
            };
            browser.call_own(&above, FRAME_ORIGIN, &json!([{"sharedId": shared}]), moved);
        };
        self.send_for(Some(&parent), None, "browsingContext.locateNodes", locate, Box::new(then));
    }
}
