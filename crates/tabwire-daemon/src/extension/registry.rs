//! The connected browsers of the user, by install id.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, SessionKey, Step};
use tabwire_audit::{ClientInfo, Transport};
use tabwire_cdp::{TaskGroup, UnauthenticatedPeers};
use tabwire_extension::BrowserStats;
use tabwire_extension::link_message::{BrowserState, Hello};
use tabwire_extension::notification::Refusal;
use tokio::sync::{mpsc, watch};

use crate::audit::entry::AuditEntry;
use crate::audit::event::Event;
use crate::extension::browser::{Ends, ExtensionBrowser, ExtensionCommand, ExtensionFacts};
use crate::extension::notifications::{NotificationSources, Notifications, Refusals, add_refusal};
use crate::extension::task::ExtensionTask;
use crate::limits::UNAUTHENTICATED_CONNECTIONS;

/// The user's own browsers that may be connected at once.
const EXTENSIONS: usize = 16;

/// Commands in the queue of a browser's task.
const COMMANDS: usize = 16;

/// Messages of a browser's user that may wait.
const WORDS: usize = 16;

/// The user's own browsers.
#[derive(Debug)]
pub(crate) struct ExtensionRegistry {
    key: PathBuf,
    tasks: TaskGroup,
    browsers: Mutex<BTreeMap<String, ExtensionBrowser>>,
    /// Counts connects, for waiting commands.
    arrivals: watch::Sender<u64>,
    sources: NotificationSources,
    refusals: Refusals,
    /// Counts new keys. Panels of the key before end.
    rotations: watch::Sender<u64>,
    unauthenticated: Arc<UnauthenticatedPeers>,
}

impl ExtensionRegistry {
    pub(crate) fn new(key: PathBuf, tasks: TaskGroup, sources: NotificationSources) -> Self {
        let (arrivals, refusals) = (watch::Sender::new(0), Refusals::default());
        let unauthenticated = UnauthenticatedPeers::new(UNAUTHENTICATED_CONNECTIONS);
        let rotations = watch::Sender::new(0);
        Self {
            key,
            tasks,
            browsers: Mutex::default(),
            arrivals,
            sources,
            refusals,
            rotations,
            unauthenticated,
        }
    }

    /// Unauthenticated websockets.
    pub(crate) fn unauthenticated(&self) -> &Arc<UnauthenticatedPeers> {
        &self.unauthenticated
    }

    /// New keys from now on.
    pub(super) fn rotations(&self) -> watch::Receiver<u64> {
        self.rotations.subscribe()
    }

    /// Shows a refusal to the user of a browser.
    pub(crate) fn add_refusal(&self, install: &str, refusal: Refusal) {
        add_refusal(&self.refusals, install, refusal);
    }

    pub(super) const fn tasks(&self) -> &TaskGroup {
        &self.tasks
    }

    pub(crate) fn key_file(&self) -> &Path {
        &self.key
    }

    fn browsers(&self) -> MutexGuard<'_, BTreeMap<String, ExtensionBrowser>> {
        let mut browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        browsers.retain(|_, browser| !browser.commands.is_closed());
        browsers
    }

    /// Adds an authenticated extension. The same install replaces its earlier connection.
    pub(crate) async fn arrived(&self, hello: &Hello, present: BrowserState, ends: Ends) {
        let known = self.browsers().get(&hello.install).filter(|known| known.run == present.run).cloned();
        let line = match known {
            None => Some((present, ends)),
            Some(known) => {
                let sent = known.commands.send(ExtensionCommand::Reconnect(Box::new((present, ends)))).await;
                sent.err().and_then(|unsent| match unsent.0 {
                    ExtensionCommand::Reconnect(line) => Some(*line),
                    _ => None,
                })
            }
        };
        if let Some((present, ends)) = line {
            self.begin(hello, present, ends);
        }
        self.arrivals.send_modify(|count| *count += 1);
    }

    fn begin(&self, hello: &Hello, present: BrowserState, ends: Ends) {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (counters, holdings) = watch::channel(BrowserStats::default());
        let browser = ExtensionBrowser::new(hello, &present.run, commands, holdings);
        let mut browsers = self.browsers();
        if browsers.len() >= EXTENSIONS && !browsers.contains_key(&hello.install) {
            tracing::warn!("too many browsers are connected; one was refused");
            return;
        }
        let info = ClientInfo {
            name: Some(browser.name.clone()),
            program: Some(browser.product.clone()),
            transport: Transport::Port,
            ..ClientInfo::default()
        };
        let audit = &self.sources.audit;
        Event::ExtensionConnected.record(audit, SessionKey::default(), info.clone(), None);
        let disconnect =
            AuditEntry::of_event(audit, SessionKey::default(), info, &Event::ExtensionDisconnected);
        let (words, heard) = mpsc::channel(WORDS);
        let notifications = Notifications::new(self.sources.clone(), &browser, heard, &self.refusals);
        browsers.insert(hello.install.clone(), browser);
        let task = ExtensionTask::new(hello.browser.clone(), &present, ends, receiver, words, counters);
        self.tasks.start("extension", async move {
            task.run().await;
            drop(disconnect);
        });
        self.tasks.start("extension-notifications", notifications.run());
    }

    /// Waits for the browser of that name to connect and respond.
    pub(crate) async fn choose(
        &self,
        name: Option<&str>,
        timeout: Duration,
    ) -> Result<ExtensionBrowser, Failure> {
        let deadline = tokio::time::Instant::now() + timeout;
        let mut arrivals = self.arrivals.subscribe();
        loop {
            arrivals.mark_unchanged();
            if let Some(browser) = self.find(name)? {
                if browser.is_responsive().await {
                    return Ok(browser);
                }
                tracing::info!(install = %browser.install, "an extension did not respond in time");
            }
            let silent = self.find(name)?.is_some();
            let next = tokio::time::timeout_at(deadline, async {
                // A silent extension may be slow, and is probed again.
                if !silent {
                    let _ = arrivals.changed().await;
                }
            });
            if next.await.is_err() || tokio::time::Instant::now() >= deadline {
                return Err(not_connected(name));
            }
        }
    }

    /// The only browser that responds now; `None` when none does, and an error when there are several.
    pub(crate) async fn find_responsive(&self) -> Result<Option<ExtensionBrowser>, Failure> {
        let all: Vec<ExtensionBrowser> = self.browsers().values().cloned().collect();
        let responsive =
            futures_util::future::join_all(all.iter().map(ExtensionBrowser::is_responsive)).await;
        let mut there: Vec<ExtensionBrowser> = all
            .into_iter()
            .zip(responsive)
            .filter(|(_, responsive)| *responsive)
            .map(|(browser, _)| browser)
            .collect();
        if there.len() > 1 {
            return Err(several(&there));
        }
        Ok(there.pop())
    }

    fn find(&self, name: Option<&str>) -> Result<Option<ExtensionBrowser>, Failure> {
        let browsers = self.browsers();
        let mut fitting = browsers.values().filter(|browser| name.is_none_or(|name| browser.is_called(name)));
        let first = fitting.next().cloned();
        if fitting.next().is_none() {
            return Ok(first);
        }
        Err(several(&browsers.values().cloned().collect::<Vec<_>>()))
    }

    /// The connected browsers, for the status command.
    pub(crate) async fn list(&self) -> Vec<Value> {
        let all: Vec<ExtensionBrowser> = self.browsers().values().cloned().collect();
        let facts = futures_util::future::join_all(all.iter().map(ExtensionBrowser::facts)).await;
        let describe = |(one, facts): (&ExtensionBrowser, Option<ExtensionFacts>)| {
            let now = *one.holdings.borrow();
            json!({
                "install": one.install, "browser": one.name, "product": one.product, "version": one.version,
                "standing": facts,
                "tabs": now.tabs, "attached": now.attached, "attaches": now.attaches, "dropped_events": now.dropped_events,
            })
        };
        all.iter().zip(facts).map(describe).collect()
    }

    /// The state of one browser's extension and the reason, for a model.
    pub(crate) async fn state_text(&self, name: Option<&str>) -> String {
        let browser = match self.find(name) {
            Ok(Some(browser)) => browser,
            Ok(None) => return explained("not connected", &not_connected(name)),
            Err(failure) => return explained("not chosen", &failure),
        };
        match browser.facts().await {
            None => "not connected: the browser was closed a moment ago".to_owned(),
            Some(facts) if facts.paused => {
                "paused: the user has paused everything in the extension's popup; only the user can resume"
                    .to_owned()
            }
            Some(facts) => {
                let state = if facts.awake { "connected" } else { "asleep until the next call" };
                format!("{state}: {}, {} of the user's tabs shared", browser.product, facts.tabs)
            }
        }
    }

    /// Disconnects all browsers. To connect again they need the new key.
    pub(crate) async fn dismiss_all(&self) -> usize {
        self.rotations.send_modify(|count| *count += 1);
        let all: Vec<ExtensionBrowser> = std::mem::take(&mut *self.browsers()).into_values().collect();
        for browser in &all {
            // The task may have ended.
            let _ = browser.commands.send(ExtensionCommand::Dismiss).await;
        }
        all.len()
    }
}

fn explained(state: &str, failure: &Failure) -> String {
    let remedy = failure.remedy.as_ref().map(Remedy::for_mcp).unwrap_or_default();
    format!("{state}: {} {remedy}", failure.message)
}

fn several(browsers: &[ExtensionBrowser]) -> Failure {
    let list: Vec<String> =
        browsers.iter().map(|one| format!("{} ({})", short(&one.install), one.name)).collect();
    let message = format!("{} of your browsers are connected: {}.", list.len(), list.join(", "));
    Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
        "Choose one by a prefix of its id: {}.",
        [Step::command("tabwire connect extension:ID")],
    ))
}

fn short(install: &str) -> &str {
    install.get(..8).unwrap_or(install)
}

fn not_connected(name: Option<&str>) -> Failure {
    let message = match name {
        None => "No browser of yours is connected through the Tabwire extension.".to_owned(),
        Some(name) => format!("No browser called {name} is connected through the Tabwire extension."),
    };
    Failure::new(ErrorCode::ExtensionDisconnected, message).with_remedy(Remedy::new(
        "Start the browser and run {}. {} sets it up.",
        [Step::command("tabwire extension status"), Step::command("tabwire extension install")],
    ))
}
