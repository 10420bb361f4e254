//! A browser's cookies and local storage as bytes that a later browser can be given. Knows nothing of files, and
//! nothing of when it is worth saving them.

use tabwire_cdp::Deadline;
use tabwire_wire::{ErrorCode, Failure};

use crate::browser::Browser;
use crate::saved_state::SavedState;
use crate::sealed_state::{self, Passphrase};
use crate::state_keeper::StateKeeper;

/// What was put into a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenState {
    /// How many cookies.
    pub cookies: usize,
    /// How many keys of local storage.
    pub entries: usize,
    /// What could not be put back, one sentence each.
    pub left_out: Vec<String>,
}

impl Browser {
    /// Collects cookies and local storage of the current tab's context; sealed when a passphrase file's content is
    /// given.
    ///
    /// # Errors
    /// When there is no tab, a dialog is open, or the browser does not answer.
    pub async fn take_state(
        &self,
        passphrase_file: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<Vec<u8>, Failure> {
        let passphrase = passphrase_file.map(Passphrase::from_file).transpose()?;
        let page = self.page(None).await?;
        let keeper = StateKeeper { browser: self, page: &page, deadline };
        let (state, _) = keeper.collect(&[]).await?;
        let content = state.write()?;
        match passphrase {
            None => Ok(content),
            Some(passphrase) => apart(move || sealed_state::seal(&content, &passphrase)).await,
        }
    }

    /// Puts cookies and local storage back that were taken from an earlier browser.
    ///
    /// # Errors
    /// When the content is not a saved state, is sealed with another passphrase, or the browser does not answer.
    pub async fn give_state(
        &self,
        content: Vec<u8>,
        passphrase_file: Option<&[u8]>,
        deadline: Deadline,
    ) -> Result<GivenState, Failure> {
        let passphrase = passphrase_file.map(Passphrase::from_file).transpose()?;
        let content = match (sealed_state::is_sealed(&content), passphrase) {
            (false, _) => content,
            (true, Some(passphrase)) => apart(move || sealed_state::open(&content, &passphrase)).await?,
            (true, None) => {
                return Err(Failure::new(ErrorCode::BadArgs, "The saved state is sealed with a passphrase.")
                    .with_hint("Give it with --state-passphrase-file FILE."));
            }
        };
        let state = SavedState::read(&content)?;
        let page = self.page(None).await?;
        let loaded = StateKeeper { browser: self, page: &page, deadline }.restore(&state, false).await?;
        let left_out = loaded.left_out.into_iter().map(|left| format!("{}: {}", left.what, left.why));
        Ok(GivenState { cookies: loaded.cookies, entries: loaded.entries, left_out: left_out.collect() })
    }
}

/// Sealing takes long on purpose; it is done where it keeps nobody waiting.
pub(crate) async fn apart(
    work: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
) -> Result<Vec<u8>, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(Failure::new(ErrorCode::Internal, format!("Sealing broke off: {error}.")))
    })
}
