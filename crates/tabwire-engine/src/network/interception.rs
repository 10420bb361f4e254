//! Responds to every request that the browser pauses. None stays paused: on an error it continues.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter, EventStream, TaskGroup};
use tokio::sync::oneshot;

use super::events::RequestPaused;
use super::page_network::PageNetwork;
use super::route::Verdict;
use crate::feed::RouteDecision;
use crate::limits::ROUTE_DECISION_TIMEOUT;

/// How often the list of requests is checked for a paused one.
const LISTED_CHECKS: u32 = 50;

/// The time between two of these checks.
const LISTED_INTERVAL: Duration = Duration::from_millis(2);

/// Paused requests that wait for a decision. Beyond this all paused requests continue.
const HELD_REQUESTS: usize = 4_096;

/// Requests that sent credentials. A second challenge for one means that they were wrong.
const CHALLENGES_REMEMBERED: usize = 64;

/// How long a command for a paused request may take.
const VERDICT_DEADLINE: Duration = Duration::from_secs(10);

/// A command that is being sent.
type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Judges the requests that one process pauses.
struct Judge {
    session: CdpSession,
    network: Weak<PageNetwork>,
    main: String,
    /// Requests whose server has received credentials already.
    challenged: VecDeque<String>,
}

/// Starts to judge the paused requests of a process, while it exists.
pub(crate) fn start(network: &Arc<PageNetwork>, session: &CdpSession, main: &str, tasks: &TaskGroup) {
    let filter = EventFilter::methods(["Fetch.requestPaused", "Fetch.authRequired"]);
    let events = session.events_bounded(filter, HELD_REQUESTS);
    let judge = Judge {
        session: session.clone(),
        network: Arc::downgrade(network),
        main: main.to_owned(),
        challenged: VecDeque::new(),
    };
    tasks.start("page-interception", judge.serve(events));
}

impl Judge {
    async fn serve(mut self, mut events: EventStream) {
        let mut sending: FuturesUnordered<Sending> = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(()) = sending.next() => {}
                event = events.next() => match event {
                    Ok(event) => sending.push(self.respond(&event)),
                    Err(CdpError::Missed { count }) => {
                        tracing::warn!(count, "events of paused requests were missed; all of them continue");
                        sending.push(Box::pin(release(self.session.clone(), self.network.clone())));
                    }
                    Err(_) => return,
                },
            }
        }
    }

    /// The command for one event.
    fn respond(&mut self, event: &Event) -> Sending {
        let (session, weak) = (self.session.clone(), self.network.clone());
        let network = weak.upgrade();
        if event.method() == "Fetch.authRequired" {
            let Ok(asked) = event.to::<super::events::AuthRequired>() else {
                return Box::pin(release(session, weak));
            };
            // The browser asks again when the server refuses the credentials; the same ones would repeat
            // without end.
            let before = self.challenged.contains(&asked.request_id);
            if self.challenged.len() == CHALLENGES_REMEMBERED {
                self.challenged.pop_front();
            }
            self.challenged.push_back(asked.request_id.clone());
            let response = match network {
                Some(network) => network.challenge_response(&asked, &self.main, before),
                None => json!({"response": "Default"}),
            };
            let params = json!({"requestId": asked.request_id, "authChallengeResponse": response});
            return Box::pin(send_challenge_response(session, weak, params));
        }
        let Ok(paused) = event.to::<RequestPaused>() else {
            return Box::pin(release(session, weak));
        };
        let id = paused.request_id.clone();
        drop(network);
        Box::pin(async move {
            // `Fetch.requestPaused` can come before the `Network` event of the same request, which scripts
            // need.
            wait_until_listed(&weak, &paused).await;
            let question = weak.upgrade().and_then(|network| network.ask_script(&paused));
            let decided = match question {
                Some(question) => decision_of(question, &weak, &paused).await,
                None => None,
            };
            let (route, verdict) = match (decided, weak.upgrade()) {
                (Some(verdict), _) => (None, verdict),
                (None, Some(network)) => network.judge(&paused),
                (None, None) => (None, Verdict::proceed(&id)),
            };
            let was_refused = send(&session, &weak, &id, verdict).await;
            if let (true, Some(route), Some(network)) = (was_refused, route, weak.upgrade()) {
                network.settings().routes.note_refused(route);
            }
        })
    }
}

/// Waits until a request that a script is asked about is in the list of requests, which another reader fills. Chrome
/// reports both at the same time.
async fn wait_until_listed(network: &Weak<PageNetwork>, paused: &RequestPaused) {
    for _ in 0..LISTED_CHECKS {
        if network.upgrade().is_none_or(|network| network.is_ready_to_ask(paused)) {
            return;
        }
        tokio::time::sleep(LISTED_INTERVAL).await;
    }
}

/// What the script decided, if the policy allows it. None when it did not decide in time.
async fn decision_of(
    question: oneshot::Receiver<RouteDecision>,
    network: &Weak<PageNetwork>,
    paused: &RequestPaused,
) -> Option<Verdict> {
    let decision = tokio::time::timeout(ROUTE_DECISION_TIMEOUT, question).await;
    let network = network.upgrade()?;
    if decision.is_err() {
        tracing::warn!("a script did not decide about a paused request in time; the request goes on");
        network.feed().feed().forget_closed_questions();
    }
    network.apply_decision(paused, decision.ok()?.ok()?)
}

/// Sends a verdict; one that the browser rejects continues the request. Returns whether it was rejected.
async fn send(session: &CdpSession, network: &Weak<PageNetwork>, id: &str, verdict: Verdict) -> bool {
    // A paused request stays paused until it gets a verdict, and with it what waits for it in the page.
    let sent = session.send(verdict.method, &verdict.params, VERDICT_DEADLINE).await;
    let Err(error) = sent else { return false };
    if is_over(&error) {
        return false;
    }
    if verdict.method == "Fetch.failRequest"
        && network.upgrade().is_some_and(|network| network.is_contained())
    {
        tracing::warn!(%error, "a request that the policy blocks could not be failed; it stays paused");
        return true;
    }
    tracing::warn!(%error, "the command for a paused request failed; the request continues");
    let verdict = Verdict::proceed(id);
    match session.send(verdict.method, &verdict.params, VERDICT_DEADLINE).await {
        Ok(_) => {}
        Err(error) if is_over(&error) => {}
        Err(_) => release(session.clone(), network.clone()).await,
    }
    true
}

async fn send_challenge_response(session: CdpSession, network: Weak<PageNetwork>, params: Value) {
    match session.send("Fetch.continueWithAuth", &params, VERDICT_DEADLINE).await {
        Ok(_) => {}
        Err(error) if is_over(&error) => {}
        Err(_) => release(session, network).await,
    }
}

/// Continues everything that a process has paused, and then enables interception again. Where the policy blocks
/// something, nothing continues.
async fn release(session: CdpSession, network: Weak<PageNetwork>) {
    if network.upgrade().is_some_and(|network| network.is_contained()) {
        return;
    }
    // A process that rejects even this is gone, with its paused requests.
    // Turning `Fetch` off continues every paused request, also those whose events were missed.
    let _ = session.send("Fetch.disable", &json!({}), VERDICT_DEADLINE).await;
    if let Some(params) = network.upgrade().and_then(|network| network.interception()) {
        let _ = session.send("Fetch.enable", &params, VERDICT_DEADLINE).await;
    }
}

/// Whether the request or its process is gone, so that nothing is paused.
fn is_over(error: &CdpError) -> bool {
    match error {
        CdpError::SessionGone { .. } | CdpError::Closed { .. } | CdpError::OutcomeUnknown { .. } => true,
        CdpError::Protocol { message, .. } => message.contains("Invalid InterceptionId"),
        _ => false,
    }
}
