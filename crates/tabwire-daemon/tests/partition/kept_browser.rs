//! A browser with its keeper, claimed by one hub after another. Ended on drop.

use std::path::Path;
use std::time::{Duration, Instant};

use tabwire_browser::{BrowserDescriptor, KeepRequest, LaunchSpec, finder, keeper_client};
use tabwire_cdp::TaskGroup;
use tabwire_daemon::{BrowserLink, Hub};
use tempfile::TempDir;

/// Longest wait for anything on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The program that keeps browsers for this crate's tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_daemon-for-tests");

pub(crate) struct KeptBrowser {
    pub(crate) home: TempDir,
    descriptor: BrowserDescriptor,
}

impl KeptBrowser {
    pub(crate) fn start() -> Self {
        let home = tempfile::Builder::new().prefix("twr-").tempdir_in("/tmp").expect("a home");
        let found = finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser");
        let id = tabwire_browser::new_browser_id().expect("an id");
        let runtime_dir = home.path().join("runtime");
        let mut spec =
            LaunchSpec::new(id.clone(), found.path, runtime_dir.join("profiles").join(id.as_str()));
        spec.temporary = true;
        let instance = tabwire_browser::new_instance_id().expect("an id");
        let request = KeepRequest { spec, runtime_dir, instance, labels: Default::default() };
        let until = Instant::now() + TIMEOUT;
        let descriptor =
            keeper_client::spawn_keeper(Path::new(PROGRAM), &["keep"], &request, until).expect("kept");
        Self { home, descriptor }
    }

    /// Claims the browser and serves it, as a daemon does.
    pub(crate) async fn serve(&self, tasks: &TaskGroup) -> Hub {
        let holder = tabwire_browser::new_instance_id().expect("an id");
        let until = Instant::now() + TIMEOUT;
        let claim = loop {
            // An earlier hub's claim ends with its task.
            match keeper_client::claim(&self.descriptor.socket, &holder, until) {
                Ok(claim) => break claim,
                Err(error) => assert!(Instant::now() < until, "not claimed: {error}"),
            }
            tokio::task::yield_now().await;
        };
        let staging = self.home.path().join("staging");
        std::fs::create_dir_all(&staging).expect("a directory");
        let hub = Hub::start(BrowserLink::from_claim(claim).expect("a link").with_staging(staging), tasks);
        hub.ready(TIMEOUT).await.expect("a hub");
        hub
    }
}

impl Drop for KeptBrowser {
    fn drop(&mut self) {
        let _ = keeper_client::stop(&self.descriptor.socket, None, Instant::now() + TIMEOUT);
    }
}
