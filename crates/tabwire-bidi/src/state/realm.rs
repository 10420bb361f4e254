//! Realms: BiDi's name for what CDP calls execution contexts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::protocol::script_text::OWN_SANDBOX;

/// Realms that are remembered.
const REALMS: usize = 20_000;

/// One realm of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Realm {
    /// Its number for CDP.
    pub(crate) number: i64,
    pub(crate) id: String,
    /// The browsing context.
    pub(crate) context: String,
    pub(crate) origin: String,
    /// Its sandbox; `None` for the page's own scripts.
    pub(crate) sandbox: Option<String>,
}

impl Realm {
    /// CDP's `ExecutionContextDescription`.
    pub(crate) fn describe(&self) -> Value {
        let name = self.sandbox.clone().unwrap_or_default();
        let kind = if self.sandbox.is_some() { "isolated" } else { "default" };
        json!({
            "id": self.number, "origin": self.origin, "name": name, "uniqueId": self.id,
            "auxData": {"isDefault": self.sandbox.is_none(), "type": kind, "frameId": self.context},
        })
    }

    pub(crate) fn is_own(&self) -> bool {
        self.sandbox.as_deref() == Some(OWN_SANDBOX)
    }
}

/// The live realms.
#[derive(Debug, Default)]
pub(crate) struct RealmTable {
    last: i64,
    by_number: BTreeMap<i64, Realm>,
    by_id: BTreeMap<String, i64>,
}

impl RealmTable {
    /// Adds a realm, or finds it; says whether it is new.
    pub(crate) fn add(
        &mut self,
        id: &str,
        context: &str,
        origin: &str,
        sandbox: Option<&str>,
    ) -> Option<(Realm, bool)> {
        if let Some(number) = self.by_id.get(id) {
            return self.by_number.get(number).map(|realm| (realm.clone(), false));
        }
        if self.by_number.len() >= REALMS {
            return None;
        }
        self.last += 1;
        let realm = Realm {
            number: self.last,
            id: id.to_owned(),
            context: context.to_owned(),
            origin: origin.to_owned(),
            sandbox: sandbox.map(str::to_owned),
        };
        self.by_id.insert(id.to_owned(), self.last);
        self.by_number.insert(self.last, realm.clone());
        Some((realm, true))
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<Realm> {
        let number = self.by_id.remove(id)?;
        self.by_number.remove(&number)
    }

    pub(crate) fn find(&self, number: i64) -> Option<&Realm> {
        self.by_number.get(&number)
    }

    pub(crate) fn find_by_id(&self, id: &str) -> Option<&Realm> {
        self.by_number.get(self.by_id.get(id)?)
    }

    pub(crate) fn in_context<'a>(&'a self, context: &'a str) -> impl DoubleEndedIterator<Item = &'a Realm> {
        self.by_number.values().filter(move |realm| realm.context == context)
    }

    /// The realm of the page's own scripts: the newest, because a document's realm is reported before the former one ends.
    pub(crate) fn main_of<'a>(&'a self, context: &'a str) -> Option<&'a Realm> {
        self.in_context(context).rfind(|realm| realm.sandbox.is_none())
    }
}
