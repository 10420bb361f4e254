//! A file that leads a browser to the dashboard. A ticket in the argument of the system's opener could be read by every
//! user of the machine; the file is readable by its owner only, and is removed when the ticket is used or expires.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::atomic_file;

use crate::daemon::Daemon;
use crate::http::token::Token;

/// How often a waiting file is looked at.
const STEP: Duration = Duration::from_millis(250);

/// Digits of the ticket in the name of its file, which tell files apart and nothing else.
const NAME_DIGITS: usize = 8;

impl Daemon {
    /// Writes the file for a ticket and its URL, and removes it in time.
    pub(super) async fn write_redirect(
        self: &Arc<Self>,
        ticket: &Token,
        url: &str,
    ) -> Result<PathBuf, Failure> {
        let name = Token::draw().map_err(|error| {
            Failure::new(
                ErrorCode::Internal,
                format!("Random bytes are not available from the system: {error}."),
            )
        })?;
        let name = format!("dashboard-{}.html", name.expose().get(..NAME_DIGITS).unwrap_or_default());
        let path = self.config.paths.runtime.join(name);
        let (file, page) = (path.clone(), document(url));
        let written = tokio::task::spawn_blocking(move || atomic_file::write(&file, page.as_bytes())).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(unwritten(&error.to_string())),
            Err(error) => return Err(unwritten(&error.to_string())),
        }
        let (daemon, file, ticket) = (Arc::clone(self), path.clone(), ticket.clone());
        let tasks = self.tasks.clone();
        tasks.clone().start("dashboard-redirect", async move {
            while daemon.dashboards.has_ticket(&ticket, Instant::now()) {
                tokio::select! {
                    () = tokio::time::sleep(STEP) => {}
                    () = tasks.stopping() => break,
                }
            }
            // It may be removed already.
            let _ = std::fs::remove_file(file);
        });
        Ok(path)
    }
}

fn unwritten(why: &str) -> Failure {
    Failure::new(ErrorCode::Internal, format!("The file that opens the dashboard was not written: {why}."))
}

/// A page that leads to a URL of ours. It runs no script.
fn document(url: &str) -> String {
    // Our URLs have none of these letters; a session's name might.
    let url = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>Tabwire</title>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_stays_an_attribute() {
        let page = document("http://127.0.0.1:1/dashboard#ticket=0&session=\"><script>");
        assert!(page.contains("#ticket=0&amp;session=&quot;>&lt;script>"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }
}
