//! Ids: of the protocol, and of what Tabwire names itself.

mod client_name;
mod project_key;
mod protocol;
mod session_key;
mod session_name;
mod tab_id;

pub use client_name::{ClientName, ClientNameError};
pub use project_key::{ProjectKey, ProjectKeyError};
pub use protocol::{
    BrowserContextId, BrowserId, CallNumber, CdpSessionId, ClientId, FrameId, InstanceId, PartitionId,
    TargetId,
};
pub use session_key::SessionKey;
pub use session_name::{SessionName, SessionNameError};
pub use tab_id::{ParseTabIdError, TabId};
