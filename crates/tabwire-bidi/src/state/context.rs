//! Browsing contexts: tabs and the frames in them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

/// Contexts that are remembered.
const CONTEXTS: usize = 10_000;

/// Entries of a tab's history.
const HISTORY: usize = 50;

/// Ended navigations of a context that are remembered until their command is answered.
const ENDED_NAVIGATIONS: usize = 16;

/// How a navigation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NavigationEnd {
    Committed,
    Failed(String),
    Aborted,
    Download,
    SameDocument,
}

/// A tab or frame.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) user_context: String,
    pub(crate) opener: Option<String>,
    pub(crate) url: String,
    pub(crate) title: String,
    /// The `name` of a frame, as last read.
    pub(crate) name: String,
    /// The id of the navigation that made the present document.
    pub(crate) loader: String,
    /// The lifecycle events of the present document.
    pub(crate) lifecycle: Vec<&'static str>,
    pub(crate) ended: VecDeque<(String, NavigationEnd)>,
    /// Navigations that have started and not ended.
    pub(crate) started: VecDeque<(String, String)>,
    /// Unfinished requests.
    pub(crate) requests: BTreeSet<String>,
    pub(crate) history: History,
    /// The size that a client gave the viewport.
    pub(crate) viewport: Option<Value>,
    /// Whether a dialog is open.
    pub(crate) has_prompt: bool,
    pub(crate) is_crashed: bool,
    /// Whether a client turned the cache off.
    pub(crate) has_cache_off: bool,
    /// Whether the cache is off until the page has loaded again.
    pub(crate) reloads_past_cache: bool,
    /// Navigation that waits until every client has set up the new tab.
    pub(crate) first_url: Option<String>,
    /// The URL that a new tab was created with, until its first navigation has ended.
    pub(crate) created_for: Option<String>,
    /// The document that last took input, and its root element.
    pub(crate) root: Option<(String, String)>,
}

/// The history of a tab, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<HistoryEntry>,
    pub(crate) index: usize,
    last: i64,
    /// The entry that a traversal goes to.
    pub(crate) target: Option<usize>,
    pub(crate) replaces: bool,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryEntry {
    pub(crate) id: i64,
    pub(crate) url: String,
    pub(crate) title: String,
}

impl History {
    /// A document was committed, or the URL changed within a document.
    pub(crate) fn committed(&mut self, url: &str) {
        if let Some(index) = self.target.take() {
            self.index = index.min(self.entries.len().saturating_sub(1));
            if let Some(entry) = self.entries.get_mut(self.index) {
                url.clone_into(&mut entry.url);
            }
            return;
        }
        let is_same = self.entries.get(self.index).is_some_and(|entry| entry.url == url);
        let replaces = std::mem::take(&mut self.replaces) || is_same;
        if let Some(entry) = self.entries.get_mut(self.index).filter(|_| replaces) {
            url.clone_into(&mut entry.url);
            return;
        }
        // A step forward of the page itself. A step back looks like a new document with an earlier URL.
        if self.entries.get(self.index + 1).is_some_and(|entry| entry.url == url) {
            self.index += 1;
            return;
        }
        self.entries.truncate(self.index + 1);
        self.last += 1;
        self.entries.push(HistoryEntry { id: self.last, url: url.to_owned(), title: String::new() });
        if self.entries.len() > HISTORY {
            self.entries.remove(0);
        }
        self.index = self.entries.len().saturating_sub(1);
    }

    pub(crate) fn set_title(&mut self, title: &str) {
        if let Some(entry) = self.entries.get_mut(self.index) {
            title.clone_into(&mut entry.title);
        }
    }

    /// CDP's navigation history.
    pub(crate) fn to_value(&self) -> Value {
        let entry = |entry: &HistoryEntry| {
            json!({
                "id": entry.id, "url": entry.url, "userTypedURL": entry.url, "title": entry.title,
                "transitionType": "link",
            })
        };
        json!({"currentIndex": self.index, "entries": self.entries.iter().map(entry).collect::<Vec<_>>()})
    }
}

impl Context {
    pub(crate) fn new(info: &Value) -> Option<Self> {
        let member = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = member("context")?;
        let url = member("url").unwrap_or_default();
        let mut history = History::default();
        history.committed(&url);
        Some(Self {
            loader: format!("first-{id}"),
            id,
            parent: member("parent"),
            user_context: member("userContext").unwrap_or_else(|| DEFAULT_USER_CONTEXT.to_owned()),
            opener: member("originalOpener"),
            url,
            title: String::new(),
            name: String::new(),
            lifecycle: Vec::new(),
            ended: VecDeque::new(),
            started: VecDeque::new(),
            requests: BTreeSet::new(),
            history,
            viewport: None,
            has_prompt: false,
            is_crashed: false,
            has_cache_off: false,
            reloads_past_cache: false,
            first_url: None,
            created_for: None,
            root: None,
        })
    }

    pub(crate) fn is_tab(&self) -> bool {
        self.parent.is_none()
    }

    pub(crate) fn end_navigation(&mut self, navigation: &str, end: NavigationEnd) {
        self.started.retain(|(id, _)| id != navigation);
        self.created_for = None;
        if self.ended.len() >= ENDED_NAVIGATIONS {
            self.ended.pop_front();
        }
        self.ended.push_back((navigation.to_owned(), end));
    }

    pub(crate) fn find_end(&self, navigation: &str) -> Option<&NavigationEnd> {
        self.ended.iter().rev().find(|(id, _)| id == navigation).map(|(_, end)| end)
    }
}

/// The browser's own user context.
pub(crate) const DEFAULT_USER_CONTEXT: &str = "default";

/// All contexts.
#[derive(Debug, Default)]
pub(crate) struct ContextTable {
    contexts: BTreeMap<String, Context>,
    /// In the order of their creation.
    order: Vec<String>,
}

impl ContextTable {
    /// Adds a context; says whether it is new.
    pub(crate) fn add(&mut self, context: Context) -> bool {
        if self.contexts.contains_key(&context.id) || self.contexts.len() >= CONTEXTS {
            return false;
        }
        self.order.push(context.id.clone());
        self.contexts.insert(context.id.clone(), context);
        true
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<Context> {
        self.order.retain(|known| known != id);
        self.contexts.remove(id)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Context> {
        self.contexts.get(id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Context> {
        self.contexts.get_mut(id)
    }

    /// All contexts in the order of their creation.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Context> {
        self.order.iter().filter_map(|id| self.contexts.get(id))
    }

    pub(crate) fn tabs(&self) -> impl Iterator<Item = &Context> {
        self.all().filter(|context| context.is_tab())
    }

    pub(crate) fn children_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Context> {
        self.all().filter(move |context| context.parent.as_deref() == Some(id))
    }

    /// The tab that a context is in. Bounded, in case the browser reports a cycle.
    pub(crate) fn tab_of(&self, id: &str) -> Option<&Context> {
        let mut context = self.contexts.get(id)?;
        for _ in 0..self.contexts.len() {
            match &context.parent {
                None => return Some(context),
                Some(parent) => context = self.contexts.get(parent)?,
            }
        }
        None
    }

    /// A context and all below it, parents first.
    pub(crate) fn subtree(&self, id: &str) -> Vec<String> {
        let mut found = vec![id.to_owned()];
        let mut next = 0;
        while let Some(above) = found.get(next).cloned() {
            let below: Vec<String> = self.children_of(&above).map(|child| child.id.clone()).collect();
            found.extend(below);
            next += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_grows_and_is_cut_at_a_new_page() {
        let mut history = History::default();
        for url in ["a", "b", "c"] {
            history.committed(url);
        }
        assert_eq!((history.index, history.entries.len()), (2, 3));
        history.target = Some(0);
        history.committed("a");
        assert_eq!(history.index, 0);
        history.committed("d");
        assert_eq!(history.entries.iter().map(|entry| entry.url.as_str()).collect::<Vec<_>>(), ["a", "d"]);
    }

    #[test]
    fn frames_are_found_below_their_tab() {
        let mut table = ContextTable::default();
        for (id, parent) in [("t", None), ("f", Some("t")), ("g", Some("f"))] {
            assert!(
                table.add(Context::new(&json!({"context": id, "parent": parent, "url": ""})).expect("id"))
            );
        }
        assert_eq!(table.subtree("t"), ["t", "f", "g"]);
        assert_eq!(table.tab_of("g").map(|tab| tab.id.as_str()), Some("t"));
        assert_eq!(table.tabs().count(), 1);
    }
}
