//! The targets of one browser and how to attach to them. Knows nothing of tabs or of who may use them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tabwire_api::{CdpSessionId, TargetId};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::CdpError;
use crate::feed::Feed;
use crate::protocol::target_info::TargetInfo;
use crate::session::cdp_session::CdpSession;
use crate::target::table::{TargetChange, TargetTable};

/// The present targets of one browser; clones share it.
///
/// It is up to date before a response that follows the change is delivered.
#[derive(Clone, Debug)]
pub struct TargetRegistry {
    connection: Connection,
    table: Arc<TargetTable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: CdpSessionId,
}

impl TargetRegistry {
    /// Asks the browser for its targets and keeps up with them; all present ones are known on return.
    pub async fn start(connection: &Connection, deadline: impl Into<Deadline>) -> Result<Self, CdpError> {
        let table = Arc::clone(connection.core().router().targets());
        let discover = json!({ "discover": true });
        connection.browser().send("Target.setDiscoverTargets", &discover, deadline).await?;
        Ok(Self { connection: connection.clone(), table })
    }

    /// The connection it lives on.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The present targets in the order of their creation.
    #[must_use]
    pub fn list(&self) -> Vec<TargetInfo> {
        self.table.list()
    }

    /// The present state of a target, if it exists.
    #[must_use]
    pub fn find(&self, target: &TargetId) -> Option<TargetInfo> {
        self.table.find(target)
    }

    /// Listens to targets created from now on.
    #[must_use]
    pub fn on_created(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Created, "Target.targetCreated")
    }

    /// Listens to changes of address, title or attachment from now on.
    #[must_use]
    pub fn on_changed(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Changed, "Target.targetInfoChanged")
    }

    /// Listens to targets destroyed from now on, each with what was last known of it.
    #[must_use]
    pub fn on_destroyed(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Destroyed, "Target.targetDestroyed")
    }

    /// Attaches to a target with a CDP session of its own.
    pub async fn attach(
        &self,
        target: &TargetId,
        deadline: impl Into<Deadline>,
    ) -> Result<CdpSession, CdpError> {
        let params = json!({ "targetId": target, "flatten": true });
        let response = self.connection.browser().send("Target.attachToTarget", &params, deadline).await?;
        let attached: Attached = response.to()?;
        Ok(self.connection.session(&attached.session_id))
    }
}
