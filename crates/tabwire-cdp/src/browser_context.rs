//! An isolated cookie jar and the targets in it. Knows nothing of Tabwire sessions.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_wire::{BrowserContextId, TargetId};

use crate::deadline::Deadline;
use crate::error::CdpError;
use crate::target_registry::TargetRegistry;

/// How a context is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserContextOptions {
    /// Whether the browser disposes it when our connection ends.
    pub dispose_on_detach: bool,
    /// The proxy its traffic goes through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_server: Option<String>,
    /// The hosts reached without the proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_bypass_list: Option<String>,
}

/// An isolated cookie jar; it outlives this handle unless disposed.
#[derive(Clone, Debug)]
pub struct BrowserContext {
    id: BrowserContextId,
    registry: TargetRegistry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    browser_context_id: BrowserContextId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedTarget {
    target_id: TargetId,
}

impl BrowserContext {
    /// Makes a new context.
    pub async fn create(
        registry: &TargetRegistry,
        options: &BrowserContextOptions,
        deadline: impl Into<Deadline>,
    ) -> Result<Self, CdpError> {
        let browser = registry.connection().browser();
        let created: Created = browser.send("Target.createBrowserContext", options, deadline).await?.to()?;
        Ok(Self { id: created.browser_context_id, registry: registry.clone() })
    }

    /// Takes up a context that exists.
    #[must_use]
    pub fn existing(registry: &TargetRegistry, id: BrowserContextId) -> Self {
        Self { id, registry: registry.clone() }
    }

    /// The browser's name for it.
    #[must_use]
    pub fn id(&self) -> &BrowserContextId {
        &self.id
    }

    /// Opens a page in it, in the background.
    pub async fn new_target(&self, url: &str, deadline: impl Into<Deadline>) -> Result<TargetId, CdpError> {
        let params = json!({ "url": url, "browserContextId": self.id, "background": true });
        let browser = self.registry.connection().browser();
        let created: CreatedTarget = browser.send("Target.createTarget", &params, deadline).await?.to()?;
        Ok(created.target_id)
    }

    /// Disposes it with all its targets; on return the registry lists none of them.
    pub async fn dispose(self, deadline: impl Into<Deadline>) -> Result<(), CdpError> {
        let params = json!({ "browserContextId": self.id });
        let browser = self.registry.connection().browser();
        browser.send("Target.disposeBrowserContext", &params, deadline).await?;
        self.registry.table().dispose_context(&self.id);
        Ok(())
    }
}
