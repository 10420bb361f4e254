//! What people ask of the policy: granting, denying, revoking, looking, and answering what agents ask for.
//!
//! Only the socket grants: whoever comes there is the user, or runs as the user.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_engine::{ACTIONS, checked_address, find_action, find_similar};
use tabwire_policy::{Address, Capabilities, Capability, Decision, Entry, Question, Site, SiteFault};
use tabwire_policy::{Need, Needs, Scope};
use tabwire_policy::{Profile, Rulebook, Stance, Term};
use tabwire_wire::{ErrorCode, Failure, ProjectKey, SessionKey, SessionName};

use crate::approval_desk::ApprovalAnswer;
use crate::caller::Caller;
use crate::daemon::Daemon;
use crate::gate::Door;
use crate::limits::ATTENDANCE_WAIT;
use crate::note::Note;
use crate::policy_desk::now;

/// A request about the policy.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicyRequest {
    session: SessionName,
    project: ProjectKey,
    /// Where: a pattern of sites.
    site: Option<String>,
    capabilities: Capabilities,
    term: WantedTerm,
    /// An entry's id or site.
    which: Option<String>,
    /// For `check`: an address and an action.
    url: Option<String>,
    action: Option<String>,
    policy: Option<Profile>,
    /// For `approvals`: whether to wait for a question.
    wait: bool,
    /// For `answer`.
    id: Option<String>,
    answer: Option<ApprovalAnswer>,
}

/// How long a grant is to hold.
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

impl Daemon {
    /// Does what is asked of the policy; changes are written into the journal.
    pub(crate) async fn rule(
        self: &Arc<Self>,
        verb: &str,
        body: Value,
        caller: &Caller,
        door: Door,
    ) -> Result<Value, Failure> {
        let request: PolicyRequest = serde_json::from_value(body.clone()).map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("The body is not a valid request: {error}."))
        })?;
        self.policy.refresh();
        let changes = match verb {
            "show" => return Ok(self.policy_show()),
            "grants" => return Ok(json!({"entries": self.listed()})),
            "check" => return self.policy_check(&request),
            "approvals" => return Ok(self.approvals_pending(&request).await),
            "allow" => "policy_allow",
            "deny" => "policy_deny",
            "revoke" => "policy_revoke",
            "answer" => "approval_answer",
            other => {
                let message = format!("There is nothing called `{other}` about the policy.");
                return Err(Failure::new(ErrorCode::UnknownMethod, message));
            }
        };
        if door != Door::Socket {
            let message = "Nothing is granted or denied over the port.";
            return Err(Failure::new(ErrorCode::PolicyDenied, message)
                .with_hint("Run `tabwire allow` in a terminal: it uses the daemon's socket."));
        }
        let note = Note::of_ruling(&self.scribe, request.key(), caller.named(None, None), changes, &body);
        let changed = self.change_policy(changes, &request);
        note.finish(changed.as_ref().err()).await;
        changed
    }

    fn change_policy(&self, change: &str, request: &PolicyRequest) -> Result<Value, Failure> {
        match change {
            "policy_allow" => {
                let text = request.needed(&request.site, "site")?;
                let site = Site::read(text).map_err(|fault| no_site(text, &fault))?;
                let term = match request.term {
                    WantedTerm::Always => Term::Always,
                    WantedTerm::Session => Term::Session(request.key().to_string()),
                    WantedTerm::Seconds(seconds) => Term::Until(now().saturating_add(seconds)),
                };
                let capabilities = request.capabilities.with(Capability::Read);
                let stance = Stance::Grant { capabilities, term };
                self.add_entry(site, stance)
            }
            "policy_deny" => {
                let text = request.needed(&request.site, "site")?;
                let site = Site::read_denied(text).map_err(|fault| no_site(text, &fault))?;
                self.add_entry(site, Stance::Deny)
            }
            "policy_revoke" => {
                let which = request.needed(&request.which, "which")?;
                let gone = self.policy.change(|ledger, _| Ok(ledger.revoke(which)))?;
                if gone.is_empty() {
                    let message = format!("Nothing was granted or denied as `{which}`.");
                    return Err(Failure::new(ErrorCode::BadArgs, message)
                        .with_hint("Run `tabwire grants list`; give an id or a site as it is listed."));
                }
                Ok(json!({"revoked": gone.iter().map(listed).collect::<Vec<_>>()}))
            }
            _ => {
                let id = request.needed(&request.id, "id")?;
                let answer = request.answer.unwrap_or(ApprovalAnswer::No);
                let question = self.approvals.answer(id, answer, "a terminal")?;
                Ok(json!({"answered": id, "answer": answer, "question": question}))
            }
        }
    }

    fn add_entry(&self, site: Site, stance: Stance) -> Result<Value, Failure> {
        let entry = self.policy.change(|ledger, time| ledger.add(site, stance, time, "a terminal"))?;
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

    /// What would be decided, and by what.
    fn policy_check(&self, request: &PolicyRequest) -> Result<Value, Failure> {
        let (url, action) =
            (request.needed(&request.url, "url")?, request.needed(&request.action, "action")?);
        let (name, needs) = needs_of(action)?;
        let address = Address::read(&checked_address(url).unwrap_or_else(|_| url.to_owned()));
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
            let address = if need.scope == Scope::EverySite { &Address::Everywhere } else { &address };
            let decision = rulebook.decide(&Question { profile, address, capability, session, now: now() });
            told(capability.as_str(), &address.told(), &decision)
        };
        let decisions: Vec<Value> = needs.iter().map(decide).collect();
        let worst =
            ["deny", "ask"].into_iter().find(|word| decisions.iter().any(|one| one["decision"] == *word));
        Ok(json!({
            "url": url, "place": address.told(), "action": name, "policy": profile,
            "decision": worst.unwrap_or("allow"), "decisions": decisions,
        }))
    }

    async fn approvals_pending(self: &Arc<Self>, request: &PolicyRequest) -> Value {
        let pending = if request.wait {
            self.approvals.attend().next(ATTENDANCE_WAIT).await
        } else {
            self.approvals.pending(None)
        };
        json!({"pending": pending})
    }
}

/// What is granted and denied now, as it is told.
pub(crate) fn listed_entries(rulebook: &Rulebook) -> Vec<Value> {
    rulebook.ledger.entries().iter().filter(|entry| !is_over(entry)).map(listed).collect()
}

fn is_over(entry: &Entry) -> bool {
    matches!(&entry.stance, Stance::Grant { term: Term::Until(end), .. } if *end <= now())
}

/// An entry as it is told.
fn listed(entry: &Entry) -> Value {
    let (stance, capabilities, term) = match &entry.stance {
        Stance::Deny => ("deny", Capabilities::NONE, json!("always")),
        Stance::Grant { capabilities, term } => {
            let term = match term {
                Term::Always => json!("always"),
                Term::Session(name) => json!({"session": name}),
                Term::Until(end) => json!({"seconds_left": end.saturating_sub(now())}),
            };
            ("allow", *capabilities, term)
        }
    };
    json!({
        "id": entry.id, "stance": stance, "site": entry.site, "capabilities": capabilities, "term": term,
        "given_at": entry.given_at, "given_by": entry.given_by,
    })
}

fn told(capability: &str, place: &str, decision: &Decision) -> Value {
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

/// What an action needs with no more than its required parameters, by the name of the action or of an effect.
fn needs_of(word: &str) -> Result<(&'static str, Needs), Failure> {
    let effects = [
        ("read", Needs::page(Capability::Read)),
        ("act", Needs::page(Capability::Act)),
        ("navigate", Needs::page(Capability::Read)),
        ("eval", Needs::page(Capability::Eval)),
        ("files", Needs::page(Capability::Download)),
    ];
    if word == "open" {
        return Ok(("open", Needs::page(Capability::Read)));
    }
    if let Some(definition) = find_action(word) {
        return Ok((definition.name, definition.needs(&definition.sample_parameters())?));
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
        .with_hint(format!("{meant}Name an action such as click, or an effect: {}.", names.join(", "))))
}

fn no_site(text: &str, fault: &SiteFault) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("`{text}` is no site: {fault}.")).with_hint(
        "Write a site as https://example.org, https://*.example.org:8443/app, or * for every site.",
    )
}
