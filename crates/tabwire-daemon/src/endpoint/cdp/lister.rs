//! Lists and opens targets for clients that use HTTP discovery before they connect.
//!
//! A request over HTTP has no connection to the browser, so the daemon keeps one for each process that sends such
//! requests. It opens the client's first page; the client's websocket takes the page over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_cdp::{CdpError, Connection, TaskGroup, channel_pair};
use tabwire_mux::ClientOptions;
use tabwire_policy::Profile;

use super::view::View;
use crate::hub::client_guard::ClientGuard;
use crate::limits::ACTION_DEADLINE;
use crate::session::gone;
use crate::session::live::LiveSession;

/// How long a connection is kept after its last request: a client connects right after it has listed the targets.
const KEPT: Duration = Duration::from_secs(30);

/// Programs that list targets at once, for which a connection is kept each.
const LISTERS: usize = 64;

/// The session, process and view that a connection is for.
type Key = (SessionKey, Option<u32>, View);

/// The connections that list targets.
#[derive(Debug, Default)]
pub(crate) struct Listers {
    connections: Mutex<HashMap<Key, Arc<Lister>>>,
    /// Held while a connection is opened, so that two requests of a process never open two.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Lister {
    connection: Connection,
    used: Mutex<Instant>,
}

impl Listers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Lister>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a command on the connection for this key; opens it if there is none.
    pub(crate) async fn send(
        self: &Arc<Self>,
        key: &Key,
        live: &LiveSession,
        options: ClientOptions,
        command: (&'static str, Value),
        tasks: &TaskGroup,
    ) -> Result<Result<Value, CdpError>, Failure> {
        let lister = {
            let _opening = self.opening.lock().await;
            let open = self.lock().get(key).cloned();
            match open.filter(|lister| !lister.connection.browser().is_gone()) {
                Some(lister) => lister,
                None => self.open(key, live, options, tasks).await?,
            }
        };
        lister.touch();
        let (method, params) = command;
        let response = lister.connection.browser().send(method, &params, ACTION_DEADLINE).await;
        Ok(response.and_then(|response| response.to()))
    }

    async fn open(
        self: &Arc<Self>,
        key: &Key,
        live: &LiveSession,
        mut options: ClientOptions,
        tasks: &TaskGroup,
    ) -> Result<Arc<Lister>, Failure> {
        if self.lock().len() >= LISTERS {
            let message = format!("{LISTERS} programs list targets at once; more are not served.");
            return Err(Failure::new(ErrorCode::Busy, message).with_remedy("Try again in a minute."));
        }
        options.identity.is_discovery = true;
        let (ours, theirs) = channel_pair();
        let name = format!("CDP client of {}", key.0.name);
        let guard = Some(ClientGuard::of_lister(name, live.options.policy() == Profile::Open));
        live.browser.hub.join_guarded(theirs.0, theirs.1, options, guard).await.map_err(gone)?;
        let connection = Connection::start(ours.0, ours.1, tasks);
        let lister = Arc::new(Lister { connection, used: Mutex::new(Instant::now()) });
        self.lock().insert(key.clone(), Arc::clone(&lister));
        let (listers, key, kept, stopping) =
            (Arc::clone(self), key.clone(), Arc::clone(&lister), tasks.clone());
        tasks.start("cdp-lister", async move {
            loop {
                let left = KEPT.saturating_sub(kept.idle());
                if left.is_zero() {
                    break;
                }
                tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    _ = kept.connection.closed() => break,
                    () = stopping.stopping() => break,
                }
            }
            kept.connection.close();
            let mut connections = listers.lock();
            if connections.get(&key).is_some_and(|current| Arc::ptr_eq(current, &kept)) {
                connections.remove(&key);
            }
        });
        Ok(lister)
    }
}

impl Lister {
    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}
