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
use crate::tools::set::ToolSet;

/// What a client is told whose daemon was replaced under it.
const RESUMED: &str = "the daemon was started anew: the session goes on, refs are new";

/// The same, when its browser went too.
const RESUMED_WITHOUT_BROWSER: &str =
    "the daemon was started anew: this is a new browser, tabs, logins and refs of before are gone";

/// Something to be told once, with the next answer.
#[derive(Debug, Default)]
pub(crate) struct PendingNotice(std::sync::Mutex<Option<&'static str>>);

impl PendingNotice {
    fn tell(&self, pending_notice: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(pending_notice);
    }

    /// Takes what there is to tell.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(str::to_owned)
    }
}

/// One client of the server.
#[derive(Debug)]
pub struct Connection {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) answers: ResultForm,
    /// What is offered besides; nothing in the product.
    pub(crate) extras: Option<Arc<dyn Extras>>,
    pub(crate) truncated: TruncatedResults,
    pub(crate) call_permits: Semaphore,
    /// Calls that wait for what somebody says.
    pub(crate) waiting: WaitingCalls,
    /// What the next answer is to say besides its result.
    pub(crate) pending_notice: PendingNotice,
    /// Held while the client is asked something, so that it is asked one thing at a time.
    pub(crate) asking: Mutex<()>,
    has_ended: watch::Sender<bool>,
}

impl Connection {
    /// A client that a backend works for.
    ///
    /// # Errors
    /// When tools are asked for that do not exist.
    pub fn new(backend: Arc<dyn Backend>, opening: &McpOpening) -> Result<Self, Failure> {
        let tools = Arc::new(ToolSet::choose(&opening.tools)?);
        let connection = Self::with(backend, tools, opening.answers);
        if opening.resumed {
            connection.pending_notice.tell(if opening.keeps_session {
                RESUMED
            } else {
                RESUMED_WITHOUT_BROWSER
            });
        }
        Ok(connection)
    }

    /// The same client, with something offered besides the actions.
    #[must_use]
    pub fn with_extras(self, extras: Option<Arc<dyn Extras>>) -> Self {
        Self { extras, ..self }
    }

    /// The tools as they are listed to a client that knows structured content, or does not.
    pub(crate) fn listed_tools(&self, reads_structured: bool) -> Vec<Tool> {
        self.tools.tools().iter().map(|tool| tool.listed(self.answers, reads_structured)).collect()
    }

    /// Stands for the list of tools: another list has another one.
    #[must_use]
    pub fn list_mark(&self) -> String {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(&self.listed_tools(true)).unwrap_or_default().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn with(backend: Arc<dyn Backend>, tools: Arc<ToolSet>, answers: ResultForm) -> Self {
        let (call_permits, truncated) = (Semaphore::new(CALLS_AT_ONCE), TruncatedResults::default());
        let has_ended = watch::Sender::new(false);
        let (pending_notice, asking, waiting) =
            (PendingNotice::default(), Mutex::new(()), WaitingCalls::default());
        Self {
            backend,
            tools,
            answers,
            extras: None,
            truncated,
            call_permits,
            waiting,
            pending_notice,
            asking,
            has_ended,
        }
    }

    /// The long answers that were read under the policy that holds now.
    pub(crate) fn truncated_results(&self) -> &TruncatedResults {
        self.truncated.follow(self.backend.policy_revision());
        &self.truncated
    }

    /// Another client that came in through the same door.
    pub(crate) fn another(&self) -> Result<Self, Failure> {
        let another = Self::with(self.backend.another()?, Arc::clone(&self.tools), self.answers);
        Ok(another.with_extras(self.extras.clone()))
    }

    /// Takes note of what the client calls itself, as far as that is a name.
    pub(crate) fn introduce(&self, name: &str) {
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' })
            .take(32)
            .collect();
        if let Ok(name) = ClientName::new(&plain) {
            self.backend.introduce(&name);
        }
    }

    /// Has calls under way answered at once: nobody waits for what they do.
    pub fn end(&self) {
        self.has_ended.send_replace(true);
    }

    /// Waits until the connection is ended.
    pub(crate) async fn ended(&self) {
        let mut ended = self.has_ended.subscribe();
        // The sender lives as long as the connection, which is borrowed here.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Ends calls under way and everything of the client.
    pub async fn leave(&self) {
        self.end();
        self.waiting.clear();
        self.backend.leave().await;
    }
}
