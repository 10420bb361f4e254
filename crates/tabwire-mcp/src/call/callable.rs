//! A tool that a client can call by name: one of Tabwire's, or an extra one.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use tabwire_api::CallNumber;

use crate::backend::Approver;
use crate::call::too_many_calls;
use crate::connection::Connection;
use crate::extra_features::Extras;
use crate::result::error_result;
use crate::tools::OfferedTool;

/// A tool that a client can call.
#[derive(Clone, Debug)]
pub(crate) enum Callable {
    /// A tool of Tabwire.
    Own(&'static OfferedTool),
    /// An extra tool.
    Besides(Arc<dyn Extras>, String),
}

impl Callable {
    /// Finds a tool by name.
    pub(crate) fn find(connection: &Connection, name: &str) -> Option<Self> {
        if let Some(tool) = connection.tools.find(name) {
            return Some(Self::Own(tool));
        }
        let extras = connection.extras.as_ref()?;
        let is_there = extras.tools().iter().any(|tool| tool.name == name);
        is_there.then(|| Self::Besides(Arc::clone(extras), name.to_owned()))
    }

    /// The tool's name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Own(tool) => tool.name,
            Self::Besides(_, name) => name,
        }
    }

    /// Whether it sends questions other than approvals. Such a call starts even if the client cannot show approvals.
    pub(crate) const fn may_elicit(&self) -> bool {
        matches!(self, Self::Besides(..))
    }

    /// Registers to receive the questions of one call.
    pub(crate) fn approver(&self, connection: &Connection) -> Box<dyn Approver> {
        match self {
            Self::Own(_) => connection.backend.approver(),
            Self::Besides(extras, _) => extras.approver(),
        }
    }

    /// Calls it.
    pub(crate) async fn run(
        &self,
        connection: &Connection,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        is_data: bool,
        call: Option<CallNumber>,
    ) -> Result<CallToolResult, ErrorData> {
        match self {
            Self::Own(tool) => Ok(connection.call(tool, request.arguments, is_data, call).await),
            Self::Besides(extras, _) => {
                let Ok(_place) = connection.call_permits.try_acquire() else {
                    return Ok(error_result(&too_many_calls()));
                };
                extras.call(request, context.clone(), call).await
            }
        }
    }
}
