//! One program that stands in for a browser, from the browser it gets to what becomes of that afterwards.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tabwire_browser::{Display, Ownership};
use tabwire_cdp::limits::CLIENT_MESSAGE_CEILING;
use tabwire_cdp::{PipeSink, PipeSource, TransportError};
use tabwire_mux::{ClientOptions, OnLoss, Share};
use tabwire_wire::api::{ChromeEnd, ChromeEndReason, ChromeOpened, ChromeOpening, PolicyProfile};
use tabwire_wire::{ClientId, ErrorCode, Failure, ProjectKey, SessionKey, SessionName};
use tokio::net::UnixStream;
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::chrome_endpoint::{Opening, hung_up};
use crate::command_guard::GuardedClient;
use crate::daemon::Daemon;
use crate::note::Note;
use crate::place::{Place, Watch};
use crate::served_browser::ServedBrowser;

/// A stand-in and the browser it has.
#[derive(Debug)]
pub(crate) struct ChromeGuest {
    daemon: Arc<Daemon>,
    served: Arc<ServedBrowser>,
    ownership: Ownership,
    /// Its launcher as a client of the browser; none when it only keeps the browser.
    client: Option<Client>,
}

#[derive(Debug)]
struct Client {
    id: ClientId,
    left: oneshot::Receiver<()>,
    closed_browser: Arc<AtomicBool>,
}

impl ChromeGuest {
    /// Gets the browser that is wanted and makes the launcher its client.
    pub(crate) async fn open(
        daemon: &Arc<Daemon>,
        opening: Opening,
        caller: Caller,
    ) -> Result<(Self, ChromeOpened), Failure> {
        let Opening { wish, descriptors } = opening;
        let (fleet, wanted) = (Arc::clone(&daemon.fleet), wish.clone());
        let (served, ownership) =
            daemon.carry_out(|_| async move { fleet.obtain_for_chrome(&wanted).await }).await?;
        served.stand_in_lines.fetch_add(1, Ordering::SeqCst);
        let mut guest = Self { daemon: Arc::clone(daemon), served, ownership, client: None };
        match guest.join(&wish, descriptors, &caller).await {
            Ok(client) => guest.client = client,
            Err(failure) => {
                guest.leave(true).await;
                return Err(failure);
            }
        }
        let opened = guest.describe(&wish);
        tracing::info!(ownership = %opened.ownership, profile = ?opened.profile, "a stand-in has its browser");
        Ok((guest, opened))
    }

    async fn join(
        &self,
        wish: &ChromeOpening,
        descriptors: Vec<OwnedFd>,
        caller: &Caller,
    ) -> Result<Option<Client>, Failure> {
        let mut descriptors = descriptors.into_iter();
        let (Some(commands), Some(answers)) = (descriptors.next(), descriptors.next()) else {
            return Ok(None);
        };
        let source =
            PipeSource::new(commands, CLIENT_MESSAGE_CEILING).map_err(TransportError::into_failure)?;
        let sink = PipeSink::new(answers).map_err(TransportError::into_failure)?;
        let (key, profile) = self.find_rule().await?;
        let guard = self.daemon.policy.guard(GuardedClient::Bare, profile, &key, self.served.ownership);
        let on_loss = if wish.outlives_browser { OnLoss::Keep } else { OnLoss::Close };
        let share = if wish.sees_everything { Share::All } else { Share::Released };
        let options = ClientOptions { share, on_loss, realm: None, guard: Some(guard) };
        let asker = caller.named(None, None);
        Note::of_arrival(&self.daemon.scribe, key.clone(), asker.clone(), None).finish(None).await;
        let (sender, left) = oneshot::channel();
        let closed_browser = Arc::new(AtomicBool::new(false));
        let watch = Watch { closed_browser: Arc::clone(&closed_browser), _left: sender };
        let name = asker.program.clone().unwrap_or_else(|| "a launcher".to_owned());
        let departure = Some(Note::of_departure(&self.daemon.scribe, key, asker));
        let place = Place { name, _permit: None, _departure: departure, watch: Some(watch) };
        let joined = self.served.hub.join_in_place(source.into(), sink.into(), options, Some(place)).await;
        let id = joined.map_err(|gone| {
            Failure::new(ErrorCode::BrowserGone, format!("The browser went away at once: {gone}."))
        })?;
        Ok(Some(Client { id, left, closed_browser }))
    }

    /// Whose policy holds: that of a guarded session in the same browser, which has to admit CDP clients; else none.
    async fn find_rule(&self) -> Result<(SessionKey, PolicyProfile), Failure> {
        for session in self.daemon.sessions.all() {
            if let Some(live) = session.find_live().await
                && Arc::ptr_eq(&live.browser, &self.served)
                && live.options.policy() == PolicyProfile::Guarded
            {
                self.daemon.admit_bare_client(&session, &live)?;
                return Ok((session.key.clone(), PolicyProfile::Guarded));
            }
        }
        Ok((session_key()?, PolicyProfile::Open))
    }

    fn describe(&self, wish: &ChromeOpening) -> ChromeOpened {
        let descriptor = self.served.descriptor.as_ref();
        let address = self.served.address.as_ref();
        let windows = self.served.windows.as_ref();
        ChromeOpened {
            ownership: if self.ownership.may_close() { "launched" } else { "attached" }.to_owned(),
            browser: descriptor.map(|descriptor| descriptor.id.clone()),
            product: descriptor
                .and_then(|descriptor| descriptor.version.clone())
                .or_else(|| address.and_then(|address| address.product().map(str::to_owned)))
                .or_else(|| windows.and_then(|windows| windows.product.clone())),
            executable: descriptor.map(|descriptor| descriptor.executable.clone()),
            pid: descriptor
                .map(|descriptor| descriptor.browser.pid())
                .or_else(|| windows.and_then(|windows| i32::try_from(windows.pid).ok())),
            debugging_port: address
                .and_then(|address| address.expose().port())
                .or_else(|| windows.map(|windows| windows.port)),
            profile: descriptor
                .map(|descriptor| descriptor.profile.clone())
                .or_else(|| windows.map(|windows| windows.profile.clone().into()))
                .or_else(|| wish.profile.clone()),
        }
    }

    /// Stays until the stand-in, its launcher, the browser or the daemon goes; says how it ended to whoever is left.
    pub(crate) async fn stay(mut self, stream: &UnixStream) -> Option<ChromeEnd> {
        let hub = self.served.hub.clone();
        let client = self.client.take();
        let identity = client.as_ref().map(|client| client.id);
        let closed_browser = client.as_ref().map(|client| Arc::clone(&client.closed_browser));
        let why = tokio::select! {
            biased;
            () = hub.gone() => ChromeEndReason::BrowserGone,
            () = client_left(client) => ChromeEndReason::ClientLeft,
            () = hung_up(stream) => ChromeEndReason::ClientLeft,
            () = self.daemon.tasks.stopping() => ChromeEndReason::DaemonEnds,
        };
        if let Some(identity) = identity {
            hub.dismiss(identity).await;
        }
        let has_closed = closed_browser.is_some_and(|closed| closed.load(Ordering::SeqCst));
        let why = if has_closed { ChromeEndReason::BrowserClosed } else { why };
        let sentence = match why {
            ChromeEndReason::BrowserGone => format!("{}.", hub.gone_reason()),
            ChromeEndReason::ClientLeft => "The client has left.".to_owned(),
            ChromeEndReason::BrowserClosed => "The client has closed its browser.".to_owned(),
            ChromeEndReason::DaemonEnds => "The daemon ends.".to_owned(),
        };
        if why != ChromeEndReason::DaemonEnds {
            self.leave(has_closed).await;
        }
        Some(ChromeEnd { why, sentence })
    }

    /// Gives its part of the browser back. The last one out ends a browser of ours, except that a window stays for its
    /// user unless whoever had it opened wants it closed.
    async fn leave(self, has_closed: bool) {
        let others = {
            let _sharing = self.daemon.fleet.sharing.lock().await;
            let others = self.served.remove_user();
            let is_headless =
                self.served.ownership.may_close() && self.served.display() == Some(Display::Headless);
            let ends = is_headless || (has_closed && self.ownership.may_close()) || self.served.hub.is_gone();
            if others == 0 && ends {
                if let Err(failure) = self.daemon.fleet.stop(&self.served).await {
                    tracing::warn!(%failure, "a stand-in's browser did not end; its keeper will do that");
                }
                return;
            }
            others
        };
        // A browser of Windows is found again by its profile, and needs nobody to keep it.
        if others == 0 && (!self.served.ownership.may_close() || self.served.windows.is_some()) {
            return self.served.hub.let_go().await;
        }
        if others == 0 {
            self.park();
        }
    }

    /// Keeps a browser with a window for whoever comes next, until its user closes it.
    fn park(self) {
        let seat = self.daemon.guests.seat();
        let (served, tasks) = (Arc::clone(&self.served), self.daemon.tasks.clone());
        self.daemon.tasks.start("parked-browser", async move {
            tokio::select! {
                () = served.hub.gone() => {}
                () = tasks.stopping() => {}
            }
            drop(seat);
        });
    }
}

impl Drop for ChromeGuest {
    fn drop(&mut self) {
        self.served.stand_in_lines.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits until the launcher has hung up or closed its browser.
async fn client_left(client: Option<Client>) {
    match client {
        // An error, because the other half is dropped with the client.
        Some(client) => drop(client.left.await),
        None => std::future::pending().await,
    }
}

/// What stand-ins are filed under in the journal.
fn session_key() -> Result<SessionKey, Failure> {
    let name = SessionName::new("chrome").map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("A name of ours is not accepted: {error}."))
    })?;
    Ok(SessionKey::new(ProjectKey::default(), name))
}
