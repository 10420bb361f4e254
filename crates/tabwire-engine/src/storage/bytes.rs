//! Saves a browser's cookies and local storage to bytes, and restores them in a later browser.

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::Deadline;

use crate::browser::Browser;
use crate::storage::collect::StateCollector;
use crate::storage::state::SavedState;
use tabwire_secrets::{Passphrase, is_sealed, open_state, seal_state};

/// What was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredState {
    /// Number of cookies.
    pub cookies: usize,
    /// Number of local storage keys.
    pub entries: usize,
    /// What could not be restored, one sentence each.
    pub left_out: Vec<String>,
}

impl Browser {
    /// Collects cookies and local storage of the current tab's context; encrypts them when the content of a passphrase
    /// file is given.
    ///
    /// # Errors
    /// When there is no tab, a dialog is open, or the browser does not respond.
    pub async fn collect_state(
        &self,
        passphrase_file: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failure> {
        let passphrase = passphrase_file.map(Passphrase::from_file).transpose()?;
        let page = self.page(None).await?;
        let keeper = StateCollector { browser: self, page: &page, deadline };
        let (state, _) = keeper.collect(&[]).await?;
        let content = state.write()?;
        match passphrase {
            None => Ok(content),
            Some(passphrase) => run_blocking(move || seal_state(&content, &passphrase)).await,
        }
    }

    /// Restores cookies and local storage of an earlier browser.
    ///
    /// # Errors
    /// When the content is not a saved state, is encrypted with another passphrase, or the browser does not respond.
    pub async fn restore_state(
        &self,
        content: Vec<u8>,
        passphrase_file: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<RestoredState, Failure> {
        let passphrase = passphrase_file.map(Passphrase::from_file).transpose()?;
        let content = match (is_sealed(&content), passphrase) {
            (false, _) => content,
            (true, Some(passphrase)) => run_blocking(move || open_state(&content, &passphrase)).await?,
            (true, None) => {
                return Err(Failure::new(
                    ErrorCode::BadArgs,
                    "The saved state is encrypted with a passphrase.",
                )
                .with_remedy(Remedy::new("Set it with {}.", [Step::argument("state_passphrase_file")])));
            }
        };
        let state = SavedState::read(&content)?;
        let page = self.page(None).await?;
        let loaded = StateCollector { browser: self, page: &page, deadline }.restore(&state, false).await?;
        let left_out = loaded.left_out.into_iter().map(|left| format!("{}: {}", left.what, left.why));
        Ok(RestoredState { cookies: loaded.cookies, entries: loaded.entries, left_out: left_out.collect() })
    }
}

/// Runs on a blocking thread: the key derivation is slow on purpose.
pub(crate) async fn run_blocking(
    work: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
) -> Result<Vec<u8>, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::Internal, format!("Encryption failed: {error}.")))
    })
}
