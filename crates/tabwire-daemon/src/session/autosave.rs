//! Saves a session's cookies and local storage periodically, and restores them into a new browser.
//!
//! A saved state that could not be restored is never overwritten: saving is paused then.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;
use tabwire_engine::RestoredState;

use crate::browser::background::in_background;
use crate::paths::FILE_BYTES;
use crate::session::Session;
use crate::session::live::LiveSession;

/// How often a session with `--save-state` saves its state.
const STATE_EVERY: Duration = Duration::from_secs(30);

/// When the state of a session is saved for the first time.
const STATE_FIRST: Duration = Duration::from_secs(3);

/// How long saving or restoring the state may take.
const STATE_DEADLINE: Duration = Duration::from_secs(15);

/// Saves the state of one session.
#[derive(Debug, Default)]
pub(crate) struct StateAutosave {
    /// Set when a saved state could not be restored.
    paused: AtomicBool,
    saving: tokio::sync::Mutex<()>,
}

impl StateAutosave {
    /// Saves periodically, while the browser lives.
    pub(crate) fn start(&self, session: &Arc<Session>, live: &Arc<LiveSession>) {
        if live.options.save_state != Some(true) {
            return;
        }
        let tasks = session.tasks.clone();
        let (session, live) = (Arc::downgrade(session), Arc::downgrade(live));
        tasks.start("save-state", async move {
            let mut every = tokio::time::interval_at(tokio::time::Instant::now() + STATE_FIRST, STATE_EVERY);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                every.tick().await;
                let (Some(session), Some(live)) = (session.upgrade(), live.upgrade()) else { return };
                if live.is_gone() {
                    return;
                }
                if let Err(failure) = session.saver.save(&session, &live).await {
                    tracing::warn!(%failure, session = %session.key, "the state of a session was not saved");
                }
            }
        });
    }

    /// Saves now, if the session has `--save-state`.
    pub(crate) async fn save(&self, session: &Session, live: &LiveSession) -> Result<(), Failure> {
        if live.options.save_state != Some(true) {
            return Ok(());
        }
        let _saving = self.saving.lock().await;
        if self.is_paused() || live.engine.current_tab().is_none() {
            return Ok(());
        }
        let passphrase = read_passphrase(live).await?;
        let content =
            live.engine.collect_state(passphrase.as_deref(), Deadline::after(STATE_DEADLINE)).await?;
        let (store, key) = (Arc::clone(&session.store), session.key.clone());
        in_background(move || store.write_state(&key, &content)).await
    }

    /// Saves before the browser ends. A failure is logged, and the last save stays.
    pub(crate) async fn save_last(&self, session: &Session, live: &LiveSession) {
        if let Err(failure) = self.save(session, live).await {
            tracing::warn!(%failure, session = %session.key, "the state of a session was not saved at its end");
        }
    }

    /// Restores a saved state into a new browser; `None` when there is none.
    pub(crate) async fn restore(
        &self,
        session: &Session,
        live: &LiveSession,
    ) -> Option<Result<RestoredState, Failure>> {
        if live.options.save_state != Some(true) {
            return None;
        }
        let _saving = self.saving.lock().await;
        let restored = self.restore_saved(session, live).await;
        self.paused.store(restored.is_err(), Ordering::Release);
        let restored = restored.transpose()?;
        if let Err(failure) = &restored {
            tracing::warn!(%failure, session = %session.key, "the saved state was not restored, and is kept as it is");
        }
        Some(restored)
    }

    async fn restore_saved(
        &self,
        session: &Session,
        live: &LiveSession,
    ) -> Result<Option<RestoredState>, Failure> {
        let (store, key) = (Arc::clone(&session.store), session.key.clone());
        let Some(content) = in_background(move || store.find_state(&key)).await? else { return Ok(None) };
        let passphrase = read_passphrase(live).await?;
        live.ensure_tab().await?;
        let deadline = Deadline::after(STATE_DEADLINE);
        live.engine.restore_state(content, passphrase.as_deref(), deadline).await.map(Some)
    }

    /// Takes over the state of the session under its old name.
    pub(crate) fn take_from(&self, other: &Self) {
        self.resume(other.is_paused());
    }

    /// Continues for a browser of an earlier daemon.
    pub(crate) fn resume(&self, is_paused: bool) {
        self.paused.store(is_paused, Ordering::Release);
    }

    /// Whether saving is paused because a saved state could not be restored.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }
}

async fn read_passphrase(live: &LiveSession) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = live.options.state_passphrase_file.clone() else { return Ok(None) };
    let read = tokio::task::spawn_blocking(move || read_small(&path)).await;
    read.unwrap_or_else(|error| {
        Err(Failure::new(
            ErrorCode::Internal,
            format!("The passphrase file could not be read to its end: {error}."),
        ))
    })
    .map(Some)
}

fn read_small(path: &Path) -> Result<Vec<u8>, Failure> {
    let bad = |why: String| {
        let message = format!("The passphrase file {} cannot be read: {why}.", path.display());
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Put it back, or restart the session without it.")
    };
    let size = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len();
    if usize::try_from(size).map_or(true, |size| size > FILE_BYTES) {
        return Err(bad("it is too large".to_owned()));
    }
    std::fs::read(path).map_err(|error| bad(error.to_string()))
}
