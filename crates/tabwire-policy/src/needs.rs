//! What an action needs of the policy. Each action computes its needs from its parameters.

use crate::capability::Capability;

/// Where a capability is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The page that the tab shows.
    Page,
    /// The settings of the tab. They are judged by the page that the tab shows; a blank tab needs no grant.
    Tab,
    /// A URL or origin that the parameters name.
    Url(String),
    /// Every site at once: cookies of the whole browser, scripts of later documents, the clipboard.
    EverySite,
}

/// One capability and where it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What must be allowed.
    pub capability: Capability,
    /// Where.
    pub scope: Scope,
}

/// How the result of an action is judged before it leaves the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultCheck {
    /// By the page that the tab shows then, which must be readable.
    Page,
    /// It lists tabs: titles and paths of those that may not be read are withheld.
    TabList,
    /// Not again: the grant for every site covers it, or it shows nothing of a page.
    None,
}

/// What an action needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    list: Vec<Need>,
    result: ResultCheck,
    shows_every_frame: bool,
    shows_past: bool,
    /// Characters that the action sends to the URLs that it names, besides the URLs themselves.
    exchanged: Option<usize>,
}

impl Needs {
    const fn with_result(result: ResultCheck) -> Self {
        Self { list: Vec::new(), result, shows_every_frame: false, shows_past: false, exchanged: None }
    }

    /// Nothing: the action neither reads nor changes a page.
    #[must_use]
    pub const fn nothing() -> Self {
        Self::with_result(ResultCheck::None)
    }

    /// A capability on the page that the tab shows.
    #[must_use]
    pub fn page(capability: Capability) -> Self {
        Self::with_result(ResultCheck::Page).and(capability, Scope::Page)
    }

    /// A capability for the settings of the tab.
    #[must_use]
    pub fn tab(capability: Capability) -> Self {
        Self::with_result(ResultCheck::Page).and(capability, Scope::Tab)
    }

    /// Nothing of the page that the tab leaves; the page where it arrives must be readable.
    #[must_use]
    pub const fn destination() -> Self {
        Self::with_result(ResultCheck::Page)
    }

    /// A list of tabs, of which only readable ones are shown in full.
    #[must_use]
    pub const fn tab_list() -> Self {
        Self::with_result(ResultCheck::TabList)
    }

    /// Capabilities on every site at once.
    #[must_use]
    pub fn every_site(capabilities: &[Capability]) -> Self {
        let add = |needs: Self, capability: &Capability| needs.and(*capability, Scope::EverySite);
        capabilities.iter().fold(Self::nothing(), add)
    }

    /// One need more.
    #[must_use]
    pub fn and(mut self, capability: Capability, scope: Scope) -> Self {
        let need = Need { capability, scope };
        if !self.list.contains(&need) {
            self.list.push(need);
        }
        self
    }

    /// One need more if a parameter asks for it.
    #[must_use]
    pub fn and_if(self, condition: bool, capability: Capability, scope: Scope) -> Self {
        if condition { self.and(capability, scope) } else { self }
    }

    /// A capability at a URL, if the parameters name one.
    #[must_use]
    pub fn at(self, capability: Capability, url: Option<impl Into<String>>) -> Self {
        match url {
            Some(url) => self.and(capability, Scope::Url(url.into())),
            None => self,
        }
    }

    /// The result shows every frame of the page at once, as a screenshot does: each must be readable.
    #[must_use]
    pub const fn showing_every_frame(mut self, shows: bool) -> Self {
        self.shows_every_frame = shows;
        self
    }

    /// The result shows what the tab did earlier, on whatever page: console lines, requests, recordings.
    #[must_use]
    pub const fn showing_past(mut self) -> Self {
        self.shows_past = true;
        self
    }

    /// The action sends this many characters to the URLs that it names, and returns what they respond.
    #[must_use]
    pub const fn exchanging(mut self, characters: usize) -> Self {
        self.exchanged = Some(characters);
        self
    }

    /// Characters that the action sends to the URLs that it names; none when it does not return their responses.
    #[must_use]
    pub const fn exchanged(&self) -> Option<usize> {
        self.exchanged
    }

    /// Whether the result shows every frame of the page at once.
    #[must_use]
    pub const fn shows_every_frame(&self) -> bool {
        self.shows_every_frame
    }

    /// Whether the result shows what the tab did earlier.
    #[must_use]
    pub const fn shows_past(&self) -> bool {
        self.shows_past
    }

    /// The needs, stronger capabilities first: a grant of any of them includes reading.
    pub fn iter(&self) -> impl Iterator<Item = &Need> {
        let (reading, others): (Vec<&Need>, Vec<&Need>) =
            self.list.iter().partition(|need| need.capability == Capability::Read);
        others.into_iter().chain(reading)
    }

    /// The URLs that the parameters name.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter_map(|need| match &need.scope {
            Scope::Url(url) => Some(url.as_str()),
            _ => None,
        })
    }

    /// How the result is judged.
    #[must_use]
    pub const fn result(&self) -> ResultCheck {
        self.result
    }

    /// Whether the action reads, changes or sets up the page that the tab shows.
    #[must_use]
    pub fn touches_page(&self) -> bool {
        self.list.iter().any(|need| matches!(need.scope, Scope::Page | Scope::Tab))
    }

    /// Whether the action gives its parameters to the page: as input, or as code.
    #[must_use]
    pub fn gives_to_page(&self) -> bool {
        self.list.iter().any(|need| {
            need.scope == Scope::Page && matches!(need.capability, Capability::Act | Capability::Eval)
        })
    }

    /// Whether a capability is needed anywhere.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.list.iter().any(|need| need.capability == capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_kept_once_and_read_comes_last() {
        let needs = Needs::page(Capability::Read)
            .and(Capability::Eval, Scope::Page)
            .and(Capability::Eval, Scope::Page)
            .at(Capability::Read, Some("https://b.example/"))
            .at(Capability::Read, None::<String>);
        let words: Vec<&str> = needs.iter().map(|need| need.capability.as_str()).collect();
        assert_eq!(words, ["eval", "read", "read"]);
        assert_eq!(needs.urls().collect::<Vec<_>>(), ["https://b.example/"]);
        assert!(needs.touches_page() && needs.gives_to_page());
    }

    #[test]
    fn settings_of_a_tab_give_nothing_to_its_page() {
        let needs = Needs::tab(Capability::Act);
        assert!(needs.touches_page() && !needs.gives_to_page());
        assert!(!Needs::destination().touches_page());
    }
}
