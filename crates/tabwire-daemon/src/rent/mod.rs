//! Rented browsers: created by a Grid or a provider for one session, kept, and released.
//!
//! The order is: record on disk, request, record with the id, connection. The record is removed only when the release is
//! confirmed. So a daemon that is killed at any moment leaves records, and the next daemon releases their browsers.

pub(crate) mod files;
mod held;
mod lost;
mod record;
mod source;
mod zip;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tabwire_api::api::SessionOptions;
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_browser::rent::RentRequest;
use tabwire_browser::{AttachTarget, RequestHeader, attach};
use tabwire_cdp::{Deadline, HttpResponse, TaskGroup};

pub(crate) use self::held::HeldRental;
use self::record::{RentalRecord, RentalStore, SavedSource};
use self::source::{GivenBrowser, RentalSource, VaultSecrets, filled, send, with_browser};
use crate::browser::background::in_background;
use crate::browser::link::BrowserLink;
use crate::limits::RENT_WAIT;
use crate::vault::Vault;

/// How long a Grid or provider may take for any request but a rent.
pub(crate) const REQUEST_DEADLINE: Duration = Duration::from_secs(10);

/// Releases that run at once after a start of the daemon.
const RELEASES_AT_ONCE: usize = 32;

/// The rented browsers of one daemon.
#[derive(Debug)]
pub(crate) struct Rentals {
    store: RentalStore,
    config: PathBuf,
    secrets: VaultSecrets,
    tasks: TaskGroup,
    /// Sessions that wait for a browser: where, and since when.
    waiting: Mutex<HashMap<SessionKey, (String, Instant)>>,
}

/// What happened to a request for a browser.
enum Creation {
    /// There is a response.
    Response(HttpResponse),
    /// The server did not get the request.
    NotSent(String),
    /// No response came in time. The browser may exist, or may still be created.
    Unknown,
}

impl Rentals {
    pub(crate) fn new(paths: &crate::paths::Paths, vault: Vault, tasks: TaskGroup) -> Self {
        Self {
            store: RentalStore::new(paths.rentals()),
            config: paths.config.clone(),
            secrets: VaultSecrets(vault),
            tasks,
            waiting: Mutex::default(),
        }
    }

    /// Rents a browser for a session and connects to it.
    pub(crate) async fn rent(
        self: &Arc<Self>,
        options: &SessionOptions,
        key: &SessionKey,
    ) -> Result<(BrowserLink, Arc<HeldRental>), Failure> {
        let options = &with_browser(options)?;
        let saved = SavedSource::of_options(options, &self.config)?;
        let source = Arc::new(RentalSource::load(&saved)?);
        let record = RentalRecord::new(key.clone(), saved)?;
        let (name, wanted, secrets) = (record.name(), options.clone(), self.secrets.clone());
        let create = filled(&source, move |source| source.create(&name, &wanted, &secrets)).await?;
        self.write(&record).await?;
        let wait = options.rent_wait_seconds.map_or(RENT_WAIT, Duration::from_secs);
        let response = match &create {
            Some(create) => Some(self.create(create, &source, (&record, options), wait).await?),
            None => None,
        };
        let given = match self.read(&source, response.as_ref(), &record).await {
            Ok(given) => given,
            Err(failure) => return Err(self.refused(&source, record, response, options, failure).await),
        };
        let record = record.held_as(given.id.clone());
        let noted = self.write(&record).await;
        let rental = Arc::new(HeldRental::new(Arc::clone(self), source, record, &given));
        let connected = match noted {
            Ok(()) => self.connect(&rental, given).await,
            Err(failure) => Err(failure),
        };
        match connected {
            Ok(link) => Ok((link, rental)),
            Err(failure) => {
                // Tried again in the background when it fails.
                let _ = rental.release().await;
                Err(failure)
            }
        }
    }

    /// Sends the request that creates a browser. A Grid responds when a slot is free.
    async fn create(
        self: &Arc<Self>,
        create: &RentRequest,
        source: &Arc<RentalSource>,
        (record, options): (&RentalRecord, &SessionOptions),
        wait: Duration,
    ) -> Result<HttpResponse, Failure> {
        let _waiting = Waiting::note(self, &record.session, source.to_string());
        let started = Instant::now();
        let creation = match send(create, Deadline::after(wait)).await {
            Ok(response) => Creation::Response(response),
            Err(error) if error.may_be_sent() => Creation::Unknown,
            Err(error) => Creation::NotSent(error.to_string()),
        };
        match creation {
            Creation::Response(response) => Ok(response),
            Creation::NotSent(why) => {
                self.store.remove(&record.id);
                let message = format!("Cannot reach {source}: {why}.");
                Err(Failure::new(ErrorCode::NoBackend, message)
                    .with_remedy("Check the URL, and that its server runs and can be reached from here."))
            }
            Creation::Unknown => {
                let failure = if started.elapsed() < wait {
                    let message =
                        format!("{} broke the connection before it responded.", capital(&source.to_string()));
                    Failure::new(ErrorCode::NoBackend, message)
                        .with_remedy("A browser that it created nevertheless is released. Retry.")
                } else {
                    self.explain_wait(source, options, wait).await
                };
                self.find_lost(record.clone(), Arc::clone(source));
                Err(failure)
            }
        }
    }

    async fn read(
        &self,
        source: &Arc<RentalSource>,
        response: Option<&HttpResponse>,
        record: &RentalRecord,
    ) -> Result<GivenBrowser, Failure> {
        let (response, name, secrets) = (response.cloned(), record.name(), self.secrets.clone());
        filled(source, move |source| source.read(response.as_ref(), &name, &secrets)).await
    }

    /// The failure of a request that was refused. A browser that exists nevertheless is released.
    async fn refused(
        self: &Arc<Self>,
        source: &Arc<RentalSource>,
        record: RentalRecord,
        response: Option<HttpResponse>,
        options: &SessionOptions,
        failure: Failure,
    ) -> Failure {
        let Some(response) = response else {
            self.store.remove(&record.id);
            return failure;
        };
        if let Some(id) = source.find_id(&response).filter(|_| (200..300).contains(&response.status)) {
            self.release_later(record.held_as(Some(id)), Arc::clone(source));
            return failure;
        }
        self.store.remove(&record.id);
        match failure.code {
            // The Grid gave up by itself: its own time for waiting requests was over, or the node failed.
            ErrorCode::LaunchFailed => self.explain_refusal(source, options, failure).await,
            _ => failure,
        }
    }

    /// Connects to the browser that was given.
    async fn connect(&self, rental: &HeldRental, given: GivenBrowser) -> Result<BrowserLink, Failure> {
        let Some(address) = given.address else {
            let (name, option) = match given.firefox {
                Some(_) => ("webSocketUrl", "--enable-bidi true"),
                None => ("se:cdp", "--enable-cdp true"),
            };
            let message = format!("{} gave a browser without `{name}`.", capital(&rental.place()));
            let remedy = format!("Start the node with its debugging websocket on (`{option}`).");
            return Err(Failure::new(ErrorCode::NoBackend, message).with_remedy(remedy));
        };
        let unreachable = |why: String| {
            let message =
                format!("{} gave a browser that cannot be reached: {why}.", capital(&rental.place()));
            Failure::new(ErrorCode::NoBackend, message).with_remedy(Remedy::new(
                "It was released. Its node may be down: retry, or run {}.",
                [Step::command("tabwire daemon logs")],
            ))
        };
        let websocket = if matches!(address.scheme(), "ws" | "wss") {
            address.to_string()
        } else {
            let parsed =
                given.headers.iter().map(|line| RequestHeader::parse(line)).collect::<Result<Vec<_>, _>>()?;
            let target = AttachTarget::Http(address);
            let deadline = Instant::now() + REQUEST_DEADLINE;
            let found =
                in_background(move || attach::discover_with_headers(&target, None, &parsed, deadline)).await;
            found
                .map_err(|failure| unreachable(failure.message.trim_end_matches('.').to_owned()))?
                .expose()
                .to_string()
        };
        let link = match given.firefox {
            Some(facts) => BrowserLink::attach_bidi(&websocket, &given.headers, facts, &self.tasks).await,
            None => BrowserLink::attach(&websocket, &given.headers).await,
        };
        let mut link =
            link.map_err(|error| unreachable(error.into_failure().message.trim_end_matches('.').to_owned()))?;
        link.is_rented = true;
        Ok(link)
    }

    async fn write(&self, record: &RentalRecord) -> Result<(), Failure> {
        let (store, record) = (self.store.clone(), record.clone());
        let written = tokio::task::spawn_blocking(move || store.write(&record)).await;
        written.unwrap_or_else(|error| {
            Err(Failure::new(ErrorCode::Internal, format!("Background work ended early: {error}.")))
        })
    }

    /// Where a session waits for a browser, and for how many seconds.
    pub(crate) fn find_waiting(&self, key: &SessionKey) -> Option<(String, u64)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get(key).map(|(place, since)| (place.clone(), since.elapsed().as_secs()))
    }

    /// Releases the browsers that earlier daemons left, in the background.
    pub(crate) fn sweep(self: &Arc<Self>) {
        let left = self.store.list();
        if left.is_empty() {
            return;
        }
        tracing::info!(count = left.len(), "releasing the rented browsers of an earlier daemon");
        let rentals = Arc::clone(self);
        self.tasks.start("release-left", async move {
            let mut left = left.into_iter();
            let mut running = FuturesUnordered::new();
            loop {
                while running.len() < RELEASES_AT_ONCE
                    && let Some(record) = left.next()
                {
                    running.push(rentals.release_left(record));
                }
                if running.next().await.is_none() {
                    return;
                }
            }
        });
    }

    async fn release_left(self: &Arc<Self>, record: RentalRecord) {
        let source = match RentalSource::load(&record.source) {
            Ok(source) => Arc::new(source),
            Err(failure) => {
                tracing::warn!(?record, %failure, "a rented browser of an earlier daemon cannot be released");
                return;
            }
        };
        if record.is_held {
            let rental = Arc::new(HeldRental::of_record(Arc::clone(self), source, record));
            // Tried again in the background when it fails.
            let _ = rental.release().await;
        } else {
            self.find_lost(record, source);
        }
    }
}

/// Notes that a session waits, until it is dropped.
struct Waiting<'a> {
    rentals: &'a Rentals,
    key: SessionKey,
}

impl<'a> Waiting<'a> {
    fn note(rentals: &'a Rentals, key: &SessionKey, place: String) -> Self {
        let mut waiting = rentals.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.insert(key.clone(), (place, Instant::now()));
        Self { rentals, key: key.clone() }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.rentals.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// A text with a capital letter, for the start of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
