//! The targets of one browser and how to attach to them. Knows nothing of tabs or of who may use them.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tabwire_wire::{CdpSessionId, TargetId};

use crate::cdp_session::CdpSession;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::CdpError;
use crate::feed::Feed;
use crate::target_info::TargetInfo;
use crate::target_table::{TargetChange, TargetTable};

/// The present targets of one browser; clones share it.
///
/// It is up to date before an answer that follows the change is delivered.
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

    /// Arms a wait for a new target now, before the command that causes it is sent.
    #[must_use]
    pub fn wait_for_new(&self, predicate: impl FnMut(&TargetInfo) -> bool + Send + 'static) -> ArmedTarget {
        ArmedTarget { created: self.on_created(), predicate: Box::new(predicate) }
    }

    /// Attaches to a target with a cdp session of its own.
    pub async fn attach(
        &self,
        target: &TargetId,
        deadline: impl Into<Deadline>,
    ) -> Result<CdpSession, CdpError> {
        let params = json!({ "targetId": target, "flatten": true });
        let answer = self.connection.browser().send("Target.attachToTarget", &params, deadline).await?;
        let attached: Attached = answer.to()?;
        Ok(self.connection.session(&attached.session_id))
    }

    pub(crate) fn table(&self) -> &TargetTable {
        &self.table
    }
}

/// A new target that is being waited for since before its cause.
pub struct ArmedTarget {
    created: Feed<TargetInfo>,
    predicate: Box<dyn FnMut(&TargetInfo) -> bool + Send>,
}

impl ArmedTarget {
    /// Waits until the target exists; at once if it came since the arming.
    pub async fn wait(mut self, deadline: impl Into<Deadline>) -> Result<TargetInfo, CdpError> {
        self.created.find(self.predicate, deadline).await
    }
}

impl fmt::Debug for ArmedTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ArmedTarget").field("created", &self.created).finish_non_exhaustive()
    }
}
