//! Tracks which sites a session has read and how much it sends elsewhere. A prompt injection on one page can use this
//! path to leak the content of another site.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::FLOW_CHARACTERS;
use crate::site::Site;

/// Most sites that the flows of a session are tracked for.
const FLOW_SITES: usize = 1_000;

/// The sites a session has read, and how many characters it has sent to each since.
#[derive(Clone, Debug, Default)]
pub struct FlowTracker {
    read: BTreeSet<String>,
    /// Characters sent to a site after another site was read.
    sent: BTreeMap<String, usize>,
}

/// Data of one site that may be on its way to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Some of the sites that were read.
    pub from: Vec<String>,
    /// The destination.
    pub to: Site,
    /// Characters sent there, these included.
    pub characters: usize,
}

impl Flow {
    /// Whether it needs approval.
    #[must_use]
    pub const fn is_long(&self) -> bool {
        self.characters >= FLOW_CHARACTERS
    }

    /// The reason for the approval, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "{} characters would be sent to {} after {} was read.",
            self.characters,
            self.to,
            self.from.join(", ")
        )
    }
}

impl FlowTracker {
    /// Records that content of a site was read.
    pub fn record_read(&mut self, site: &Site) {
        if self.read.len() < FLOW_SITES {
            self.read.insert(site.to_string());
        }
    }

    /// The flow of so many characters to a site; none when no other site was read.
    #[must_use]
    pub fn flow_to(&self, to: &Site, characters: usize) -> Option<Flow> {
        let name = to.to_string();
        let from: Vec<String> = self.read.iter().filter(|read| **read != name).take(3).cloned().collect();
        if from.is_empty() || characters == 0 {
            return None;
        }
        if !self.sent.contains_key(&name) && self.sent.len() >= FLOW_SITES {
            // The table is full: require approval for every further site.
            return Some(Flow { from, to: to.clone(), characters: usize::MAX });
        }
        let before = self.sent.get(&name).copied().unwrap_or_default();
        Some(Flow { from, to: to.clone(), characters: before.saturating_add(characters) })
    }

    /// Records a flow. After an approved one the count restarts.
    pub fn record_sent(&mut self, flow: &Flow) {
        let name = flow.to.to_string();
        if flow.is_long() {
            self.sent.remove(&name);
        } else {
            self.sent.insert(name, flow.characters);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Site {
        Site::parse(text).expect("a site")
    }

    #[test]
    fn much_text_sent_after_reading_another_site_is_a_long_flow() {
        let (bank, shop) = (site("https://bank.test"), site("https://shop.test"));
        let mut watch = FlowTracker::default();
        assert_eq!(watch.flow_to(&shop, 1_000), None, "nothing was read yet");
        watch.record_read(&shop);
        assert_eq!(watch.flow_to(&shop, 1_000), None, "text that stays on its site is not a flow");
        watch.record_read(&bank);
        assert_eq!(watch.flow_to(&shop, 0), None);
        let little = watch.flow_to(&shop, FLOW_CHARACTERS - 1).expect("a flow");
        assert!(!little.is_long());
        assert_eq!(little.from, ["https://bank.test"]);
        assert!(!watch.flow_to(&shop, 1).expect("a flow").is_long(), "unsent text does not count");
        watch.record_sent(&little);
        let more = watch.flow_to(&shop, 1).expect("a flow");
        assert!(more.is_long(), "small amounts add up");
        assert_eq!(
            more.sentence(),
            format!(
                "{FLOW_CHARACTERS} characters would be sent to https://shop.test after https://bank.test was read."
            )
        );
        watch.record_sent(&more);
        assert!(!watch.flow_to(&shop, 1).expect("a flow").is_long(), "the count restarts");
    }

    #[test]
    fn a_full_flow_tracker_requires_approval() {
        let mut watch = FlowTracker::default();
        watch.record_read(&site("https://bank.test"));
        for number in 0..FLOW_SITES {
            let flow = watch.flow_to(&site(&format!("https://s{number}.test")), 1).expect("a flow");
            watch.record_sent(&flow);
        }
        assert!(watch.flow_to(&site("https://one-more.test"), 1).expect("a flow").is_long());
        assert!(!watch.flow_to(&site("https://s1.test"), 1).expect("a flow").is_long());
    }
}
