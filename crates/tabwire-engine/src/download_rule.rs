//! Which downloads are let happen. Who decides is not known here.

use std::fmt;
use std::sync::Arc;

/// Says of a download's address, and of the page that it began on if that is known, whether it may happen.
type Rule = Arc<dyn Fn(&str, Option<&str>) -> bool + Send + Sync>;

/// Which downloads are let happen.
#[derive(Clone)]
pub struct DownloadRule(Rule);

impl DownloadRule {
    /// Asks for every download: its address, and the page's if that is known.
    pub fn new(may_happen: impl Fn(&str, Option<&str>) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may_happen))
    }

    pub(crate) fn allows(&self, address: &str, page: Option<&str>) -> bool {
        (self.0)(address, page)
    }
}

impl fmt::Debug for DownloadRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DownloadRule")
    }
}
