//! CDP sessions of a script, through a client of its own with the guard of CDP clients.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tabwire_api::{CdpSessionId, ErrorCode, Failure, TabId};
use tabwire_cdp::{CdpError, CdpSession, Connection, EventFilter, TaskGroup, channel_pair};
use tabwire_mux::{ClientOptions, OnLoss, Share};
use tabwire_policy::Profile;
use tabwire_script::limits::QUEUED_EVENTS;
use tokio::sync::mpsc;

use crate::hub::client_guard::ClientGuard;
use crate::hub::client_label::ClientLabel;
use crate::policy::cdp_guard::GuardedClient;
use crate::script::run::RunRequest;
use crate::session::gone;

/// CDP sessions of one script at once.
const CDP_SESSIONS: usize = 16;

/// How long attaching may take.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a command may take without a timeout of the script.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// An event of a CDP session.
#[derive(Debug)]
pub(crate) struct CdpEvent {
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// The CDP sessions of a script; clones share them.
#[derive(Clone, Debug)]
pub(crate) struct CdpSessions {
    open: Arc<tokio::sync::Mutex<HashMap<String, CdpSession>>>,
    events: mpsc::Sender<CdpEvent>,
    tasks: TaskGroup,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: CdpSessionId,
}

/// The failure of a command, in Playwright's words.
fn protocol_failure(error: CdpError) -> Failure {
    match error {
        CdpError::Protocol { method, message, .. } => {
            Failure::new(ErrorCode::CdpError, format!("Protocol error ({method}): {message}"))
        }
        error => error.into_failure(),
    }
}

impl CdpSessions {
    pub(crate) fn new(tasks: &TaskGroup) -> (Self, mpsc::Receiver<CdpEvent>) {
        let (events, receiver) = mpsc::channel(QUEUED_EVENTS);
        (Self { open: Arc::default(), events, tasks: tasks.clone() }, receiver)
    }

    /// Opens a session, sends a command or closes a session, as the parameters ask.
    pub(crate) async fn run(
        &self,
        request: &RunRequest<'_>,
        tab: Option<TabId>,
        params: &Value,
        timeout: Option<u64>,
    ) -> Result<Value, Failure> {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        match (text("session"), text("method")) {
            (None, _) => self.attach(request, tab).await,
            (Some(session), None) => {
                if let Some(session) = self.open.lock().await.remove(session) {
                    session.connection().close();
                }
                Ok(Value::Null)
            }
            (Some(session), Some(method)) => {
                let found = self.open.lock().await.get(session).cloned();
                let session = found.ok_or_else(|| {
                    Failure::new(ErrorCode::BadArgs, "Target page, context or browser has been closed")
                })?;
                let given: Option<Value> = text("params").and_then(|given| serde_json::from_str(given).ok());
                let given = given.filter(Value::is_object).unwrap_or_else(|| json!({}));
                let time = timeout.map_or(COMMAND_TIMEOUT, Duration::from_millis);
                let response = session.send(method.to_owned(), &given, time).await;
                let result: Value = response.and_then(|response| response.to()).map_err(protocol_failure)?;
                Ok(json!({"result": result}))
            }
        }
    }

    async fn attach(&self, request: &RunRequest<'_>, tab: Option<TabId>) -> Result<Value, Failure> {
        if self.open.lock().await.len() >= CDP_SESSIONS {
            let message = format!("A script has at most {CDP_SESSIONS} CDP sessions.");
            return Err(Failure::new(ErrorCode::Backpressure, message).with_remedy("Detach some."));
        }
        let no_tab = || Failure::new(ErrorCode::TabNotFound, "There is no such tab.");
        let (session, live) = request.find_live().ok_or_else(no_tab)?;
        let target = live.engine.target_of_tab(tab).ok_or_else(no_tab)?;
        let check = request.policy_check().ok_or_else(no_tab)?;
        request.daemon.policy.admit_cdp_client(&session.key, check.profile)?;
        let ownership = live.browser.ownership;
        let guard =
            request.daemon.policy.guard(GuardedClient::CdpClient, check.profile, &session.key, ownership);
        let options = ClientOptions {
            share: Share::All,
            on_loss: OnLoss::Close,
            partition: live.partition.clone(),
            guard: Some(guard),
            ..ClientOptions::default()
        };
        let (ours, theirs) = channel_pair();
        let label = ClientLabel::new(format!("script of {}", session.key.name));
        let place = ClientGuard::of_engine(label, check.profile == Profile::Open);
        live.browser.hub.join_guarded(theirs.0, theirs.1, options, Some(place)).await.map_err(gone)?;
        let connection = Connection::start(ours.0, ours.1, &self.tasks);
        let params = json!({"targetId": target, "flatten": true});
        let attached = connection.browser().send("Target.attachToTarget", &params, ATTACH_TIMEOUT).await;
        let attached: Attached =
            attached.and_then(|response| response.to()).map_err(CdpError::into_failure)?;
        let opened = connection.session(&attached.session_id);
        let id = attached.session_id.to_string();
        self.forward_events(&opened, &id);
        self.open.lock().await.insert(id.clone(), opened);
        Ok(json!({"session": id}))
    }

    /// Sends the events of a session to the script. A full queue drops them.
    fn forward_events(&self, session: &CdpSession, id: &str) {
        let mut events = session.events_bounded(EventFilter::Everything, QUEUED_EVENTS);
        let (sender, id) = (self.events.clone(), id.to_owned());
        self.tasks.start("script-cdp", async move {
            loop {
                let event = match events.next().await {
                    Ok(event) => event,
                    Err(CdpError::Missed { .. }) => continue,
                    Err(_) => return,
                };
                let params = event.to::<Value>().unwrap_or_default();
                let event = CdpEvent { session: id.clone(), method: event.method().to_owned(), params };
                if let Err(mpsc::error::TrySendError::Closed(_)) = sender.try_send(event) {
                    return;
                }
            }
        });
    }
}
