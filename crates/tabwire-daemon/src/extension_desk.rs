//! The user's own browsers that are there now, by install. Knows nothing of sockets or of what is said to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_cdp::{TaskGroup, UnprovedPeers};
use tabwire_extension::Holdings;
use tabwire_extension::link_message::{Hello, Present};
use tabwire_wire::{ErrorCode, Failure};
use tokio::sync::{mpsc, watch};

use crate::extension_browser::{Ends, ExtensionBrowser, ExtensionFacts, LineCommand};
use crate::extension_news::{ExtensionNews, People, Refusals, note_refusal};
use crate::extension_task::ExtensionTask;
use crate::limits::{EXTENSIONS, UNPROVED_CONNECTIONS};

/// Commands that may wait for a browser's task.
const COMMANDS: usize = 16;

/// Words of a browser's user that may wait.
const WORDS: usize = 16;

/// The user's own browsers.
#[derive(Debug)]
pub(crate) struct ExtensionDesk {
    key: PathBuf,
    tasks: TaskGroup,
    browsers: Mutex<BTreeMap<String, ExtensionBrowser>>,
    /// Counts arrivals, for those who wait for one.
    arrivals: watch::Sender<u64>,
    people: People,
    refusals: Refusals,
    unproved: Arc<UnprovedPeers>,
}

impl ExtensionDesk {
    pub(crate) fn new(key: PathBuf, tasks: TaskGroup, people: People) -> Self {
        let (arrivals, refusals) = (watch::Sender::new(0), Refusals::default());
        let unproved = UnprovedPeers::new(UNPROVED_CONNECTIONS);
        Self { key, tasks, browsers: Mutex::default(), arrivals, people, refusals, unproved }
    }

    /// Websockets that have not shown that they know the key.
    pub(crate) fn unproved(&self) -> &Arc<UnprovedPeers> {
        &self.unproved
    }

    /// Tells the user of a browser that something was refused in it.
    pub(crate) fn note_refusal(&self, install: &str, told: Value) {
        note_refusal(&self.refusals, install, told);
    }

    pub(crate) fn key_file(&self) -> &Path {
        &self.key
    }

    fn browsers(&self) -> MutexGuard<'_, BTreeMap<String, ExtensionBrowser>> {
        let mut browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        browsers.retain(|_, browser| !browser.commands.is_closed());
        browsers
    }

    /// An extension has proved itself. The same install again takes the place of its earlier line.
    pub(crate) async fn arrived(&self, hello: &Hello, present: Present, ends: Ends) {
        let known = self.browsers().get(&hello.install).filter(|known| known.run == present.run).cloned();
        let line = match known {
            None => Some((present, ends)),
            Some(known) => {
                let sent = known.commands.send(LineCommand::Line(Box::new((present, ends)))).await;
                sent.err().and_then(|unsent| match unsent.0 {
                    LineCommand::Line(line) => Some(*line),
                    _ => None,
                })
            }
        };
        if let Some((present, ends)) = line {
            self.begin(hello, present, ends);
        }
        self.arrivals.send_modify(|count| *count += 1);
    }

    fn begin(&self, hello: &Hello, present: Present, ends: Ends) {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (standing, holdings) = watch::channel(Holdings::default());
        let browser = ExtensionBrowser::new(hello, &present.run, commands, holdings);
        let mut browsers = self.browsers();
        if browsers.len() >= EXTENSIONS && !browsers.contains_key(&hello.install) {
            tracing::warn!("too many browsers; one more is turned away");
            return;
        }
        let (words, heard) = mpsc::channel(WORDS);
        let news = ExtensionNews::new(self.people.clone(), &browser, heard, &self.refusals);
        browsers.insert(hello.install.clone(), browser);
        let task = ExtensionTask::new(hello.browser.clone(), &present, ends, receiver, words, standing);
        self.tasks.start("extension", task.run());
        self.tasks.start("extension-news", news.run());
    }

    /// The browser that is meant, once it is there and answers.
    pub(crate) async fn choose(
        &self,
        name: Option<&str>,
        patience: Duration,
    ) -> Result<ExtensionBrowser, Failure> {
        let deadline = tokio::time::Instant::now() + patience;
        let mut arrivals = self.arrivals.subscribe();
        loop {
            arrivals.mark_unchanged();
            if let Some(browser) = self.find(name)? {
                if browser.answers().await {
                    return Ok(browser);
                }
                tracing::info!(install = %browser.install, "an extension did not answer in time");
            }
            let silent = self.find(name)?.is_some();
            let next = tokio::time::timeout_at(deadline, async {
                // One that is silent may only be slow, and is asked again.
                if !silent {
                    let _ = arrivals.changed().await;
                }
            });
            if next.await.is_err() || tokio::time::Instant::now() >= deadline {
                return Err(nobody(name));
            }
        }
    }

    /// The one browser that is there and answers now; none when none does. Two are a question of which.
    pub(crate) async fn find_responsive(&self) -> Result<Option<ExtensionBrowser>, Failure> {
        let all: Vec<ExtensionBrowser> = self.browsers().values().cloned().collect();
        let answers = futures_util::future::join_all(all.iter().map(ExtensionBrowser::answers)).await;
        let mut there: Vec<ExtensionBrowser> = all
            .into_iter()
            .zip(answers)
            .filter(|(_, answers)| *answers)
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

    /// What is there, for people.
    pub(crate) async fn list(&self) -> Vec<Value> {
        let all: Vec<ExtensionBrowser> = self.browsers().values().cloned().collect();
        let facts = futures_util::future::join_all(all.iter().map(ExtensionBrowser::facts)).await;
        let told = |(one, facts): (&ExtensionBrowser, Option<ExtensionFacts>)| {
            let now = *one.holdings.borrow();
            json!({
                "install": one.install, "browser": one.name, "product": one.product, "version": one.version,
                "standing": facts,
                "tabs": now.tabs, "attached": now.attached, "attaches": now.attaches, "events_left_out": now.left_out,
            })
        };
        all.iter().zip(facts).map(told).collect()
    }

    /// Turns everybody away; who comes again has to know the new key.
    pub(crate) async fn dismiss_all(&self) -> usize {
        let all: Vec<ExtensionBrowser> = std::mem::take(&mut *self.browsers()).into_values().collect();
        for browser in &all {
            // A task that has ended needs no telling.
            let _ = browser.commands.send(LineCommand::Dismiss).await;
        }
        all.len()
    }
}

fn several(browsers: &[ExtensionBrowser]) -> Failure {
    let list: Vec<String> =
        browsers.iter().map(|one| format!("{} ({})", short(&one.install), one.name)).collect();
    let message = format!("{} of your browsers are connected: {}.", list.len(), list.join(", "));
    Failure::new(ErrorCode::BadArgs, message)
        .with_hint("Say which, e.g. `tabwire connect extension:NAME` with the beginning of its id.")
}

fn short(install: &str) -> &str {
    install.get(..8).unwrap_or(install)
}

fn nobody(name: Option<&str>) -> Failure {
    let message = match name {
        None => "No browser of yours is connected through the Tabwire extension.".to_owned(),
        Some(name) => format!("No browser called {name} is connected through the Tabwire extension."),
    };
    Failure::new(ErrorCode::ExtensionDisconnected, message).with_hint(
        "Start the browser, and look at `tabwire extension status`; `tabwire extension install` sets it up.",
    )
}
