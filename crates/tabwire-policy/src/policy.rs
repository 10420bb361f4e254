//! The policy: the user's file, grants and approvals, and the one function that decides.

use crate::Profile;
use crate::capability::Capability;
use crate::decision::{ApprovalWait, Decision, Source, remedy};
use crate::grants::{GrantList, Holder};
use crate::page_url::{PageUrl, UrlError};
use crate::policy_file::{PolicyFile, Unlisted};
use crate::session_agents::{AgentScope, SessionAgents};
use crate::site::Site;
use crate::special_host::SpecialHost;

/// One request to the policy.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest<'a> {
    /// The session's profile.
    pub profile: Profile,
    /// The URL.
    pub url: &'a PageUrl,
    /// The capability.
    pub capability: Capability,
    /// The session key that grants refer to.
    pub session: Option<&'a str>,
    /// Unix time in seconds.
    pub now: u64,
}

/// The policy file, grants and approvals together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The user's `policy.toml`.
    pub file: PolicyFile,
    /// Grants and denials.
    pub grants: GrantList,
    /// Permissions for single actions that are running.
    pub approvals: Vec<Approval>,
    /// The agents that use each session. A grant for one agent holds in its sessions.
    pub agents: SessionAgents,
    /// The port of Tabwire itself. Its pages can grant, so no session may open them.
    pub own_port: Option<u16>,
    /// Why the current file is invalid, as a sentence. Until it is fixed, everything is denied.
    pub fault: Option<String>,
}

/// The user's permission for one running action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The id of the approval.
    pub number: u64,
    /// The site.
    pub site: Site,
    /// The capability; includes reading.
    pub capability: Capability,
    /// The session.
    pub session: String,
}

impl Approval {
    fn allows(&self, request: &AccessRequest<'_>) -> bool {
        let capability = request.capability == self.capability || request.capability == Capability::Read;
        capability && request.session == Some(self.session.as_str()) && self.site.grants(request.url)
    }
}

impl Policy {
    /// Decides for a session: grants for one of its agents hold. Denials come first, then built-in refusals, then
    /// grants, then the profile.
    #[must_use]
    pub fn decide(&self, request: &AccessRequest<'_>) -> Decision {
        self.decide_in(request, AgentScope::OfSession(&self.agents))
    }

    /// Decides for one agent of a session: grants for its other agents do not hold.
    #[must_use]
    pub fn decide_for(&self, request: &AccessRequest<'_>, agent: &str) -> Decision {
        self.decide_in(request, AgentScope::One(agent))
    }

    fn decide_in(&self, request: &AccessRequest<'_>, agent: AgentScope<'_>) -> Decision {
        if let Some(fault) = &self.fault {
            return Decision::Deny { by: Source::InvalidFile, why: fault.clone(), remedy: None };
        }
        if self.is_own_page(request.url) {
            return refused(
                request,
                "it is Tabwire's own page, which no agent may open",
                Source::BuiltIn,
                None,
            );
        }
        if let Some(refused) = self.find_denial(request) {
            return refused;
        }
        if request.profile == Profile::Open && !is_always_refused(request.url) {
            return Decision::Allow { by: Source::Profile(Profile::Open) };
        }
        if let Some(by) = self.find_permission(request, agent) {
            return Decision::Allow { by };
        }
        match request.url {
            PageUrl::Invalid(fault) => refused(request, &fault.to_string(), Source::BuiltIn, None),
            PageUrl::Blank => decide_blank(request),
            PageUrl::BlankOfAnother => {
                let why = "another page opened it and may have written into it";
                refused(request, why, Source::BuiltIn, None)
            }
            PageUrl::Web(web) if web.special().is_some_and(SpecialHost::is_always_refused) => {
                let why = web.special().map_or("", SpecialHost::sentence);
                refused(request, why, Source::BuiltIn, Site::of(request.url))
            }
            PageUrl::Host { special: Some(special), .. } if special.is_always_refused() => {
                refused(request, special.sentence(), Source::BuiltIn, Site::of(request.url))
            }
            PageUrl::Other { .. } => {
                let why = "it is not an http or https page";
                refused(request, why, Source::BuiltIn, Site::of(request.url))
            }
            PageUrl::Web(_) | PageUrl::Host { .. } | PageUrl::Everywhere => self.decide_unlisted(request),
        }
    }

    /// Whether a URL is a page of Tabwire itself, the demo page aside.
    #[must_use]
    pub fn is_own_page(&self, url: &PageUrl) -> bool {
        let PageUrl::Web(web) = url else { return false };
        let is_this_machine = matches!(web.special(), Some(SpecialHost::Loopback | SpecialHost::Unspecified));
        is_this_machine && self.own_port == Some(web.port) && web.path != "/demo"
    }

    /// Whether there are no denials, so that open sessions need no guard.
    #[must_use]
    pub fn denies_nothing(&self) -> bool {
        let denials = self.grants.entries().iter().any(|entry| entry.kind == crate::grants::EntryKind::Deny);
        self.fault.is_none() && !denials && self.file.rules.iter().all(|rule| rule.deny.is_empty())
    }

    /// The sites with a rule on reading in a session, in order of precedence: denials, then grants.
    #[must_use]
    pub fn readable_sites(&self, now: u64, session: Option<&str>) -> Vec<(Site, bool)> {
        use crate::grants::EntryKind;
        let holder = Holder { now, session, agent: AgentScope::OfSession(&self.agents) };
        let holds = |entry: &&crate::grants::GrantEntry| entry.holds(&holder);
        let entries = || self.grants.entries().iter().filter(holds);
        let denied = entries().filter(|entry| entry.kind == EntryKind::Deny).map(|entry| &entry.site);
        let rules = self.file.rules.iter();
        let denied_by_file =
            rules.clone().filter(|rule| rule.denies(Capability::Read)).map(|rule| &rule.denied_site);
        let granted = entries().filter(|entry| entry.kind != EntryKind::Deny).map(|entry| &entry.site);
        let granted_by_file = rules.filter(|rule| rule.allow.has(Capability::Read)).map(|rule| &rule.site);
        let passed = self
            .approvals
            .iter()
            .filter(|pass| session == Some(pass.session.as_str()))
            .map(|pass| &pass.site);
        let denied = denied.chain(denied_by_file).map(|site| (site.clone(), false));
        let granted = granted.chain(granted_by_file).chain(passed).map(|site| (site.clone(), true));
        denied.chain(granted).collect()
    }

    /// Whether any grant contains this capability.
    #[must_use]
    pub fn grants_anywhere(&self, capability: Capability, now: u64, session: Option<&str>) -> bool {
        let in_file = self.file.rules.iter().any(|rule| rule.allow.has(capability));
        let holder = Holder { now, session, agent: AgentScope::OfSession(&self.agents) };
        in_file
            || self.grants.entries().iter().any(|entry| match &entry.kind {
                crate::grants::EntryKind::Grant { capabilities, .. } => {
                    capabilities.has(capability) && entry.holds(&holder)
                }
                crate::grants::EntryKind::Deny => false,
            })
    }

    fn find_denial(&self, request: &AccessRequest<'_>) -> Option<Decision> {
        let AccessRequest { url, capability, .. } = *request;
        if let Some(entry) = self.grants.find_denial(url) {
            let why = "a denial covers it";
            let remedy = Some(format!("tabwire grants revoke {}", entry.id));
            return Some(denied(request, why, Source::Denial(entry.id.clone()), remedy));
        }
        let is_it =
            |rule: &&crate::policy_file::Rule| rule.denies(capability) && rule.denied_site.forbids(url);
        let rule = self.file.rules.iter().find(is_it)?;
        Some(denied(request, "policy.toml denies it", Source::Rule(rule.line), None))
    }

    fn find_permission(&self, request: &AccessRequest<'_>, agent: AgentScope<'_>) -> Option<Source> {
        let AccessRequest { url, capability, session, now, .. } = *request;
        let asked = self.file.rules.iter().any(|rule| rule.ask.has(capability) && rule.site.asks(url));
        let grant = self.grants.find_grant(url, capability, &Holder { now, session, agent });
        if let Some(grant) = grant {
            return Some(Source::Grant(grant.id.clone()));
        }
        if self.approvals.iter().any(|pass| pass.allows(request)) {
            return Some(Source::Approval);
        }
        let rule = self.file.rules.iter().find(|rule| rule.allow.has(capability) && rule.site.grants(url));
        rule.filter(|_| !asked).map(|rule| Source::Rule(rule.line))
    }

    fn decide_unlisted(&self, request: &AccessRequest<'_>) -> Decision {
        let AccessRequest { url, capability, .. } = *request;
        let Some(site) = Site::of(url) else {
            return refused(request, "it has no site", Source::BuiltIn, None);
        };
        let rule = self.file.rules.iter().find(|rule| rule.ask.has(capability) && rule.site.asks(url));
        let by = rule.map_or(Source::Profile(Profile::Guarded), |rule| Source::Rule(rule.line));
        let why = sentence(request, "no grant allows it");
        let remedy = remedy(&site, capability);
        match (rule, self.file.unlisted) {
            (None, Unlisted::Deny) => Decision::Deny { by, why, remedy: Some(remedy) },
            (None, Unlisted::Ask) => {
                Decision::Ask { by, why, remedy, site, capability, wait: ApprovalWait::IfApproverConnected }
            }
            (Some(_), _) => {
                Decision::Ask { by, why, remedy, site, capability, wait: ApprovalWait::UntilTimeout }
            }
        }
    }
}

/// What even open sessions refuse without a grant that names it. The engine refuses other schemes.
fn is_always_refused(url: &PageUrl) -> bool {
    match url {
        PageUrl::Web(web) => web.special().is_some_and(SpecialHost::is_always_refused),
        PageUrl::Host { special, .. } => special.is_some_and(SpecialHost::is_always_refused),
        PageUrl::Invalid(UrlError::User | UrlError::Star) => true,
        _ => false,
    }
}

/// A blank page belongs to no site: it can be opened and read. Input, code and files need a grant for every site.
fn decide_blank(request: &AccessRequest<'_>) -> Decision {
    match request.capability {
        Capability::Read | Capability::Carry => Decision::Allow { by: Source::Profile(request.profile) },
        _ => refused(
            request,
            "it belongs to no site; open a page first",
            Source::BuiltIn,
            Some(Site::everywhere()),
        ),
    }
}

fn sentence(request: &AccessRequest<'_>, why: &str) -> String {
    let place = request.url.label();
    let done = match request.capability {
        Capability::Read => "may not be read or opened",
        Capability::Act => "may not be acted on",
        Capability::Eval => "may not run your code",
        Capability::Download => "may not write files to this machine",
        Capability::Upload => "may not receive files",
        Capability::Cdp => "may not be driven with CDP",
        Capability::Carry => "may not receive data of other sites",
    };
    let led = request.url.resolved_note().map(|led| led + " ").unwrap_or_default();
    format!("{led}{place} {done}: {why}.")
}

fn denied(request: &AccessRequest<'_>, why: &str, by: Source, remedy: Option<String>) -> Decision {
    Decision::Deny { by, why: sentence(request, why), remedy }
}

fn refused(request: &AccessRequest<'_>, why: &str, by: Source, site: Option<Site>) -> Decision {
    denied(request, why, by, site.map(|site| remedy(&site, request.capability)))
}
