//! The policy API: granting, denying, revoking, listing, checking, and deciding approval requests.
//!
//! Changes need the socket, whose peer is the user or a program of the user.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{ClientName, ErrorCode, Failure, ProjectKey, Remedy, SessionKey, SessionName, Step};
use tabwire_audit::{ClientInfo, Transport as AuditTransport};
use tabwire_engine::{ACTIONS, ActionKind, checked_url, find_action, find_similar};
use tabwire_policy::{
    AccessRequest, Capabilities, Capability, Decision, GrantEntry, GrantList, PageUrl, Site, SiteError,
};
use tabwire_policy::{EntryKind, GrantTerm, Policy, Profile};
use tabwire_policy::{Need, Needs, Scope};

use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;
use crate::http::caller::Caller;
use crate::http::gate::Transport;
use crate::limits::CLIENT_NAME_BYTES;
use crate::policy::approvals::{ApprovalDecision, ApprovalQueue};
use crate::policy::store::{PolicyStore, now};
use crate::session::table::SessionTable;

/// Longest wait of one poll for approval requests.
const APPROVALS_POLL_MAX: Duration = Duration::from_secs(25);

/// A request about the policy.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicyRequest {
    session: SessionName,
    project: ProjectKey,
    /// The site pattern.
    site: Option<String>,
    capabilities: Capabilities,
    term: WantedTerm,
    /// For `allow`: the agent's name; without one the grant is for every agent. For `check`: the agent that would do it.
    agent: Option<String>,
    /// An entry's id or site.
    which: Option<String>,
    /// For `check`: a URL and an action.
    url: Option<String>,
    action: Option<String>,
    policy: Option<Profile>,
    /// For `approvals`: whether to wait for a request.
    wait: bool,
    /// For `answer`.
    id: Option<String>,
    answer: Option<ApprovalDecision>,
}

/// How long a grant holds.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WantedTerm {
    #[default]
    Always,
    Session,
    Seconds(u64),
}

impl PolicyRequest {
    fn key(&self) -> SessionKey {
        SessionKey::new(self.project.clone(), self.session.clone())
    }

    fn needed<'a>(&self, value: &'a Option<String>, name: &str) -> Result<&'a str, Failure> {
        value.as_deref().ok_or_else(|| Failure::new(ErrorCode::BadArgs, format!("`{name}` is missing.")))
    }
}

/// The policy API of the daemon.
#[derive(Debug)]
pub(crate) struct PolicyApi {
    policy: Arc<PolicyStore>,
    approvals: Arc<ApprovalQueue>,
    audit: Arc<AuditWriter>,
    sessions: Arc<SessionTable>,
}

impl PolicyApi {
    pub(crate) fn new(
        policy: &Arc<PolicyStore>,
        approvals: &Arc<ApprovalQueue>,
        audit: &Arc<AuditWriter>,
        sessions: &Arc<SessionTable>,
    ) -> Self {
        Self {
            policy: Arc::clone(policy),
            approvals: Arc::clone(approvals),
            audit: Arc::clone(audit),
            sessions: Arc::clone(sessions),
        }
    }

    /// Handles a request. Changes get a row in the audit log.
    pub(crate) async fn handle(
        &self,
        verb: &str,
        body: Value,
        caller: &Caller,
        transport: Transport,
    ) -> Result<Value, Failure> {
        let request: PolicyRequest = serde_json::from_value(body.clone()).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The body is not a valid request: {error}."))
        })?;
        self.policy.refresh();
        let changes = match verb {
            "show" => return Ok(self.policy_show()),
            "grants" => return Ok(json!({"entries": self.listed()})),
            "check" => return self.check_request(&request),
            "approvals" => return Ok(self.approvals_pending(&request).await),
            "allow" => "policy_allow",
            "deny" => "policy_deny",
            "revoke" => "policy_revoke",
            "answer" => "approval_answer",
            other => {
                let message = format!("Unknown policy request `{other}`.");
                return Err(Failure::new(ErrorCode::UnknownMethod, message));
            }
        };
        if transport != Transport::Socket {
            let message = "Grants and denials are refused over the port.";
            return Err(Failure::new(ErrorCode::PolicyDenied, message).with_remedy(Remedy::new(
                "Run {} in a terminal. It uses the daemon's socket.",
                [Step::command("tabwire allow")],
            )));
        }
        self.change_logged((changes, &request), &body, caller.named(None, None), "a terminal").await
    }

    /// `allow`, `deny`, `revoke` or `check` of the user at a place that is not a terminal.
    pub(crate) async fn handle_at(
        &self,
        verb: &'static str,
        body: Value,
        place: &str,
    ) -> Result<Value, Failure> {
        let request: PolicyRequest = serde_json::from_value(body.clone()).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The body is not a valid request: {error}."))
        })?;
        self.policy.refresh();
        if verb == "check" {
            return self.check_request(&request);
        }
        let name = Some(place.to_owned());
        let client_info = ClientInfo { name, transport: AuditTransport::Port, ..ClientInfo::default() };
        self.change_logged((verb, &request), &body, client_info, place).await
    }

    /// Changes the policy, and writes the row of the change.
    async fn change_logged(
        &self,
        (change, request): (&'static str, &PolicyRequest),
        body: &Value,
        client_info: ClientInfo,
        place: &str,
    ) -> Result<Value, Failure> {
        let entry = AuditEntry::of_ruling(&self.audit, request.key(), client_info, change, body);
        let changed = self.change_policy(change, request, place);
        entry.finish(changed.as_ref().err()).await;
        changed
    }

    fn change_policy(&self, change: &str, request: &PolicyRequest, place: &str) -> Result<Value, Failure> {
        match change {
            "policy_allow" => {
                let text = request.needed(&request.site, "site")?;
                let site = Site::parse(text).map_err(|fault| no_site(text, &fault))?;
                let term = match request.term {
                    WantedTerm::Always => GrantTerm::Always,
                    WantedTerm::Session => GrantTerm::Session(request.key().to_string()),
                    WantedTerm::Seconds(seconds) => GrantTerm::Until(now().saturating_add(seconds)),
                };
                let capabilities = request.capabilities.with(Capability::Read);
                let stance = EntryKind::Grant { capabilities, term };
                let agent = request.agent.as_deref().map(checked_agent).transpose()?;
                self.add_entry(agent.as_deref(), site, stance, place)
            }
            "policy_deny" => {
                let text = request.needed(&request.site, "site")?;
                let site = Site::parse_denied(text).map_err(|fault| no_site(text, &fault))?;
                self.add_entry(None, site, EntryKind::Deny, place)
            }
            "policy_revoke" => {
                let which = request.needed(&request.which, "which")?;
                let gone = self.policy.change(|ledger, _| Ok(ledger.revoke(which)))?;
                if gone.is_empty() {
                    let message = format!("There is no grant or denial `{which}`.");
                    return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                        "Run {} and use an id or a site of that list.",
                        [Step::command("tabwire grants list")],
                    )));
                }
                Ok(json!({"revoked": gone.iter().map(listed).collect::<Vec<_>>()}))
            }
            _ => {
                let id = request.needed(&request.id, "id")?;
                let answer = request.answer.unwrap_or(ApprovalDecision::No);
                let question = self.approvals.answer(id, answer, place)?;
                Ok(json!({"answered": id, "answer": answer, "question": question}))
            }
        }
    }

    fn add_entry(
        &self,
        agent: Option<&str>,
        site: Site,
        stance: EntryKind,
        place: &str,
    ) -> Result<Value, Failure> {
        let add = |ledger: &mut GrantList, time| ledger.add_for(agent, site, stance, time, place);
        let entry = self.policy.change(add)?;
        Ok(listed(&entry))
    }

    fn listed(&self) -> Vec<Value> {
        listed_entries(&self.policy.rulebook())
    }

    fn policy_show(&self) -> Value {
        let rulebook = self.policy.rulebook();
        json!({
            "file": self.policy.policy_file(),
            "fault": rulebook.fault,
            "unlisted": rulebook.file.unlisted,
            "rules": rulebook.file.rules,
            "entries": self.listed(),
        })
    }

    /// The decision that an action would get, and its source.
    fn check_request(&self, request: &PolicyRequest) -> Result<Value, Failure> {
        let (url, action) =
            (request.needed(&request.url, "url")?, request.needed(&request.action, "action")?);
        let (name, needs) = needs_of(action)?;
        let address = PageUrl::parse(&checked_url(url).unwrap_or_else(|_| url.to_owned()));
        let key = request.key();
        let of_session = self.sessions.find(&key).and_then(|session| {
            let live = session.peek_live().ok().flatten()?;
            Some(live.options.policy())
        });
        let profile = of_session.unwrap_or_default().stricter(request.policy.unwrap_or_default());
        let session = key.to_string();
        let rulebook = self.policy.rulebook();
        let decide = |need: &Need| {
            let (session, capability) = (Some(session.as_str()), need.capability);
            let address = if need.scope == Scope::EverySite { &PageUrl::Everywhere } else { &address };
            let access = AccessRequest { profile, url: address, capability, session, now: now() };
            let decision = match &request.agent {
                Some(agent) => rulebook.decide_for(&access, &known_name(agent)),
                None => rulebook.decide(&access),
            };
            decision_json(capability.as_str(), &address.label(), &decision)
        };
        let decisions: Vec<Value> = needs.iter().map(decide).collect();
        let worst =
            ["deny", "ask"].into_iter().find(|word| decisions.iter().any(|one| one["decision"] == *word));
        Ok(json!({
            "url": url, "place": address.label(), "action": name, "policy": profile,
            "decision": worst.unwrap_or("allow"), "decisions": decisions,
        }))
    }

    async fn approvals_pending(&self, request: &PolicyRequest) -> Value {
        let pending = if request.wait {
            self.approvals.watch().next(APPROVALS_POLL_MAX).await
        } else {
            self.approvals.pending(None)
        };
        json!({"pending": pending})
    }
}

/// The current grants and denials, as the API lists them.
pub(crate) fn listed_entries(rulebook: &Policy) -> Vec<Value> {
    rulebook.grants.entries().iter().filter(|entry| !is_over(entry)).map(listed).collect()
}

fn is_over(entry: &GrantEntry) -> bool {
    matches!(&entry.kind, EntryKind::Grant { term: GrantTerm::Until(end), .. } if *end <= now())
}

/// A grant or denial, as the API lists it.
pub(crate) fn listed(entry: &GrantEntry) -> Value {
    let (stance, capabilities, term) = match &entry.kind {
        EntryKind::Deny => ("deny", Capabilities::NONE, json!("always")),
        EntryKind::Grant { capabilities, term } => {
            let term = match term {
                GrantTerm::Always => json!("always"),
                GrantTerm::Session(name) => json!({"session": name}),
                GrantTerm::Until(end) => json!({"seconds_left": end.saturating_sub(now())}),
            };
            ("allow", *capabilities, term)
        }
    };
    json!({
        "id": entry.id, "stance": stance, "site": entry.site, "capabilities": capabilities, "term": term,
        "given_at": entry.given_at, "given_by": entry.given_by, "agent": entry.agent,
    })
}

/// The name that requests of an agent have, for the name of its product or program: `Codex` for `codex`.
fn known_name(name: &str) -> String {
    ClientName::new(name).map_or_else(|_| name.to_owned(), |known| known.display_name())
}

/// The name of an agent for a grant.
fn checked_agent(name: &str) -> Result<String, Failure> {
    let name = name.trim();
    if name.is_empty() || name.len() > CLIENT_NAME_BYTES || name.chars().any(char::is_control) {
        let message = format!("`agent` must be a name of 1 to {CLIENT_NAME_BYTES} bytes.");
        return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(
            "Use the name that the popup and the approval request show, such as \"Claude Code\".",
        ));
    }
    Ok(known_name(name))
}

fn decision_json(capability: &str, place: &str, decision: &Decision) -> Value {
    let (why, remedy) = match decision {
        Decision::Allow { .. } => (None, None),
        Decision::Deny { why, remedy, .. } => (Some(why), remedy.clone()),
        Decision::Ask { why, remedy, .. } => (Some(why), Some(remedy.clone())),
    };
    json!({
        "capability": capability, "place": place, "decision": decision.as_str(), "decided_by": decision.source().to_string(),
        "why": why, "remedy": remedy,
    })
}

/// The needs of an action with its required parameters only, by the name of the action or of an effect.
fn needs_of(word: &str) -> Result<(&'static str, Needs), Failure> {
    let effects = [
        ("read", Needs::page(Capability::Read)),
        ("act", Needs::page(Capability::Act)),
        ("navigate", Needs::page(Capability::Read)),
        ("eval", Needs::page(Capability::Eval)),
        ("files", Needs::page(Capability::Download)),
    ];
    match find_action(word) {
        Some(definition) if definition.kind == ActionKind::Page => {
            return Ok((definition.name, definition.needs(&definition.sample_parameters())?));
        }
        // The URL decides, which is the one that the question names.
        Some(definition) if definition.kind == ActionKind::Open => {
            return Ok((definition.name, Needs::page(Capability::Read)));
        }
        _ => {}
    }
    let known: Vec<&str> =
        ACTIONS.iter().map(|action| action.name).chain(effects.iter().map(|(name, _)| *name)).collect();
    let names: Vec<&str> = effects.iter().map(|(name, _)| *name).collect();
    if let Some((name, needs)) = effects.into_iter().find(|(effect, _)| *effect == word) {
        return Ok((name, needs));
    }
    let meant =
        find_similar(word, known).map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
    Err(Failure::new(ErrorCode::BadArgs, format!("There is no action `{word}`."))
        .with_remedy(format!("{meant}Name an action such as click, or an effect: {}.", names.join(", "))))
}

fn no_site(text: &str, fault: &SiteError) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Invalid site `{text}`: {fault}."))
        .with_remedy("Use https://example.org, https://*.example.org:8443/app, or * for every site.")
}
