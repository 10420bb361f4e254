//! One client of the server: its tools, its backend, its truncated results.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError};

use rmcp::model::Tool;
use tabwire_api::api::{McpOpening, ResultForm};
use tabwire_api::{ClientName, Failure};
use tokio::sync::{Mutex, Semaphore, watch};

use crate::backend::Backend;
use crate::call::rounds::WaitingCalls;
use crate::extra_features::Extras;
use crate::limits::CALLS_AT_ONCE;
use crate::result::truncated_results::TruncatedResults;
use crate::tools::OfferedTool;
use crate::tools::set::ToolSet;

/// Notice for a client whose daemon was replaced.
const RESUMED: &str = "the daemon was restarted: the session continues, take a new snapshot for new refs";

/// Notice for a client that lost its browser too.
const RESUMED_WITHOUT_BROWSER: &str =
    "the daemon was restarted: this is a new browser; earlier tabs, logins and refs are gone";

/// A notice that is added to the next result once.
#[derive(Debug, Default)]
pub(crate) struct PendingNotice(std::sync::Mutex<Option<&'static str>>);

impl PendingNotice {
    fn set(&self, pending_notice: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(pending_notice);
    }

    /// Takes the notice.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(str::to_owned)
    }
}

/// One client of the server.
#[derive(Debug)]
pub struct Connection {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) result_form: ResultForm,
    /// Extra tools for conformance tests; `None` in the product.
    pub(crate) extras: Option<Arc<dyn Extras>>,
    pub(crate) truncated: TruncatedResults,
    pub(crate) call_permits: Semaphore,
    /// Calls that wait for a user's answer.
    pub(crate) waiting: WaitingCalls,
    /// A notice for the next result.
    pub(crate) pending_notice: PendingNotice,
    /// Held while the client shows a question, so that it shows one at a time.
    pub(crate) question_lock: Mutex<()>,
    has_ended: watch::Sender<bool>,
}

impl Connection {
    /// Creates a connection whose calls run in `backend`.
    ///
    /// # Errors
    /// When a requested tool does not exist.
    pub fn new(backend: Arc<dyn Backend>, opening: &McpOpening) -> Result<Self, Failure> {
        let tools = Arc::new(ToolSet::choose(&opening.tools)?);
        let connection = Self::with(backend, tools, opening.results);
        if opening.resumed {
            connection.pending_notice.set(if opening.keeps_session {
                RESUMED
            } else {
                RESUMED_WITHOUT_BROWSER
            });
        }
        Ok(connection)
    }

    /// Adds extra tools.
    #[must_use]
    pub fn with_extras(self, extras: Option<Arc<dyn Extras>>) -> Self {
        Self { extras, ..self }
    }

    /// The tools as listed to a client that shows structured content to its model, or to any other.
    pub(crate) fn listed_tools(&self, shows_structured: bool) -> Vec<Tool> {
        let listed = |tool: &&OfferedTool| {
            let mut listed = tool.listed(self.result_form, shows_structured);
            let gap = self.backend.gap_of(tool.name);
            if let Some(description) = listed.description.as_mut().filter(|_| !gap.is_empty()) {
                *description = format!("{}. {gap}", description.trim_end_matches('.')).into();
            }
            listed
        };
        self.tools.tools().iter().map(listed).collect()
    }

    /// A digest of the list of tools, to detect a change.
    #[must_use]
    pub fn tool_list_digest(&self) -> String {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(&self.listed_tools(true)).unwrap_or_default().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn with(backend: Arc<dyn Backend>, tools: Arc<ToolSet>, result_form: ResultForm) -> Self {
        let (call_permits, truncated) = (Semaphore::new(CALLS_AT_ONCE), TruncatedResults::default());
        let has_ended = watch::Sender::new(false);
        let (pending_notice, question_lock, waiting) =
            (PendingNotice::default(), Mutex::new(()), WaitingCalls::default());
        Self {
            backend,
            tools,
            result_form,
            extras: None,
            truncated,
            call_permits,
            waiting,
            pending_notice,
            question_lock,
            has_ended,
        }
    }

    /// The truncated results that were read under the current policy.
    pub(crate) fn truncated_results(&self) -> &TruncatedResults {
        self.truncated.follow(self.backend.policy_revision());
        &self.truncated
    }

    /// A connection for another client of the same endpoint.
    pub(crate) fn another(&self) -> Result<Self, Failure> {
        let another = Self::with(self.backend.another()?, Arc::clone(&self.tools), self.result_form);
        Ok(another.with_extras(self.extras.clone()))
    }

    /// Sets the client's name, with invalid characters replaced.
    pub(crate) fn set_client_name(&self, name: &str) {
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' })
            .take(32)
            .collect();
        if let Ok(name) = ClientName::new(&plain) {
            self.backend.set_client_name(&name);
        }
    }

    /// Makes running calls return immediately: the client is gone.
    pub fn end(&self) {
        self.has_ended.send_replace(true);
    }

    /// Waits until the connection is ended.
    pub(crate) async fn ended(&self) {
        let mut ended = self.has_ended.subscribe();
        // The sender lives as long as the connection, which is borrowed here.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Ends running calls, and closes the client's tabs, leases and own browser.
    pub async fn leave(&self) {
        self.end();
        self.waiting.clear();
        self.backend.leave().await;
    }
}
