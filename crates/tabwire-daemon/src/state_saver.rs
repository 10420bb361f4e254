//! Saves a session's cookies and local storage now and then, and puts them back into a new browser.
//!
//! A state that could not be put back is never written over: saving begins only after it was.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tabwire_cdp::Deadline;
use tabwire_engine::GivenState;
use tabwire_wire::{ErrorCode, Failure};

use crate::fleet::in_background;
use crate::limits::{FILE_BYTES, STATE_DEADLINE, STATE_EVERY, STATE_FIRST};
use crate::live_session::LiveSession;
use crate::session::Session;

/// Whether a session's state may be saved.
#[derive(Debug, Default)]
pub(crate) struct StateSaver {
    /// Set when a saved state could not be put back.
    held: AtomicBool,
    saving: tokio::sync::Mutex<()>,
}

impl StateSaver {
    /// Saves every now and then, for as long as the browser is there.
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

    /// Saves now, when the session saves its state at all.
    pub(crate) async fn save(&self, session: &Session, live: &LiveSession) -> Result<(), Failure> {
        if live.options.save_state != Some(true) || self.held.load(Ordering::Acquire) {
            return Ok(());
        }
        let _saving = self.saving.lock().await;
        if live.engine.tab_count() == 0 {
            return Ok(());
        }
        let passphrase = read_passphrase(live).await?;
        let content = live.engine.take_state(passphrase.as_deref(), Deadline::after(STATE_DEADLINE)).await?;
        let (store, key) = (Arc::clone(&session.store), session.key.clone());
        in_background(move || store.write_state(&key, &content)).await
    }

    /// Saves before the browser ends; what goes wrong is logged, the last save stays.
    pub(crate) async fn save_last(&self, session: &Session, live: &LiveSession) {
        if let Err(failure) = self.save(session, live).await {
            tracing::warn!(%failure, session = %session.key, "the state of a session was not saved at its end");
        }
    }

    /// Puts a saved state into a new browser; nothing when there is none.
    pub(crate) async fn restore_first(
        &self,
        session: &Session,
        live: &LiveSession,
    ) -> Option<Result<GivenState, Failure>> {
        if live.options.save_state != Some(true) {
            return None;
        }
        let restored = self.restore(session, live).await.transpose()?;
        self.held.store(restored.is_err(), Ordering::Release);
        if let Err(failure) = &restored {
            tracing::warn!(%failure, session = %session.key, "saved state was not put back, and is kept as it is");
        }
        Some(restored)
    }

    async fn restore(&self, session: &Session, live: &LiveSession) -> Result<Option<GivenState>, Failure> {
        let (store, key) = (Arc::clone(&session.store), session.key.clone());
        let Some(content) = in_background(move || store.find_state(&key)).await? else { return Ok(None) };
        let passphrase = read_passphrase(live).await?;
        live.ensure_tab().await?;
        let deadline = Deadline::after(STATE_DEADLINE);
        live.engine.give_state(content, passphrase.as_deref(), deadline).await.map(Some)
    }

    /// Takes over what a session of another name found out.
    pub(crate) fn take_from(&self, other: &Self) {
        self.held.store(other.is_held(), Ordering::Release);
    }

    /// Whether saving waits because a saved state could not be put back.
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }
}

async fn read_passphrase(live: &LiveSession) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = live.options.state_passphrase_file.clone() else { return Ok(None) };
    let read = tokio::task::spawn_blocking(move || read_small(&path)).await;
    read.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::Internal, format!("Reading broke off: {error}.")))
    })
    .map(Some)
}

fn read_small(path: &Path) -> Result<Vec<u8>, Failure> {
    let bad = |why: String| {
        let message = format!("The passphrase file {} cannot be read: {why}.", path.display());
        Failure::new(ErrorCode::BadArgs, message).with_hint("Put it back, or restart the session without it.")
    };
    let size = std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len();
    if usize::try_from(size).map_or(true, |size| size > FILE_BYTES) {
        return Err(bad("it is too large".to_owned()));
    }
    std::fs::read(path).map_err(|error| bad(error.to_string()))
}
