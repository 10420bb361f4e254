//! Current names for completion: sessions, tabs, refs, profiles. Queries the daemon, and never starts it.

use std::time::Duration;

use tabwire_api::{KnownNames, ProjectKey, SessionName};

use crate::cli::GlobalFlags;
use crate::commands::provider_names;
use crate::config::Configuration;
use crate::environment::Environment;
use tabwire_client::request_within;

/// How long the daemon may take: the user is waiting at the keyboard.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The source of names that exist now.
pub(crate) trait LiveNames {
    /// The sessions, and the tabs and refs of a session and tab.
    fn known(&self, session: Option<&str>, tab: Option<&str>) -> KnownNames;
    /// The named profiles.
    fn profiles(&self) -> Vec<String>;
    /// The providers of browsers.
    fn providers(&self) -> Vec<String>;
}

/// The running daemon, if any, and the settings.
pub(crate) struct RunningWorld {
    environment: Environment,
    /// The default session.
    session: SessionName,
    /// The key of the current project.
    project: ProjectKey,
}

impl RunningWorld {
    /// Reads the environment and the configuration; an unreadable file counts as empty.
    pub(crate) fn find() -> Self {
        let environment = Environment::read();
        let configuration = Configuration::load(&environment, &GlobalFlags::default()).ok();
        let configuration = configuration.unwrap_or_else(Configuration::without_files);
        Self { session: configuration.session().value, project: configuration.project_key(), environment }
    }
}

impl LiveNames for RunningWorld {
    fn known(&self, session: Option<&str>, tab: Option<&str>) -> KnownNames {
        // Names become parts of a URL, so invalid ones are dropped.
        let is_plain =
            |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte));
        let session = session.filter(is_plain).unwrap_or(self.session.as_str());
        let tab = tab.filter(is_plain).map(|tab| format!("&tab={tab}")).unwrap_or_default();
        let path = format!("/v1/complete?session={}/{session}{tab}", self.project);
        let response = request_within(&self.environment.paths.socket(), "GET", &path, None, TIMEOUT);
        response.ok().and_then(|response| serde_json::from_value(response).ok()).unwrap_or_default()
    }

    fn profiles(&self) -> Vec<String> {
        let entries =
            std::fs::read_dir(self.environment.paths.data.join("profiles")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn providers(&self) -> Vec<String> {
        provider_names(&self.environment.paths)
    }
}
