//! The targets of one browser, and attaching to them.

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

/// The current targets of one browser; clones share it.
///
/// It is updated before a response that follows the change is delivered.
#[derive(Clone, Debug)]
pub struct TargetRegistry {
    connection: Connection,
    table: Arc<TargetTable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachResult {
    session_id: CdpSessionId,
}

impl TargetRegistry {
    /// Starts target discovery; all existing targets are listed when it returns.
    pub async fn start(connection: &Connection, deadline: impl Into<Deadline>) -> Result<Self, CdpError> {
        let table = Arc::clone(connection.core().router().targets());
        let discover = json!({ "discover": true });
        connection.browser().send("Target.setDiscoverTargets", &discover, deadline).await?;
        Ok(Self { connection: connection.clone(), table })
    }

    /// Its connection.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The current targets in the order of their creation.
    #[must_use]
    pub fn list(&self) -> Vec<TargetInfo> {
        self.table.list()
    }

    /// The current `TargetInfo` of a target, if it exists.
    #[must_use]
    pub fn find(&self, target: &TargetId) -> Option<TargetInfo> {
        self.table.find(target)
    }

    /// Listens to targets created from now on.
    #[must_use]
    pub fn on_created(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Created, "Target.targetCreated")
    }

    /// Listens to changes of URL, title or attachment from now on.
    #[must_use]
    pub fn on_changed(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Changed, "Target.targetInfoChanged")
    }

    /// Listens to targets destroyed from now on, each with its last `TargetInfo`.
    #[must_use]
    pub fn on_destroyed(&self) -> Feed<TargetInfo> {
        self.table.listen(TargetChange::Destroyed, "Target.targetDestroyed")
    }

    /// Attaches to a target with a new CDP session.
    pub async fn attach(
        &self,
        target: &TargetId,
        deadline: impl Into<Deadline>,
    ) -> Result<CdpSession, CdpError> {
        let params = json!({ "targetId": target, "flatten": true });
        let response = self.connection.browser().send("Target.attachToTarget", &params, deadline).await?;
        let attached: AttachResult = response.to()?;
        Ok(self.connection.session(&attached.session_id))
    }
}
