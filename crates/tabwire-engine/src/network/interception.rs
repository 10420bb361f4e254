//! Answers for every request that a browser holds for us. None is left waiting: what goes wrong lets it go on.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tabwire_cdp::{CdpError, CdpSession, Event, EventFilter, EventStream, TaskGroup};

use super::page_network::PageNetwork;
use super::route::Verdict;
use crate::limits::{CHALLENGES_REMEMBERED, HELD_REQUESTS, VERDICT_DEADLINE};

/// An answer that is on its way to the browser.
type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Judges the requests that one process holds.
struct Judge {
    session: CdpSession,
    network: Weak<PageNetwork>,
    main: String,
    /// Requests whose server has been given an answer already.
    challenged: VecDeque<String>,
}

/// Starts to judge what a process holds, for as long as it is there.
pub(super) fn start(network: &Arc<PageNetwork>, session: &CdpSession, main: &str, tasks: &TaskGroup) {
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
                    Ok(event) => sending.push(self.answer(&event)),
                    Err(CdpError::Missed { count }) => {
                        tracing::warn!(count, "held requests were missed; all that are held go on");
                        sending.push(Box::pin(release(self.session.clone(), self.network.clone())));
                    }
                    Err(_) => return,
                },
            }
        }
    }

    /// The answer to one event, to be sent.
    fn answer(&mut self, event: &Event) -> Sending {
        let (session, weak) = (self.session.clone(), self.network.clone());
        let network = weak.upgrade();
        if event.method() == "Fetch.authRequired" {
            let Ok(asked) = event.to::<super::network_event::AuthRequired>() else {
                return Box::pin(release(session, weak));
            };
            let before = self.challenged.contains(&asked.request_id);
            if self.challenged.len() == CHALLENGES_REMEMBERED {
                self.challenged.pop_front();
            }
            self.challenged.push_back(asked.request_id.clone());
            let response = match network {
                Some(network) => network.answer_challenge(&asked, &self.main, before),
                None => json!({"response": "Default"}),
            };
            let params = json!({"requestId": asked.request_id, "authChallengeResponse": response});
            return Box::pin(send_challenge_answer(session, weak, params));
        }
        let Ok(paused) = event.to::<super::network_event::RequestPaused>() else {
            return Box::pin(release(session, weak));
        };
        let id = paused.request_id.clone();
        let (route, verdict) = match network {
            Some(network) => network.judge(&paused),
            None => (None, Verdict::go_on(&id)),
        };
        Box::pin(async move {
            let was_refused = send(&session, &weak, &id, verdict).await;
            if let (true, Some(route), Some(network)) = (was_refused, route, weak.upgrade()) {
                network.settings().routes.note_refused(route);
            }
        })
    }
}

/// Sends a verdict; one that the browser refuses lets the request go on as it is. Says whether it was refused.
async fn send(session: &CdpSession, network: &Weak<PageNetwork>, id: &str, verdict: Verdict) -> bool {
    let sent = session.send(verdict.method, &verdict.params, VERDICT_DEADLINE).await;
    let Err(error) = sent else { return false };
    if is_over(&error) {
        return false;
    }
    if verdict.method == "Fetch.failRequest"
        && network.upgrade().is_some_and(|network| network.is_contained())
    {
        tracing::warn!(%error, "a request that must not go on could not be ended; it waits");
        return true;
    }
    tracing::warn!(%error, "a request could not be answered as asked; it goes on");
    let go_on = Verdict::go_on(id);
    match session.send(go_on.method, &go_on.params, VERDICT_DEADLINE).await {
        Ok(_) => {}
        Err(error) if is_over(&error) => {}
        Err(_) => release(session.clone(), network.clone()).await,
    }
    true
}

async fn send_challenge_answer(session: CdpSession, network: Weak<PageNetwork>, params: Value) {
    match session.send("Fetch.continueWithAuth", &params, VERDICT_DEADLINE).await {
        Ok(_) => {}
        Err(error) if is_over(&error) => {}
        Err(_) => release(session, network).await,
    }
}

/// Lets everything go on that a process holds, and then holds again what is to be held. Where something must not go
/// on, nothing does.
async fn release(session: CdpSession, network: Weak<PageNetwork>) {
    if network.upgrade().is_some_and(|network| network.is_contained()) {
        return;
    }
    // A process that does not take even this is gone, and what it held with it.
    let _ = session.send("Fetch.disable", &json!({}), VERDICT_DEADLINE).await;
    if let Some(params) = network.upgrade().and_then(|network| network.interception()) {
        let _ = session.send("Fetch.enable", &params, VERDICT_DEADLINE).await;
    }
}

/// Whether the request or its process is not there any more, so that nothing is held.
fn is_over(error: &CdpError) -> bool {
    match error {
        CdpError::SessionGone { .. } | CdpError::Closed { .. } | CdpError::OutcomeUnknown { .. } => true,
        CdpError::Protocol { message, .. } => message.contains("Invalid InterceptionId"),
        _ => false,
    }
}
