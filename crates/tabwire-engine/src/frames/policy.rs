//! Policy checks of frames, requests and console lines, each by its own URL. The rules come from the caller.

use std::fmt;
use std::sync::Arc;

use tabwire_api::{Failure, FrameId};
use tabwire_policy::{Capability, PageUrl};

use crate::frames::tree::Frame;

/// Fails when a capability is refused at a URL.
type Rule = Arc<dyn Fn(&PageUrl, Capability) -> Result<(), Failure> + Send + Sync>;

/// Whether nothing is refused anywhere, so that all checks can be skipped.
type Idle = Arc<dyn Fn() -> bool + Send + Sync>;

/// The policy of one session. Without rules it allows everything.
#[derive(Clone, Default)]
pub struct FramePolicy(Option<Rules>);

#[derive(Clone)]
struct Rules {
    is_idle: Idle,
    check: Rule,
}

impl FramePolicy {
    /// A policy that calls `check` for a URL and a capability, unless `is_idle` returns that all is allowed.
    pub fn new(
        is_idle: impl Fn() -> bool + Send + Sync + 'static,
        check: impl Fn(&PageUrl, Capability) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Rules { is_idle: Arc::new(is_idle), check: Arc::new(check) }))
    }

    /// Whether everything is allowed everywhere.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.as_ref().is_none_or(|rules| (rules.is_idle)())
    }

    /// Fails with the refusal and its remedy when a capability is not allowed at a URL.
    pub(crate) fn check(&self, url: &str, capability: Capability) -> Result<(), Failure> {
        self.check_address(|| PageUrl::parse(url), capability)
    }

    /// Fails with the refusal when a capability is not allowed for the cookies of a domain.
    pub(crate) fn check_cookie_domain(&self, domain: &str, capability: Capability) -> Result<(), Failure> {
        self.check_address(|| PageUrl::of_cookie_domain(domain), capability)
    }

    /// Fails when a capability is not allowed at a URL whose name leads to this private address.
    pub(crate) fn check_reached(
        &self,
        url: &str,
        address: std::net::IpAddr,
        capability: Capability,
    ) -> Result<(), Failure> {
        match PageUrl::parse(url).reached_at(address) {
            Some(reached) => self.check_address(|| reached, capability),
            None => Ok(()),
        }
    }

    fn check_address(
        &self,
        address: impl FnOnce() -> PageUrl,
        capability: Capability,
    ) -> Result<(), Failure> {
        match &self.0 {
            Some(rules) if !(rules.is_idle)() => (rules.check)(&address(), capability),
            _ => Ok(()),
        }
    }

    /// Whether a capability is allowed at a URL.
    pub(crate) fn allows(&self, url: &str, capability: Capability) -> bool {
        self.check(url, capability).is_ok()
    }

    /// The frames that may be read. The main frame is always included: the caller checks the page itself.
    pub(crate) fn readable(&self, frames: Vec<Frame>) -> Vec<Frame> {
        if frames.len() < 2 || self.is_idle() {
            return frames;
        }
        // Parents come before children: a frame inside an unreadable frame is unreadable too.
        let mut readable: Vec<Frame> = Vec::new();
        for frame in &frames {
            let is_reached = |parent: &FrameId| readable.iter().any(|known| known.id == *parent);
            let is_open = |parent: &FrameId| {
                is_reached(parent) && self.allows(url_of(frame, &frames), Capability::Read)
            };
            if frame.parent.as_ref().is_none_or(is_open) {
                readable.push(frame.clone());
            }
        }
        readable
    }
}

impl fmt::Debug for FramePolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "FramePolicy" } else { "FramePolicy(allows everything)" })
    }
}

/// The policy URL of a frame: its own, or that of the frame above for an `about:` document.
pub(crate) fn url_of<'a>(frame: &'a Frame, frames: &'a [Frame]) -> &'a str {
    let above = |id: &FrameId| frames.iter().find(|frame| frame.id == *id);
    let mut current = frame;
    // Bounded by the number of frames, in case Chrome reports a cycle.
    for _ in 0..frames.len() {
        match current.parent.as_ref().and_then(above).filter(|_| inherits_origin(&current.url)) {
            Some(parent) => current = parent,
            None => break,
        }
    }
    &current.url
}

/// Whether a document at this URL inherits its origin.
pub(crate) fn inherits_origin(url: &str) -> bool {
    url.is_empty() || url.starts_with("about:")
}

/// The site of a URL, without path and query.
pub(crate) fn site_of(url: &str) -> String {
    PageUrl::parse(url).label()
}

/// Counts what a result omits because the policy does not allow reading its site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OmittedSites {
    count: usize,
    sites: Vec<String>,
}

/// Sites that a notice names.
const SITES_NAMED: usize = 5;

impl OmittedSites {
    /// Counts one item of this URL.
    pub(crate) fn add(&mut self, url: &str) {
        self.count += 1;
        let site = site_of(url);
        if self.sites.len() <= SITES_NAMED && !self.sites.contains(&site) {
            self.sites.push(site);
        }
    }

    /// The notice; `None` when nothing was omitted.
    pub(crate) fn notice(&self, one: &str, many: &str) -> Option<String> {
        let what = match self.count {
            0 => return None,
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let named = self.sites.iter().take(SITES_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if self.sites.len() > SITES_NAMED { " and others" } else { "" };
        Some(format!("{what} of {named}{more} omitted: the policy does not allow reading them."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, parent: Option<&str>, url: &str) -> Frame {
        let parent = parent.map(FrameId::new);
        Frame { id: FrameId::new(id), owner_frame: parent.clone(), parent, url: url.to_owned() }
    }

    fn good_only() -> FramePolicy {
        FramePolicy::new(
            || false,
            |address, _| {
                let refused = Failure::new(tabwire_api::ErrorCode::PolicyDenied, "Refused.");
                if address.label() == "https://good.test" { Ok(()) } else { Err(refused) }
            },
        )
    }

    #[test]
    fn an_about_frame_is_judged_as_the_frame_above() {
        let frames = vec![
            frame("main", None, "https://bad.test/"),
            frame("a", Some("main"), "https://good.test/"),
            frame("b", Some("main"), "https://bad.test/x"),
            frame("c", Some("b"), "about:srcdoc"),
            frame("d", Some("a"), "about:blank"),
        ];
        let policy = good_only();
        let seen: Vec<String> =
            policy.readable(frames.clone()).into_iter().map(|frame| frame.id.to_string()).collect();
        assert_eq!(seen, ["main", "a", "d"]);
        assert_eq!(FramePolicy::default().readable(frames.clone()).len(), 5);
        let idle = FramePolicy::new(|| true, |_, _| Err(crate::page::crashed_page()));
        assert_eq!(idle.readable(frames).len(), 5);
    }

    #[test]
    fn a_notice_names_sites_without_their_paths() {
        let mut left_out = OmittedSites::default();
        assert_eq!(left_out.notice("line", "lines"), None);
        left_out.add("https://bad.test/secret?token=1");
        left_out.add("https://bad.test/other");
        let notice = left_out.notice("line", "lines").expect("a notice");
        assert_eq!(notice, "2 lines of https://bad.test omitted: the policy does not allow reading them.");
    }
}
