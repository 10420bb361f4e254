//! One rented browser: kept while its session uses it, and released once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex, OnceLock, PoisonError};
use std::time::Duration;

use tabwire_api::api::RemoteBrowser;
use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::rent::grid::{Grid, GridStatus};
use tabwire_cdp::Deadline;
use tokio::sync::Mutex;

use crate::hub::Hub;
use crate::rent::record::{RentalRecord, milliseconds};
use crate::rent::source::{GivenBrowser, RentalSource, filled, send};
use crate::rent::{REQUEST_DEADLINE, Rentals, capital};

/// Why a hub ends when the Grid or provider no longer has the browser.
const ENDED_THERE: &str = "it was ended there (it timed out, its node is gone, or another client deleted it)";

/// Why a browser is lost for which the Grid or provider reports an error of its own.
const SILENT_NODE: &str = "its node, or the browser on it, does not respond";

/// How long to wait for the reason of a loss.
const REASON_DEADLINE: Duration = Duration::from_secs(5);

/// Waits between attempts to release a browser, in seconds. The last one is repeated.
const RETRIES: [u64; 6] = [1, 2, 5, 10, 30, 60];

/// Attempts to release a browser before it is left to the next daemon.
const ATTEMPTS: usize = 40;

/// Characters of a session id that are shown, to find it on the Grid's own page.
const SHOWN_ID: usize = 8;

/// A browser of a Grid or provider.
#[derive(Debug)]
pub(crate) struct HeldRental {
    rentals: Arc<Rentals>,
    source: Arc<RentalSource>,
    record: RentalRecord,
    /// Name and version of the browser, if they were reported.
    pub(crate) product: String,
    /// Whether its node keeps downloads.
    pub(crate) keeps_downloads: bool,
    /// Its node: where it is, and how many idle seconds it allows.
    node: StdMutex<Option<(String, Option<u64>)>>,
    /// Whether the release is confirmed.
    released: Mutex<bool>,
    is_retried: AtomicBool,
    /// Set when the session ends it: no loss then.
    is_closing: AtomicBool,
    /// Why it was lost.
    loss: OnceLock<String>,
    /// Set when the reason of a loss is known, or known to be unknown.
    is_explained: tokio::sync::watch::Sender<bool>,
}

/// What a Grid or provider says about a browser.
enum Presence {
    There,
    Gone,
    /// The Grid or provider responds, but not the machine that runs the browser, or not the browser.
    Silent,
    Unknown,
}

impl HeldRental {
    pub(super) fn new(
        rentals: Arc<Rentals>,
        source: Arc<RentalSource>,
        record: RentalRecord,
        given: &GivenBrowser,
    ) -> Self {
        let (product, keeps_downloads) = (given.product.clone(), given.keeps_downloads);
        Self { product, keeps_downloads, ..Self::of_record(rentals, source, record) }
    }

    /// A browser that an earlier daemon left.
    pub(super) fn of_record(rentals: Arc<Rentals>, source: Arc<RentalSource>, record: RentalRecord) -> Self {
        Self {
            rentals,
            source,
            record,
            product: String::new(),
            keeps_downloads: false,
            node: StdMutex::default(),
            released: Mutex::new(false),
            is_retried: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            loss: OnceLock::new(),
            is_explained: tokio::sync::watch::Sender::new(false),
        }
    }

    /// The Grid or provider, without credentials.
    pub(crate) fn place(&self) -> String {
        self.source.to_string()
    }

    /// The Grid and the id of its session there.
    pub(crate) fn grid(&self) -> Option<(&Grid, &str)> {
        match &*self.source {
            RentalSource::Grid(grid) => Some((grid, self.record.remote.as_deref()?)),
            RentalSource::Provider { .. } => None,
        }
    }

    /// Where it runs and how long it still lives, for a status.
    pub(crate) fn describe(&self) -> RemoteBrowser {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seconds = milliseconds().saturating_sub(self.record.requested_at) / 1000;
        let (life, idle) = self.source.life();
        let life = life.map(|life| life.as_secs());
        let (node, idle_of_node) = node.map_or((None, None), |(uri, idle)| (Some(uri), idle));
        RemoteBrowser {
            place: self.place().trim_start_matches("the ").to_owned(),
            node,
            id: self.record.remote.as_ref().map(|id| id.chars().take(SHOWN_ID).collect()),
            rented_seconds: seconds,
            seconds_left: life.map(|life| life.saturating_sub(seconds)),
            idle_limit_seconds: idle_of_node.or(idle.map(|idle| idle.as_secs())),
            kept_every_seconds: self.keepalive_interval().map(|every| every.as_secs()),
        }
    }

    /// Keeps the browser while the hub serves it, and releases it when the hub ends.
    pub(crate) fn watch(self: &Arc<Self>, hub: Hub) {
        let rental = Arc::clone(self);
        self.rentals.tasks.clone().start("rented-browser", async move {
            rental.find_node().await;
            let every = rental.keepalive_interval();
            loop {
                let next = async {
                    match every {
                        Some(every) => tokio::time::sleep(every).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = hub.gone() => break,
                    () = next => {}
                }
                if matches!(rental.presence().await, Presence::Gone) {
                    rental.note_loss(ENDED_THERE);
                    hub.leave(ENDED_THERE).await;
                    break;
                }
            }
            rental.explain_loss().await;
            // Tried again in the background when it fails.
            let _ = rental.release().await;
        });
    }

    /// The time between two keepalive requests. A node with a short idle limit gets them more often.
    fn keepalive_interval(&self) -> Option<Duration> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = node.as_ref().and_then(|(_, idle)| *idle).map(|seconds| Duration::from_secs(seconds) / 3);
        let every = self.source.keepalive_interval()?;
        Some(idle.map_or(every, |idle| every.min(idle.max(Duration::from_secs(1)))))
    }

    fn note_loss(&self, why: &str) {
        if !self.is_closing.load(Ordering::Acquire) {
            let _ = self.loss.set(why.to_owned());
        }
    }

    /// Finds why the connection ended.
    async fn explain_loss(&self) {
        let is_closing = self.is_closing.load(Ordering::Acquire);
        if !is_closing && self.loss.get().is_none() {
            let seconds = milliseconds().saturating_sub(self.record.requested_at) / 1000;
            let life = self.source.life().0.map(|life| life.as_secs());
            match life.filter(|life| seconds + 1 >= *life) {
                Some(life) => self.note_loss(&format!("its time of {life} s at {} is over", self.place())),
                None => match self.presence().await {
                    Presence::Gone => self.note_loss(ENDED_THERE),
                    Presence::Silent => self.note_loss(SILENT_NODE),
                    Presence::There | Presence::Unknown => {}
                },
            }
        }
        self.is_explained.send_replace(true);
    }

    /// Why the browser was lost, if the Grid or provider says it.
    pub(crate) async fn loss(&self) -> Option<String> {
        let mut explained = self.is_explained.subscribe();
        // Without a response in time, the reason of the connection stays.
        let _ = tokio::time::timeout(REASON_DEADLINE, explained.wait_for(|is_explained| *is_explained)).await;
        self.known_loss()
    }

    /// The reason, if it is known already.
    pub(crate) fn known_loss(&self) -> Option<String> {
        self.loss.get().map(|why| format!("{}: {why}", self.place()))
    }

    /// Sends the keepalive request.
    async fn presence(&self) -> Presence {
        let (id, name, secrets) =
            (self.record.remote.clone(), self.record.name(), self.rentals.secrets.clone());
        let request =
            filled(&self.source, move |source| source.keepalive(id.as_deref(), &name, &secrets)).await;
        let Ok(Some(request)) = request else { return Presence::Unknown };
        match send(&request, Deadline::after(REQUEST_DEADLINE)).await {
            Ok(response) if (200..300).contains(&response.status) => Presence::There,
            Ok(response) if matches!(response.status, 404 | 410) => Presence::Gone,
            // Until the health check of a hub has removed a dead node, requests for its sessions fail so.
            Ok(response) if (500..600).contains(&response.status) => Presence::Silent,
            Ok(_) | Err(_) => Presence::Unknown,
        }
    }

    /// Finds the node of a Grid's session.
    async fn find_node(&self) {
        let Some((grid, id)) = self.grid() else { return };
        let Ok(response) = send(&grid.status(), Deadline::after(REQUEST_DEADLINE)).await else { return };
        let status = GridStatus::read(&response.body).unwrap_or_default();
        if let Some(node) = status.find_node(id) {
            let found = (node.uri.clone(), node.idle_seconds);
            *self.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
    }

    /// Notes that the session ends the browser.
    pub(crate) fn set_closing(&self) {
        self.is_closing.store(true, Ordering::Release);
    }

    /// Releases the browser; the second call does nothing. After a failure it is tried again in the background.
    pub(crate) async fn release(self: &Arc<Self>) -> Result<(), Failure> {
        let mut released = self.released.lock().await;
        if *released {
            return Ok(());
        }
        let tried = self.try_release().await;
        match &tried {
            Ok(()) => *released = true,
            Err(failure) => {
                tracing::warn!(record = ?self.record, %failure, "a rented browser was not released yet");
                self.retry();
            }
        }
        tried
    }

    async fn try_release(&self) -> Result<(), Failure> {
        let (id, name, secrets) =
            (self.record.remote.clone(), self.record.name(), self.rentals.secrets.clone());
        let request =
            filled(&self.source, move |source| source.release(id.as_deref(), &name, &secrets)).await?;
        if let Some(request) = request {
            let place = capital(&self.place());
            let unconfirmed = |why: String| {
                let message = format!("{place} did not confirm that the browser is released: {why}.");
                Failure::new(ErrorCode::NoBackend, message)
                    .with_remedy("Tabwire goes on trying, also after a restart of its daemon.")
            };
            let sent = send(&request, Deadline::after(REQUEST_DEADLINE)).await;
            let response = sent.map_err(|error| unconfirmed(error.to_string()))?;
            // One that is gone already is released.
            if !(200..300).contains(&response.status) && !matches!(response.status, 404 | 410) {
                return Err(unconfirmed(format!("HTTP status {}", response.status)));
            }
        }
        self.rentals.store.remove(&self.record.id);
        tracing::info!(record = ?self.record, place = %self.source, "a rented browser is released");
        Ok(())
    }

    fn retry(self: &Arc<Self>) {
        if self.is_retried.swap(true, Ordering::AcqRel) {
            return;
        }
        let rental = Arc::clone(self);
        self.rentals.tasks.clone().start("release-again", async move {
            for attempt in 0..ATTEMPTS {
                let seconds = RETRIES.get(attempt).or(RETRIES.last()).copied().unwrap_or(60);
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
                    () = rental.rentals.tasks.stopping() => return,
                }
                let mut released = rental.released.lock().await;
                if *released || rental.try_release().await.is_ok() {
                    *released = true;
                    return;
                }
            }
            tracing::warn!(record = ?rental.record, "a rented browser is left to the next daemon");
        });
    }
}
