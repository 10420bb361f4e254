//! Everything that was ruled, and the one place where a question is decided.

use crate::Profile;
use crate::address::{Address, AddressFault};
use crate::capability::Capability;
use crate::decision::{Decision, Patience, Source, remedy};
use crate::ledger::Ledger;
use crate::policy_file::{PolicyFile, Unlisted};
use crate::site::Site;
use crate::special_host::SpecialHost;

/// What is asked: may this be done there, now, in this session?
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What holds where nothing was said.
    pub profile: Profile,
    /// Where.
    pub address: &'a Address,
    /// What.
    pub capability: Capability,
    /// The session, as its grants name it.
    pub session: Option<&'a str>,
    /// Now, in seconds since 1970.
    pub now: u64,
}

/// The policy file and the ledger together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rulebook {
    /// The user's file.
    pub file: PolicyFile,
    /// What was granted and denied.
    pub ledger: Ledger,
    /// What somebody who was asked allows this one time.
    pub passes: Vec<Pass>,
    /// Why the file that is there now cannot be used, as a sentence; nothing is allowed meanwhile.
    pub fault: Option<String>,
}

/// A permission for one action that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Tells it apart from others.
    pub number: u64,
    /// Where.
    pub site: Site,
    /// What; reading is among it.
    pub capability: Capability,
    /// In which session.
    pub session: String,
}

impl Pass {
    fn allows(&self, question: &Question<'_>) -> bool {
        let capability = question.capability == self.capability || question.capability == Capability::Read;
        capability && question.session == Some(self.session.as_str()) && self.site.grants(question.address)
    }
}

impl Rulebook {
    /// Decides. Denials come first, then what no profile allows, then what was granted, then the profile.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        if let Some(fault) = &self.fault {
            return Decision::Deny { by: Source::BrokenFile, why: fault.clone(), remedy: None };
        }
        if let Some(refused) = self.find_denial(question) {
            return refused;
        }
        if question.profile == Profile::Open && !is_refused_everywhere(question.address) {
            return Decision::Allow { by: Source::Profile(Profile::Open) };
        }
        if let Some(by) = self.find_permission(question) {
            return Decision::Allow { by };
        }
        match question.address {
            Address::Wrong(fault) => refused(question, &fault.to_string(), Source::BuiltIn, None),
            Address::Blank => decide_blank(question),
            Address::BlankOfAnother => {
                let why = "another page opened it and may have written into it";
                refused(question, why, Source::BuiltIn, None)
            }
            Address::Web(web) if web.special().is_some_and(SpecialHost::is_refused_everywhere) => {
                let why = web.special().map_or("", SpecialHost::sentence);
                refused(question, why, Source::BuiltIn, Site::of(question.address))
            }
            Address::Host { special: Some(special), .. } if special.is_refused_everywhere() => {
                refused(question, special.sentence(), Source::BuiltIn, Site::of(question.address))
            }
            Address::Other { .. } => {
                let why = "it is no page of the web";
                refused(question, why, Source::BuiltIn, Site::of(question.address))
            }
            Address::Web(_) | Address::Host { .. } | Address::Everywhere => self.decide_unlisted(question),
        }
    }

    /// Whether open sessions need no guard: nothing was denied.
    #[must_use]
    pub fn denies_nothing(&self) -> bool {
        let denials = self.ledger.entries().iter().any(|entry| entry.stance == crate::ledger::Stance::Deny);
        self.fault.is_none() && !denials && self.file.rules.iter().all(|rule| rule.deny.is_empty())
    }

    /// What was ruled on reading sites in a session, in the order in which it holds: denials, then grants.
    #[must_use]
    pub fn readable_sites(&self, now: u64, session: Option<&str>) -> Vec<(Site, bool)> {
        use crate::ledger::Stance;
        let holds = |entry: &&crate::ledger::Entry| entry.holds(now, session);
        let entries = || self.ledger.entries().iter().filter(holds);
        let denied = entries().filter(|entry| entry.stance == Stance::Deny).map(|entry| &entry.site);
        let rules = self.file.rules.iter();
        let denied_by_file =
            rules.clone().filter(|rule| rule.denies(Capability::Read)).map(|rule| &rule.denied_site);
        let granted = entries().filter(|entry| entry.stance != Stance::Deny).map(|entry| &entry.site);
        let granted_by_file = rules.filter(|rule| rule.allow.has(Capability::Read)).map(|rule| &rule.site);
        let passed =
            self.passes.iter().filter(|pass| session == Some(pass.session.as_str())).map(|pass| &pass.site);
        let denied = denied.chain(denied_by_file).map(|site| (site.clone(), false));
        let granted = granted.chain(granted_by_file).chain(passed).map(|site| (site.clone(), true));
        denied.chain(granted).collect()
    }

    /// Whether anything at all was granted that has this capability.
    #[must_use]
    pub fn grants_anywhere(&self, capability: Capability, now: u64, session: Option<&str>) -> bool {
        let in_file = self.file.rules.iter().any(|rule| rule.allow.has(capability));
        in_file
            || self.ledger.entries().iter().any(|entry| match &entry.stance {
                crate::ledger::Stance::Grant { capabilities, .. } => {
                    capabilities.has(capability) && entry.holds(now, session)
                }
                crate::ledger::Stance::Deny => false,
            })
    }

    fn find_denial(&self, question: &Question<'_>) -> Option<Decision> {
        let Question { address, capability, .. } = *question;
        if let Some(entry) = self.ledger.find_denial(address) {
            let why = "it was denied";
            let remedy = Some(format!("tabwire grants revoke {}", entry.id));
            return Some(denied(question, why, Source::Denial(entry.id.clone()), remedy));
        }
        let is_it =
            |rule: &&crate::policy_file::Rule| rule.denies(capability) && rule.denied_site.forbids(address);
        let rule = self.file.rules.iter().find(is_it)?;
        Some(denied(question, "policy.toml denies it", Source::Rule(rule.line), None))
    }

    fn find_permission(&self, question: &Question<'_>) -> Option<Source> {
        let Question { address, capability, session, now, .. } = *question;
        let asked = self.file.rules.iter().any(|rule| rule.ask.has(capability) && rule.site.asks(address));
        let grant = self.ledger.find_grant(address, capability, now, session);
        if let Some(grant) = grant {
            return Some(Source::Grant(grant.id.clone()));
        }
        if self.passes.iter().any(|pass| pass.allows(question)) {
            return Some(Source::Approval);
        }
        let rule =
            self.file.rules.iter().find(|rule| rule.allow.has(capability) && rule.site.grants(address));
        rule.filter(|_| !asked).map(|rule| Source::Rule(rule.line))
    }

    fn decide_unlisted(&self, question: &Question<'_>) -> Decision {
        let Question { address, capability, .. } = *question;
        let Some(site) = Site::of(address) else {
            return refused(question, "it has no site", Source::BuiltIn, None);
        };
        let rule = self.file.rules.iter().find(|rule| rule.ask.has(capability) && rule.site.asks(address));
        let by = rule.map_or(Source::Profile(Profile::Guarded), |rule| Source::Rule(rule.line));
        let why = sentence(question, "nobody has allowed it");
        let remedy = remedy(&site, capability);
        match (rule, self.file.unlisted) {
            (None, Unlisted::Deny) => Decision::Deny { by, why, remedy: Some(remedy) },
            (None, Unlisted::Ask) => {
                Decision::Ask { by, why, remedy, site, capability, patience: Patience::IfSomebodyIsThere }
            }
            (Some(_), _) => Decision::Ask { by, why, remedy, site, capability, patience: Patience::Wait },
        }
    }
}

/// What not even an open session does unless it was named. Pages that are not of the web are the engine's to refuse.
fn is_refused_everywhere(address: &Address) -> bool {
    match address {
        Address::Web(web) => web.special().is_some_and(SpecialHost::is_refused_everywhere),
        Address::Host { special, .. } => special.is_some_and(SpecialHost::is_refused_everywhere),
        Address::Wrong(AddressFault::User | AddressFault::Star) => true,
        _ => false,
    }
}

/// A blank page belongs to no site: it can be opened and read. Input, code and files need a grant for every site.
fn decide_blank(question: &Question<'_>) -> Decision {
    match question.capability {
        Capability::Read | Capability::Carry => Decision::Allow { by: Source::Profile(question.profile) },
        _ => refused(
            question,
            "it belongs to no site; open a page first",
            Source::BuiltIn,
            Some(Site::everywhere()),
        ),
    }
}

fn sentence(question: &Question<'_>, why: &str) -> String {
    let place = question.address.told();
    let done = match question.capability {
        Capability::Read => "may not be read or opened",
        Capability::Act => "may not be acted on",
        Capability::Eval => "may not run code of yours",
        Capability::Download => "may not have files written",
        Capability::Upload => "may not be given files",
        Capability::Cdp => "may not be driven with CDP",
        Capability::Carry => "may not be brought what was read elsewhere",
    };
    let led = question.address.led_by().map(|led| led + " ").unwrap_or_default();
    format!("{led}{place} {done}: {why}.")
}

fn denied(question: &Question<'_>, why: &str, by: Source, remedy: Option<String>) -> Decision {
    Decision::Deny { by, why: sentence(question, why), remedy }
}

fn refused(question: &Question<'_>, why: &str, by: Source, site: Option<Site>) -> Decision {
    denied(question, why, by, site.map(|site| remedy(&site, question.capability)))
}
