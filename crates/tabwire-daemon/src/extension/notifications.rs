//! Notifications to the user of a connected browser, and the user's decisions there: approval requests, grants,
//! attachments and refusals.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_extension::user_message::UserMessage;
use tokio::sync::{mpsc, watch};

use crate::audit::entry::AuditEntry;
use crate::audit::writer::AuditWriter;
use crate::extension::browser::{ExtensionBrowser, ExtensionCommand};
use crate::hub::attachments::Driver;
use crate::policy::api::listed_entries;
use crate::policy::approvals::{ApprovalDecision, ApprovalQueue};
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

/// A refusal in one of the user's own browsers.
#[derive(Clone, Debug)]
pub(crate) struct RefusalNotice {
    pub(crate) install: String,
    pub(crate) refusal: Value,
}

/// The latest refusals in all of them, the newest first.
pub(crate) type Refusals = watch::Sender<Vec<RefusalNotice>>;

/// Adds a refusal.
pub(crate) fn add_refusal(refusals: &Refusals, install: &str, refusal: Value) {
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
    drivers: watch::Receiver<Vec<Driver>>,
    refusals: watch::Receiver<Vec<RefusalNotice>>,
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
            drivers: browser.attachments.changes(),
            refusals: refusals.subscribe(),
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
                Ok(()) = self.drivers.changed() => {}
                _ = self.refusals.changed() => {}
            }
        }
    }

    fn state(&mut self) -> String {
        let rulebook = self.sources.policy.rulebook();
        let refused = self.refusals.borrow_and_update();
        let refused = refused.iter().filter(|one| one.install == self.install).map(|one| one.refusal.clone());
        let with = json!({
            "approvals": self.sources.approvals.pending(None),
            "decided": self.sources.approvals.decided(),
            "grants": listed_entries(&rulebook),
            "policy": {
                "unlisted": rulebook.file.unlisted,
                "rules": rulebook.file.rules,
                "file": self.sources.policy.policy_file(),
                "fault": rulebook.fault,
            },
            "drivers": *self.drivers.borrow_and_update(),
            "refused": refused.collect::<Vec<_>>(),
        });
        json!({"notify": "state", "data": with}).to_string()
    }

    /// Applies a decision of the user, and writes its audit row.
    async fn handle(&self, word: UserMessage) {
        let (action, params) = match &word {
            UserMessage::Answer { approval, answer } => {
                ("approval_answer", json!({"id": approval, "answer": answer}))
            }
            UserMessage::Revoke { grant } => ("policy_revoke", json!({"which": grant})),
        };
        let client_info = ClientInfo {
            name: Some(self.place.clone()),
            transport: Transport::Port,
            ..ClientInfo::default()
        };
        let entry =
            AuditEntry::of_ruling(&self.sources.audit, SessionKey::default(), client_info, action, &params);
        let done = self.apply(word);
        if let Err(failure) = &done {
            tracing::info!(%failure, install = %self.install, "a decision of the user in a browser failed");
        }
        entry.finish(done.as_ref().err()).await;
    }

    fn apply(&self, word: UserMessage) -> Result<(), Failure> {
        match word {
            UserMessage::Answer { approval, answer } => {
                let answer: ApprovalDecision = serde_json::from_value(json!(answer)).map_err(|_| {
                    Failure::new(ErrorCode::BadArgs, "A decision is `once`, `session`, `always` or `no`.")
                })?;
                self.sources.approvals.answer(&approval, answer, &self.place).map(drop)
            }
            UserMessage::Revoke { grant } => {
                let gone = self.sources.policy.change(|ledger, _| Ok(ledger.revoke(&grant)))?;
                if gone.is_empty() {
                    return Err(Failure::new(ErrorCode::BadArgs, "The grant no longer exists."));
                }
                Ok(())
            }
        }
    }
}
