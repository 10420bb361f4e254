//! Work of the manager that its callers wait for: work that cannot be cancelled, and blocking work.

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::BrowserError;
use tabwire_cdp::TaskGroup;

/// Runs work to completion even if its caller is cancelled: a half-done start or stop would leak a browser.
pub(crate) async fn run_to_completion<T: Send + 'static>(
    tasks: &TaskGroup,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tasks.start("run-to-completion", async move {
        // The caller may be gone.
        let _ = sender.send(work.await);
    });
    receiver.await.unwrap_or_else(|_| {
        Err(Failure::new(ErrorCode::OutcomeUnknown, "The daemon ended during this request.").with_remedy(
            "It may or may not have been done. Run the command again; that starts a new daemon.",
        ))
    })
}

/// Runs blocking work on the blocking pool.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrowserError> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(Failure::from),
        Err(error) => {
            Err(Failure::new(ErrorCode::Internal, format!("Background work ended early: {error}.")))
        }
    }
}
