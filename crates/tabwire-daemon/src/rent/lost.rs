//! Browsers whose creation was requested and not confirmed: they are found by their name and released. Also what a Grid's
//! silence or refusal means.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tabwire_api::api::SessionOptions;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::rent::grid::{Grid, GridStatus, SlotState};
use tabwire_cdp::Deadline;

use crate::rent::held::HeldRental;
use crate::rent::record::RentalRecord;
use crate::rent::source::{RentalSource, send};
use crate::rent::{REQUEST_DEADLINE, Rentals, capital};

/// How long a browser is looked for after its request was last seen in the queue. A node may be starting it.
const START_TIME: Duration = Duration::from_secs(60);

/// How long it is looked for in all. A Grid drops waiting requests after 300 s by default.
const SEARCH: Duration = Duration::from_secs(900);

/// The time between two looks.
const BETWEEN: Duration = Duration::from_secs(2);

/// What one look at the Grid found.
enum Found {
    /// These sessions have the name.
    Sessions(Vec<String>),
    /// The request still waits.
    Queued,
    /// Neither.
    Nothing,
}

impl Rentals {
    /// Finds and releases a browser whose creation was not confirmed, in the background.
    pub(super) fn find_lost(self: &Arc<Self>, record: RentalRecord, source: Arc<RentalSource>) {
        let rentals = Arc::clone(self);
        self.tasks.start("find-rented", async move {
            match &*source {
                RentalSource::Grid(grid) => rentals.find_at_grid(grid, &record, &source).await,
                RentalSource::Provider { recipe, .. } if recipe.releases_by_name() => {
                    rentals.release_later(record, source);
                }
                RentalSource::Provider { .. } => {
                    tracing::warn!(?record, "a provider may have created a browser whose id is not known");
                    rentals.store.remove(&record.id);
                }
            }
        });
    }

    /// Releases a browser in the background.
    pub(super) fn release_later(self: &Arc<Self>, record: RentalRecord, source: Arc<RentalSource>) {
        let rental = Arc::new(HeldRental::of_record(Arc::clone(self), source, record));
        self.tasks.start("release-rented", async move {
            // Tried again in the background when it fails.
            let _ = rental.release().await;
        });
    }

    async fn find_at_grid(self: &Arc<Self>, grid: &Grid, record: &RentalRecord, source: &Arc<RentalSource>) {
        let name = record.name();
        let (started, mut last_seen) = (Instant::now(), Instant::now());
        while last_seen.elapsed() < START_TIME && started.elapsed() < SEARCH {
            match look(grid, &name).await {
                Some(Found::Sessions(ids)) => {
                    tracing::info!(?record, "found the browser of a request that was not confirmed");
                    for id in ids {
                        let found = record.clone().held_as(Some(id));
                        let rental = HeldRental::of_record(Arc::clone(self), Arc::clone(source), found);
                        // Tried again in the background when it fails.
                        let _ = Arc::new(rental).release().await;
                    }
                    return;
                }
                Some(Found::Nothing) => {}
                // A Grid that does not respond may still have it.
                Some(Found::Queued) | None => last_seen = Instant::now(),
            }
            tokio::select! {
                () = tokio::time::sleep(BETWEEN) => {}
                // The record stays for the next daemon.
                () = self.tasks.stopping() => return,
            }
        }
        self.store.remove(&record.id);
    }

    /// The failure when no response came within the time.
    pub(super) async fn explain_wait(
        &self,
        source: &RentalSource,
        options: &SessionOptions,
        wait: Duration,
    ) -> Failure {
        let RentalSource::Grid(grid) = source else {
            let message =
                format!("{} gave no browser within {} s.", capital(&source.to_string()), wait.as_secs());
            return Failure::new(ErrorCode::Timeout, message).with_remedy(Remedy::new(
                "Look at your account there, or wait longer with {}.",
                [Step::argument("rent_wait")],
            ));
        };
        let (state, queued) = slots(grid, options).await.unwrap_or((SlotState::Free, None));
        grid.no_slot(state, Some(wait.as_secs()), queued)
    }

    /// The failure when a Grid gave up by itself: a full Grid says so; otherwise what the Grid said.
    pub(super) async fn explain_refusal(
        &self,
        source: &RentalSource,
        options: &SessionOptions,
        failure: Failure,
    ) -> Failure {
        let RentalSource::Grid(grid) = source else { return failure };
        match slots(grid, options).await {
            Some((SlotState::Free, _)) | None => failure,
            Some((state, queued)) => grid.no_slot(state, None, queued),
        }
    }
}

async fn look(grid: &Grid, name: &str) -> Option<Found> {
    let deadline = || Deadline::after(REQUEST_DEADLINE);
    // The queue first: a request that leaves it between the two looks is seen by the second.
    let queue = send(&grid.queue(), deadline()).await.ok()?;
    let status = GridStatus::read(&send(&grid.status(), deadline()).await.ok()?.body)?;
    let ids: Vec<String> = status.named(name).map(str::to_owned).collect();
    if !ids.is_empty() {
        return Some(Found::Sessions(ids));
    }
    let is_queued = String::from_utf8_lossy(&queue.body).contains(name);
    Some(if is_queued { Found::Queued } else { Found::Nothing })
}

/// The Grid's slots for such a request, and how many requests wait.
async fn slots(grid: &Grid, options: &SessionOptions) -> Option<(SlotState, Option<usize>)> {
    let deadline = || Deadline::after(REQUEST_DEADLINE);
    let status = GridStatus::read(&send(&grid.status(), deadline()).await.ok()?.body)?;
    let queue = send(&grid.queue(), deadline()).await.ok();
    let queue = queue.and_then(|queue| serde_json::from_slice::<serde_json::Value>(&queue.body).ok());
    let queued = queue.and_then(|queue| queue.get("value")?.as_array().map(Vec::len));
    Some((status.slots_for(options.capabilities.as_ref()), queued))
}
