//! Notifications to the user of a connected browser, and the user's decisions there: approval requests, grants,
//! attachments and refusals.

use std::sync::Arc;

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, SessionKey, TargetId};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_extension::notification::{
    DecidedQuestion, Grant, Notification, PolicySummary, Question, Refusal, RuleSummary, TabDriver, UrlAccess,
};
use tabwire_extension::user_message::UserMessage;
use tabwire_policy::{Capabilities, Policy, Unlisted};
use tokio::sync::{mpsc, watch};

use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;
use crate::extension::browser::{ExtensionBrowser, ExtensionCommand};
use crate::hub::attachments::BrowserClients;
use crate::hub::client_label::ShownClient;
use crate::limits::APPROVAL_DEADLINE;
use crate::policy::api::listed_entries;
use crate::policy::approvals::{ApprovalDecision, ApprovalQueue, DecidedApproval, PendingApproval};
use crate::policy::standing::standing_of;
use crate::policy::store::PolicyStore;

/// Refusals that are kept for display in the user's own browsers.
const REFUSALS_KEPT: usize = 20;

/// The parts of the daemon that notifications read and that the user's decisions change.
#[derive(Clone, Debug)]
pub(crate) struct NotificationSources {
    pub(crate) approvals: Arc<ApprovalQueue>,
    pub(crate) policy: Arc<PolicyStore>,
    pub(crate) audit: Arc<AuditWriter>,
}

impl NotificationSources {
    pub(crate) fn new(
        approvals: &Arc<ApprovalQueue>,
        policy: &Arc<PolicyStore>,
        audit: &Arc<AuditWriter>,
    ) -> Self {
        Self { approvals: Arc::clone(approvals), policy: Arc::clone(policy), audit: Arc::clone(audit) }
    }
}

/// A refusal in one of the user's own browsers.
#[derive(Clone, Debug)]
pub(crate) struct RefusalNotice {
    pub(crate) install: String,
    pub(crate) refusal: Refusal,
}

/// The latest refusals in all of them, the newest first.
pub(crate) type Refusals = watch::Sender<Vec<RefusalNotice>>;

/// Adds a refusal.
pub(crate) fn add_refusal(refusals: &Refusals, install: &str, refusal: Refusal) {
    refusals.send_modify(|list| {
        list.insert(0, RefusalNotice { install: install.to_owned(), refusal });
        list.truncate(REFUSALS_KEPT);
    });
}

/// Notifies the user of one browser, while its task lives.
pub(crate) struct Notifications {
    sources: NotificationSources,
    install: String,
    /// The name of this browser as the source of decisions.
    place: String,
    /// Weak: the notifier must not keep the browser's task alive.
    commands: mpsc::WeakSender<ExtensionCommand>,
    words: mpsc::Receiver<UserMessage>,
    clients: watch::Receiver<BrowserClients>,
    refusals: watch::Receiver<Vec<RefusalNotice>>,
    /// The URLs of shared tabs whose standing the extension shows.
    shown_urls: Vec<String>,
}

impl Notifications {
    pub(crate) fn new(
        sources: NotificationSources,
        browser: &ExtensionBrowser,
        words: mpsc::Receiver<UserMessage>,
        refusals: &Refusals,
    ) -> Self {
        Self {
            sources,
            install: browser.install.clone(),
            place: format!("the extension in {}", browser.name),
            commands: browser.commands.downgrade(),
            words,
            clients: browser.attachments.changes(),
            refusals: refusals.subscribe(),
            shown_urls: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        let mut approvals = self.sources.approvals.changes();
        let mut policy = self.sources.policy.changes();
        // The user of the extension can be asked.
        let _attendance = self.sources.approvals.watch();
        loop {
            approvals.mark_unchanged();
            policy.mark_unchanged();
            let state = self.state();
            let Some(commands) = self.commands.upgrade() else { return };
            if commands.send(ExtensionCommand::Notify(state)).await.is_err() {
                return;
            }
            drop(commands);
            tokio::select! {
                word = self.words.recv() => match word {
                    Some(word) => self.handle(word).await,
                    None => return,
                },
                _ = approvals.changed() => {}
                _ = policy.changed() => {}
                Ok(()) = self.clients.changed() => {}
                _ = self.refusals.changed() => {}
            }
        }
    }

    fn state(&mut self) -> String {
        let policy = self.sources.policy.rulebook();
        let refused = self.refusals.borrow_and_update();
        let refused = refused.iter().filter(|one| one.install == self.install).map(|one| one.refusal.clone());
        let clients = self.clients.borrow_and_update();
        let attached = clients.attached.iter();
        let state = Notification {
            approvals: self.sources.approvals.pending(None).into_iter().map(question).collect(),
            decided: self.sources.approvals.decided().into_iter().map(decided).collect(),
            grants: granted(&policy),
            policy: summary(&policy, self.sources.policy.policy_file().display().to_string()),
            drivers: attached.map(|(target, clients)| driver(target, clients)).collect(),
            open: clients.open.iter().cloned().collect(),
            standings: self
                .shown_urls
                .iter()
                .map(|url| standing_of(&policy, url))
                .collect::<Vec<UrlAccess>>(),
            refused: refused.collect(),
        };
        json!({"notify": "state", "data": state}).to_string()
    }

    async fn handle(&mut self, word: UserMessage) {
        match word {
            UserMessage::Show { urls } => self.shown_urls = urls,
            // A failure is in the audit log. The page shows the question or grant as it is.
            word => drop(self.sources.decide(word, &self.place).await),
        }
    }
}

impl NotificationSources {
    /// Applies a decision of the user, and writes its audit row; `place` says where it was made.
    pub(crate) async fn decide(&self, word: UserMessage, place: &str) -> Result<(), Failure> {
        let (action, params) = match &word {
            UserMessage::Answer { approval, answer } => {
                ("approval_answer", json!({"id": approval, "answer": answer}))
            }
            UserMessage::Revoke { grant } => ("policy_revoke", json!({"which": grant})),
            UserMessage::Show { .. } => return Ok(()),
        };
        let client_info =
            ClientInfo { name: Some(place.to_owned()), transport: Transport::Port, ..ClientInfo::default() };
        let entry = AuditEntry::of_ruling(&self.audit, SessionKey::default(), client_info, action, &params);
        let done = self.apply(word, place);
        if let Err(failure) = &done {
            tracing::info!(%failure, place, "a decision of the user failed");
        }
        entry.finish(done.as_ref().err()).await;
        done
    }

    fn apply(&self, word: UserMessage, place: &str) -> Result<(), Failure> {
        match word {
            UserMessage::Answer { approval, answer } => {
                let answer: ApprovalDecision = serde_json::from_value(json!(answer)).map_err(|_| {
                    let message = "A decision is `once`, `session`, `agent`, `always` or `no`.";
                    Failure::new(ErrorCode::BadArgs, message)
                })?;
                self.approvals.answer(&approval, answer, place).map(drop)
            }
            UserMessage::Revoke { grant } => {
                let gone = self.policy.change(|ledger, _| Ok(ledger.revoke(&grant)))?;
                if gone.is_empty() {
                    return Err(Failure::new(ErrorCode::BadArgs, "The grant no longer exists."));
                }
                Ok(())
            }
            UserMessage::Show { .. } => Ok(()),
        }
    }
}

fn driver(target: &TargetId, clients: &[ShownClient]) -> TabDriver {
    let mut who: Vec<String> = Vec::new();
    for client in clients {
        if !who.contains(&client.name) {
            who.push(client.name.clone());
        }
    }
    let group = clients.first().map(|client| client.group.clone()).unwrap_or_default();
    TabDriver { target: target.to_string(), who, group }
}

pub(crate) fn question(pending: PendingApproval) -> Question {
    let PendingApproval { id, request, seconds_left } = pending;
    Question {
        id: id.to_string(),
        agent: request.agent,
        who: request.who,
        session: request.session,
        action: request.action,
        site: request.site,
        capability: request.capability.to_owned(),
        why: request.why,
        seconds_left,
        seconds_total: APPROVAL_DEADLINE.as_secs(),
    }
}

pub(crate) fn decided(approval: DecidedApproval) -> DecidedQuestion {
    let DecidedApproval { id, request, answer, by, when } = approval;
    DecidedQuestion {
        id: id.to_string(),
        agent: request.agent,
        site: request.site,
        capability: request.capability.to_owned(),
        answer: json!(answer).as_str().unwrap_or_default().to_owned(),
        by,
        when,
    }
}

pub(crate) fn granted(policy: &Policy) -> Vec<Grant> {
    // The list of the policy API, whose form is that of `Grant`.
    listed_entries(policy).into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect()
}

pub(crate) fn summary(policy: &Policy, file: String) -> PolicySummary {
    let words = |set: Capabilities| set.iter().map(|one| one.as_str().to_owned()).collect();
    let rules = policy.file.rules.iter().map(|rule| RuleSummary {
        site: rule.site.to_string(),
        allow: words(rule.allow),
        ask: words(rule.ask),
        deny: words(rule.deny),
    });
    PolicySummary {
        asks_about_unlisted: policy.file.unlisted == Unlisted::Ask,
        rules: rules.collect(),
        file,
        fault: policy.fault.clone(),
    }
}
