//! What the user of a connected browser is told, and what they say there: questions and their answers, grants, who
//! drives what, what was refused. Knows nothing of sockets, and decides nothing itself.

use std::sync::Arc;

use serde_json::{Value, json};
use tabwire_extension::user_word::UserWord;
use tabwire_journal::{Asker, Door};
use tabwire_wire::{ErrorCode, Failure, SessionKey};
use tokio::sync::{mpsc, watch};

use crate::approval_desk::{ApprovalAnswer, ApprovalDesk};
use crate::driver_board::Driver;
use crate::extension_browser::{ExtensionBrowser, LineCommand};
use crate::limits::REFUSALS_TOLD;
use crate::note::Note;
use crate::policy_desk::PolicyDesk;
use crate::policy_request::listed_entries;
use crate::scribe::Scribe;

/// Whom the user's words in a browser reach.
#[derive(Clone, Debug)]
pub(crate) struct People {
    pub(crate) approvals: Arc<ApprovalDesk>,
    pub(crate) policy: Arc<PolicyDesk>,
    pub(crate) scribe: Arc<Scribe>,
}

/// Something that was refused in one of the user's own browsers.
#[derive(Clone, Debug)]
pub(crate) struct ToldRefusal {
    pub(crate) install: String,
    pub(crate) told: Value,
}

/// What was refused lately in all of them, the newest first.
pub(crate) type Refusals = watch::Sender<Vec<ToldRefusal>>;

/// Notes a refusal for the user to see.
pub(crate) fn note_refusal(refusals: &Refusals, install: &str, told: Value) {
    refusals.send_modify(|list| {
        list.insert(0, ToldRefusal { install: install.to_owned(), told });
        list.truncate(REFUSALS_TOLD);
    });
}

/// Keeps the user of one browser informed, for as long as its task is there.
pub(crate) struct ExtensionNews {
    people: People,
    install: String,
    /// Where its answers are said to come from.
    place: String,
    /// Weak: who listens must not keep alive what it listens to.
    commands: mpsc::WeakSender<LineCommand>,
    words: mpsc::Receiver<UserWord>,
    drivers: watch::Receiver<Vec<Driver>>,
    refusals: watch::Receiver<Vec<ToldRefusal>>,
}

impl ExtensionNews {
    pub(crate) fn new(
        people: People,
        browser: &ExtensionBrowser,
        words: mpsc::Receiver<UserWord>,
        refusals: &Refusals,
    ) -> Self {
        Self {
            people,
            install: browser.install.clone(),
            place: format!("the extension in {}", browser.name),
            commands: browser.commands.downgrade(),
            words,
            drivers: browser.board.changes(),
            refusals: refusals.subscribe(),
        }
    }

    pub(crate) async fn run(mut self) {
        let mut approvals = self.people.approvals.changes();
        let mut policy = self.people.policy.changes();
        // Who has the extension can be asked: questions wait for them.
        let _attendance = self.people.approvals.attend();
        loop {
            approvals.mark_unchanged();
            policy.mark_unchanged();
            let news = self.news();
            let Some(commands) = self.commands.upgrade() else { return };
            if commands.send(LineCommand::Tell(news)).await.is_err() {
                return;
            }
            drop(commands);
            tokio::select! {
                word = self.words.recv() => match word {
                    Some(word) => self.hear(word).await,
                    None => return,
                },
                _ = approvals.changed() => {}
                _ = policy.changed() => {}
                Ok(()) = self.drivers.changed() => {}
                _ = self.refusals.changed() => {}
            }
        }
    }

    fn news(&mut self) -> String {
        let rulebook = self.people.policy.rulebook();
        let refused = self.refusals.borrow_and_update();
        let refused = refused.iter().filter(|one| one.install == self.install).map(|one| one.told.clone());
        let with = json!({
            "approvals": self.people.approvals.pending(None),
            "decided": self.people.approvals.decided(),
            "grants": listed_entries(&rulebook),
            "policy": {
                "unlisted": rulebook.file.unlisted,
                "rules": rulebook.file.rules,
                "file": self.people.policy.policy_file(),
                "fault": rulebook.fault,
            },
            "drivers": *self.drivers.borrow_and_update(),
            "refused": refused.collect::<Vec<_>>(),
        });
        json!({"tell": "news", "with": with}).to_string()
    }

    /// Does what the user said, and writes it into the journal.
    async fn hear(&self, word: UserWord) {
        let (action, told) = match &word {
            UserWord::Answer { question, answer } => {
                ("approval_answer", json!({"id": question, "answer": answer}))
            }
            UserWord::Revoke { grant } => ("policy_revoke", json!({"which": grant})),
        };
        let asker = Asker { name: Some(self.place.clone()), door: Door::Port, ..Asker::default() };
        let note = Note::of_ruling(&self.people.scribe, SessionKey::default(), asker, action, &told);
        let done = self.obey(word);
        if let Err(failure) = &done {
            tracing::info!(%failure, install = %self.install, "what the user said in a browser came to nothing");
        }
        note.finish(done.as_ref().err()).await;
    }

    fn obey(&self, word: UserWord) -> Result<(), Failure> {
        match word {
            UserWord::Answer { question, answer } => {
                let answer: ApprovalAnswer = serde_json::from_value(json!(answer)).map_err(|_| {
                    Failure::new(ErrorCode::BadArgs, "An answer is once, session, always or no.")
                })?;
                self.people.approvals.answer(&question, answer, &self.place).map(drop)
            }
            UserWord::Revoke { grant } => {
                let gone = self.people.policy.change(|ledger, _| Ok(ledger.revoke(&grant)))?;
                if gone.is_empty() {
                    return Err(Failure::new(ErrorCode::BadArgs, "There is no such grant any more."));
                }
                Ok(())
            }
        }
    }
}
