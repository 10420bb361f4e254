//! Input of mouse and keyboard as BiDi's actions: one chain at a time per tab, in the order of the commands.

mod command;
mod drags;
pub(super) mod keys;
mod ticks;

use std::collections::VecDeque;

use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode};
use tabwire_cdp::ProtocolError;

use self::command::{Kind, Mouse, read_key, read_mouse, read_touch};
use self::ticks::Ticks;
use crate::browser::{Command, EmulatedBrowser, Reply};
use crate::protocol::message::{BidiError, CONTEXT_DESTROYED, flag, text};
use crate::protocol::script_text::{FOCUSED_FRAME, FRAME_AT, INSERT_TEXT, ROOT};

/// Commands of input that wait for one tab.
const WAITING: usize = 4_096;

/// Commands that are sent as one chain.
const CHAIN: usize = 256;

/// The bit of a finger in the mask of held buttons.
const FINGER: u64 = 1 << 32;

/// Frames inside each other that are searched for a point or the focus.
const FRAME_DEPTH: usize = 32;

/// The input of one tab.
#[derive(Debug, Default)]
pub(crate) struct InputQueue {
    waiting: VecDeque<Item>,
    /// The commands of the chain under way.
    running: Vec<Reply>,
    /// The tab's document that the chain under way is for.
    loader: String,
    is_running: bool,
    /// The document and offset that take the mouse while a button is held.
    held: Option<(String, f64, f64)>,
    /// The session that intercepts drags.
    drags: Option<CdpSessionId>,
    buttons: u64,
    /// Modifiers that key events hold.
    modifiers: u64,
}

impl InputQueue {
    /// A command is part of the next chain: notes which buttons and modifiers are held after it.
    fn note(&mut self, kind: &Kind, context: &str, offset: (f64, f64)) {
        let (pressed, released) = match kind {
            Kind::Mouse { event: Mouse::Down(button), .. } => (1 << button, 0),
            Kind::Mouse { event: Mouse::Up(button), .. } => (0, 1 << button),
            Kind::Mouse { event: Mouse::TouchDown, .. } => (FINGER, 0),
            Kind::Mouse { event: Mouse::TouchUp, .. } => (0, FINGER),
            Kind::Key { is_down: true, modifier, .. } => return self.modifiers |= modifier,
            Kind::Key { is_down: false, modifier, .. } => return self.modifiers &= !modifier,
            Kind::Mouse { .. } | Kind::Text(_) => return,
        };
        self.buttons = (self.buttons | pressed) & !released;
        if pressed != 0 {
            self.held = Some((context.to_owned(), offset.0, offset.1));
        } else if self.buttons == 0 {
            self.held = None;
        }
    }
}

/// One command.
#[derive(Debug)]
struct Item {
    kind: Kind,
    /// The document that was shown when the command came, if its client knew it.
    loader: Option<String>,
    reply: Reply,
}

impl EmulatedBrowser {
    pub(in crate::browser) fn input_command(
        &mut self,
        tab: &str,
        session: &CdpSessionId,
        command: &Command,
        reply: Reply,
    ) {
        let params = &command.params;
        let kind = match command.method.as_str() {
            "Input.dispatchMouseEvent" => read_mouse(params),
            "Input.dispatchKeyEvent" => read_key(params),
            "Input.dispatchTouchEvent" => read_touch(params),
            "Input.insertText" => Ok(Kind::Text(text(params, "text").to_owned())),
            "Input.setInterceptDrags" => {
                return self.intercept_drags(tab, session, flag(params, "enabled"), reply);
            }
            "Input.setIgnoreInputEvents" => return self.succeed(reply, "{}"),
            method => return self.refuse(reply, method),
        };
        let kind = match kind {
            Ok(kind) => kind,
            Err(message) => return self.fail(reply, &ProtocolError::invalid_params(message)),
        };
        // `None` is no document: a client that has only just sent the input may not have read that there is another one.
        let knows = self.sessions.find(Some(session)).is_some_and(|found| found.knows_document);
        let loader = Some(self.document_of(tab)).filter(|_| knows);
        let queue = self.input.entry(tab.to_owned()).or_default();
        if queue.waiting.len() >= WAITING {
            let message = "Too much input waits for this tab.";
            return self.fail(reply, &ProtocolError::tabwire(ErrorCode::Backpressure, message));
        }
        queue.waiting.push_back(Item { kind, loader, reply });
        self.run_input(tab);
    }

    /// Starts the next chain of a tab, unless one runs.
    fn run_input(&mut self, tab: &str) {
        let has_frames = self.contexts.children_of(tab).next().is_some();
        let loader = self.document_of(tab);
        let Some(queue) = self.input.get_mut(tab).filter(|queue| !queue.is_running) else { return };
        let mut chain: Vec<Kind> = Vec::new();
        let mut gone: Vec<Reply> = Vec::new();
        while let Some(item) = queue.waiting.front() {
            // Input for the former document must not reach the next one.
            let is_stale = item.kind.acts() && item.loader.as_ref() != Some(&loader);
            let joins = chain.last().is_none_or(|last| last.joins(&item.kind, has_frames));
            if !is_stale && (!joins || chain.len() >= CHAIN) {
                break;
            }
            let Some(item) = queue.waiting.pop_front() else { break };
            if is_stale {
                gone.push(item.reply);
                continue;
            }
            queue.running.push(item.reply);
            chain.push(item.kind);
        }
        queue.is_running = !chain.is_empty();
        queue.loader = loader;
        for reply in gone {
            self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_DESTROYED));
        }
        if !chain.is_empty() {
            self.focus_tab(tab, chain);
        }
    }

    /// Only the active tab has the focus, and a page without it behaves differently.
    fn focus_tab(&mut self, tab: &str, chain: Vec<Kind>) {
        if self.active.as_deref() == Some(tab) {
            return self.find_document(tab, chain);
        }
        self.active = Some(tab.to_owned());
        let id = tab.to_owned();
        let then = move |browser: &mut Self, _: Result<Value, BidiError>| browser.find_document(&id, chain);
        self.send_for(Some(tab), None, "browsingContext.activate", json!({"context": tab}), Box::new(then));
    }

    /// Finds the document that takes the input: a frame in another process gets none through the page.
    fn find_document(&mut self, tab: &str, chain: Vec<Kind>) {
        let has_frames = self.contexts.children_of(tab).next().is_some();
        let held = self.input.get(tab).and_then(|queue| queue.held.clone());
        match (chain.first(), held) {
            (Some(Kind::Mouse { .. }), Some((context, x, y))) => self.perform(tab, &context, (x, y), chain),
            (Some(Kind::Mouse { x, y, .. }), None) if has_frames => {
                let point = (*x, *y);
                self.search_frame(tab, tab.to_owned(), (0.0, 0.0), Some(point), chain, FRAME_DEPTH);
            }
            (Some(_), _) if has_frames => {
                self.search_frame(tab, tab.to_owned(), (0.0, 0.0), None, chain, FRAME_DEPTH);
            }
            _ => self.perform(tab, tab, (0.0, 0.0), chain),
        }
    }

    /// Looks for a frame at a point, or with the focus, in a document, and in the frames that it finds.
    fn search_frame(
        &mut self,
        tab: &str,
        context: String,
        offset: (f64, f64),
        point: Option<(f64, f64)>,
        chain: Vec<Kind>,
        depth: usize,
    ) {
        let (function, arguments) = match point {
            Some((x, y)) => {
                let number = |value: f64| json!({"type": "number", "value": value});
                (FRAME_AT, json!([number(x - offset.0), number(y - offset.1)]))
            }
            None => (FOCUSED_FRAME, json!([])),
        };
        let (id, here) = (tab.to_owned(), context.clone());
        self.call_own(&context, function, &arguments, move |browser, outcome| {
            let found = outcome.unwrap_or_default();
            let (window, left, top) = match point {
                Some(_) => (found.pointer("/value/0"), found.pointer("/value/1"), found.pointer("/value/2")),
                None => (Some(&found), None, None),
            };
            let frame = window.and_then(|window| window.pointer("/value/context")).and_then(Value::as_str);
            let part = |value: Option<&Value>| {
                value.and_then(|value| value.get("value")).and_then(Value::as_f64).unwrap_or_default()
            };
            match frame {
                Some(frame) if depth > 0 && browser.contexts.find(frame).is_some() => {
                    let below = (offset.0 + part(left), offset.1 + part(top));
                    browser.search_frame(&id, frame.to_owned(), below, point, chain, depth - 1);
                }
                _ => browser.perform(&id, &here, offset, chain),
            }
        });
    }

    /// Finds the root of the document that takes the input. The input names it, because BiDi's input names a tab or frame,
    /// not a document, and would reach the next one.
    fn perform(&mut self, tab: &str, context: &str, offset: (f64, f64), chain: Vec<Kind>) {
        if self.is_stale(tab, &chain) {
            return self.refuse_chain(tab);
        }
        if let Some(Kind::Text(text)) = chain.first() {
            let arguments = json!([{"type": "string", "value": text}]);
            let id = tab.to_owned();
            return self.call_own(context, INSERT_TEXT, &arguments, move |browser, outcome| {
                browser.chain_done(&id, &outcome);
            });
        }
        if !chain.iter().any(Kind::acts) {
            return self.perform_chain(tab, context, offset, chain, None);
        }
        if let Some(root) = self.known_root(context) {
            return self.perform_chain(tab, context, offset, chain, Some(root));
        }
        self.find_root(tab, context, offset, chain, None);
    }

    /// Reads the root of the document. `before` is the root that a first try named, which had no box in the view: it says
    /// nothing then, and the chain is sent without it, unless there is another document now.
    fn find_root(
        &mut self,
        tab: &str,
        context: &str,
        offset: (f64, f64),
        chain: Vec<Kind>,
        before: Option<String>,
    ) {
        let (id, document) = (tab.to_owned(), context.to_owned());
        let shown = self.document_of(context);
        self.call_own(context, ROOT, &json!([]), move |browser, outcome| {
            let root = outcome.ok().and_then(|root| Some(root.get("sharedId")?.as_str()?.to_owned()));
            if browser.is_stale(&id, &chain) || before.is_some() && root != before {
                return browser.refuse_chain(&id);
            }
            if browser.document_of(&document) != shown {
                return browser.refuse_chain(&id);
            }
            if let (Some(root), Some(found)) = (&root, browser.contexts.find_mut(&document)) {
                found.root = Some((shown, root.clone()));
            }
            browser.perform_chain(&id, &document, offset, chain, root.filter(|_| before.is_none()));
        });
    }

    /// Whether the tab shows another document than when the chain began.
    fn is_stale(&self, tab: &str, chain: &[Kind]) -> bool {
        let loader = self.document_of(tab);
        chain.iter().any(Kind::acts) && self.input.get(tab).is_some_and(|queue| queue.loader != loader)
    }

    /// The document of a tab or frame: its loader, and its realm, which Firefox reports before the commit.
    fn document_of(&self, context: &str) -> String {
        let loader = self.contexts.find(context).map(|found| found.loader.as_str()).unwrap_or_default();
        let realm = self.realms.main_of(context).map(|realm| realm.id.as_str()).unwrap_or_default();
        format!("{loader} {realm}")
    }

    /// The root element of the document that a tab or frame shows, if it is known.
    fn known_root(&self, context: &str) -> Option<String> {
        let (document, root) = self.contexts.find(context)?.root.as_ref()?;
        (*document == self.document_of(context)).then(|| root.clone())
    }

    /// Sends a chain. It does nothing if the document of `root` is not shown any more.
    fn perform_chain(
        &mut self,
        tab: &str,
        context: &str,
        offset: (f64, f64),
        chain: Vec<Kind>,
        root: Option<String>,
    ) {
        let Some(queue) = self.input.get_mut(tab) else { return };
        let modifiers = queue.modifiers;
        let mut ticks = Ticks::default();
        if let Some(root) = &root {
            ticks.guard(root);
        }
        for kind in &chain {
            ticks.add(kind, offset, queue.modifiers);
            queue.note(kind, context, offset);
        }
        let command = json!({"context": context, "actions": ticks.into_sources()});
        let (id, document) = (tab.to_owned(), context.to_owned());
        let then = move |browser: &mut Self, outcome: Result<Value, BidiError>| {
            let failed = outcome.as_ref().err().filter(|_| root.is_some()).map(|error| error.name.as_str());
            if let Some(queue) = browser.input.get_mut(&id).filter(|_| failed.is_some()) {
                queue.modifiers = modifiers;
            }
            match failed {
                // Nothing was sent: the root is that of a former document.
                Some("no such node" | "no such element") => browser.refuse_chain(&id),
                Some("move target out of bounds") => {
                    browser.find_root(&id, &document, offset, chain, root);
                }
                _ => {
                    browser.chain_done(&id, &outcome);
                    browser.report_drag(&id, &document);
                }
            }
        };
        self.send("input.performActions", command, Box::new(then));
    }

    fn chain_done(&mut self, tab: &str, outcome: &Result<Value, BidiError>) {
        let Some(queue) = self.input.get_mut(tab) else { return };
        queue.is_running = false;
        if outcome.is_err() {
            (queue.held, queue.buttons) = (None, 0);
        }
        for reply in std::mem::take(&mut queue.running) {
            match outcome {
                Ok(_) => self.succeed(reply, "{}"),
                // The input took the document away, or arrived before it went.
                Err(error) if error.is_document_gone() || error.name == "destroyed" => {
                    self.succeed(reply, "{}");
                }
                // A document that is about to go has nothing that takes input.
                Err(error) if error.message.contains("NS_ERROR_FAILURE") => {
                    self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_DESTROYED));
                }
                Err(error) => self.fail(reply, &error.to_protocol()),
            }
        }
        self.run_input(tab);
    }

    /// The document that the chain under way was for is gone, and the chain was not sent.
    fn refuse_chain(&mut self, tab: &str) {
        let Some(queue) = self.input.get_mut(tab) else { return };
        queue.is_running = false;
        (queue.held, queue.buttons) = (None, 0);
        for reply in std::mem::take(&mut queue.running) {
            self.fail(reply, &ProtocolError::chrome(-32000, CONTEXT_DESTROYED));
        }
        self.run_input(tab);
    }

    /// Responds to the input under way: it has arrived, and the browser responds only after a dialog.
    pub(in crate::browser) fn complete_input(&mut self, tab: &str) {
        let Some(queue) = self.input.get_mut(tab) else { return };
        for reply in std::mem::take(&mut queue.running) {
            self.succeed(reply, "{}");
        }
    }

    /// A tab is gone. The input under way may have closed it.
    pub(in crate::browser) fn close_input(&mut self, tab: &str) {
        self.complete_input(tab);
        let Some(queue) = self.input.remove(tab) else { return };
        for item in queue.waiting {
            self.fail(item.reply, &ProtocolError::no_session());
        }
    }

    /// The browser is gone.
    pub(in crate::browser) fn fail_input(&mut self) {
        while let Some((_, queue)) = self.input.pop_first() {
            for reply in queue.running.into_iter().chain(queue.waiting.into_iter().map(|item| item.reply)) {
                self.fail(reply, &crate::browser::gone());
            }
        }
    }
}
