//! What is known of a browser that runs on Windows, and how it is ended there.

use std::sync::Arc;

use tabwire_browser::Display;
use tabwire_wire::Failure;

use crate::limits::POWERSHELL_PATIENCE;
use crate::powershell::Powershell;
use crate::powershell_word::{StopAnswer, Word};

/// A browser of Windows.
#[derive(Debug)]
pub(crate) struct WindowsBrowser {
    /// What it was found or started with; held so that it does not end.
    pub(crate) powershell: Arc<Powershell>,
    /// Its profile directory, as it was asked for.
    pub(crate) profile: String,
    /// Its debugging port there.
    pub(crate) port: u16,
    pub(crate) pid: u32,
    /// Its program, when that is known.
    pub(crate) executable: Option<String>,
    pub(crate) display: Display,
    /// What it calls itself.
    pub(crate) product: Option<String>,
}

impl WindowsBrowser {
    /// Ends it, if what runs on its profile and port now is still what was started: the main process, without a window
    /// if it had none, from the same program.
    ///
    /// # Errors
    /// When Windows cannot be asked. A browser that is gone already is no failure.
    pub(crate) async fn stop(&self) -> Result<(), Failure> {
        let word = Word::Stop {
            profile: &self.profile,
            port: self.port,
            headless: self.display == Display::Headless,
            executable: self.executable.as_deref(),
        };
        let answer: StopAnswer = self.powershell.ask(&word, POWERSHELL_PATIENCE).await?;
        tracing::info!(stopped = ?answer.stopped, "a browser of Windows was ended");
        Ok(())
    }

    /// Whether it is the browser on a profile, as far as names tell.
    pub(crate) fn is_on(&self, profile: &str) -> bool {
        normalized(&self.profile) == normalized(profile)
    }
}

/// One name for one directory, as far as that can be said from here: variables are filled in on Windows only.
fn normalized(profile: &str) -> String {
    profile.replace('/', "\\").trim_end_matches('\\').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn one_directory_has_one_name() {
        assert_eq!(normalized(r"C:\Users\Me\P\"), normalized("c:/users/me/p"));
        assert_ne!(normalized(r"%TEMP%\a"), normalized(r"%TEMP%\b"));
    }
}
