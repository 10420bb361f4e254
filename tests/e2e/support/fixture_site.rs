//! The fixture site, served from its own runtime.

use tabwire_testkit::Site;
use tokio::runtime::Runtime;

/// A running site; ends when dropped.
pub(crate) struct FixtureSite {
    site: Site,
    _runtime: Runtime,
}

impl FixtureSite {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let site = runtime.block_on(Site::start()).expect("the site starts");
        Self { site, _runtime: runtime }
    }

    pub(crate) fn port(&self) -> u16 {
        self.site.port()
    }

    /// The number of requests for a path.
    pub(crate) fn request_count(&self, path: &str) -> u64 {
        self.site.request_count(path)
    }

    /// Waits for a request of `/held?gate=…` with this gate; false after minutes.
    pub(crate) async fn is_held(&self, gate: &str) -> bool {
        self.site.is_held(gate).await
    }

    /// The URL of a page on one of its sites.
    pub(crate) fn url(&self, site: &str, path: &str) -> String {
        self.site.url(site, path)
    }

    /// The URL of a page on site `a`.
    pub(crate) fn page(&self, path: &str) -> String {
        self.site.url("a", path)
    }
}
