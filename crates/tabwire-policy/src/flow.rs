//! What a session has read, and what it would carry elsewhere: the way in which a page that gives orders gets hold of
//! another site's content.
//!
//! Counts characters and remembers sites; knows nothing of what was read.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::{FLOW_CHARACTERS, FLOW_SITES};
use crate::site::Site;

/// The sites a session has read, and how much it has brought to each since.
#[derive(Clone, Debug, Default)]
pub struct FlowWatch {
    read: BTreeSet<String>,
    /// Characters that were brought to a site after another one was read.
    brought: BTreeMap<String, usize>,
}

/// Something that was read on one site may be on its way to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The sites that were read, a few of them.
    pub from: Vec<String>,
    /// Where it would go.
    pub to: Site,
    /// How many characters have been brought there, these included.
    pub characters: usize,
}

impl Flow {
    /// Whether it is enough to ask somebody first.
    #[must_use]
    pub const fn is_long(&self) -> bool {
        self.characters >= FLOW_CHARACTERS
    }

    /// Why somebody is asked, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{} characters would be brought to {} after {} was read.",
            self.characters,
            self.to,
            self.from.join(", ")
        )
    }
}

impl FlowWatch {
    /// Something of a site was told.
    pub fn has_read(&mut self, site: &Site) {
        if self.read.len() < FLOW_SITES {
            self.read.insert(site.to_string());
        }
    }

    /// So many characters are about to be brought to a site; none when nothing else was read before.
    #[must_use]
    pub fn flow_to(&self, to: &Site, characters: usize) -> Option<Flow> {
        let name = to.to_string();
        let from: Vec<String> = self.read.iter().filter(|read| **read != name).take(3).cloned().collect();
        if from.is_empty() || characters == 0 {
            return None;
        }
        if !self.brought.contains_key(&name) && self.brought.len() >= FLOW_SITES {
            // Whoever goes to this many sites is asked each time rather than forgotten.
            return Some(Flow { from, to: to.clone(), characters: usize::MAX });
        }
        let before = self.brought.get(&name).copied().unwrap_or_default();
        Some(Flow { from, to: to.clone(), characters: before.saturating_add(characters) })
    }

    /// It is brought. What comes after one that was long, and therefore allowed, is counted anew.
    pub fn is_brought(&mut self, flow: &Flow) {
        let name = flow.to.to_string();
        if flow.is_long() {
            self.brought.remove(&name);
        } else {
            self.brought.insert(name, flow.characters);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Site {
        Site::read(text).expect("a site")
    }

    #[test]
    fn what_was_read_on_one_site_is_on_its_way_when_much_is_brought_to_another() {
        let (bank, shop) = (site("https://bank.test"), site("https://shop.test"));
        let mut watch = FlowWatch::default();
        assert_eq!(watch.flow_to(&shop, 1_000), None, "nothing was read yet");
        watch.has_read(&shop);
        assert_eq!(watch.flow_to(&shop, 1_000), None, "what stays where it was read is no flow");
        watch.has_read(&bank);
        assert_eq!(watch.flow_to(&shop, 0), None);
        let little = watch.flow_to(&shop, FLOW_CHARACTERS - 1).expect("a flow");
        assert!(!little.is_long());
        assert_eq!(little.from, ["https://bank.test"]);
        assert!(!watch.flow_to(&shop, 1).expect("a flow").is_long(), "what was not brought does not count");
        watch.is_brought(&little);
        let more = watch.flow_to(&shop, 1).expect("a flow");
        assert!(more.is_long(), "many small pieces are a large one");
        assert_eq!(
            more.sentence(),
            format!(
                "{FLOW_CHARACTERS} characters would be brought to https://shop.test after https://bank.test was read."
            )
        );
        watch.is_brought(&more);
        assert!(!watch.flow_to(&shop, 1).expect("a flow").is_long(), "counted anew");
    }

    #[test]
    fn a_watch_is_bounded_and_asks_when_it_is_full() {
        let mut watch = FlowWatch::default();
        watch.has_read(&site("https://bank.test"));
        for number in 0..FLOW_SITES {
            let flow = watch.flow_to(&site(&format!("https://s{number}.test")), 1).expect("a flow");
            watch.is_brought(&flow);
        }
        assert!(watch.flow_to(&site("https://one-more.test"), 1).expect("a flow").is_long());
        assert!(!watch.flow_to(&site("https://s1.test"), 1).expect("a flow").is_long());
    }
}
