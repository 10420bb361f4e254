//! CDP client: transports, routing, cdp sessions, targets.
//!
//! Knows nothing of Tabwire sessions, policy, or how a browser is started.

mod channel;
mod close_reason;
mod deadline;
mod error;
pub mod limits;
mod pipe;
mod pipe_framing;
mod task_group;
mod transport;
pub mod websocket;

pub use channel::{ChannelSink, ChannelSource, channel_pair};
pub use close_reason::CloseReason;
pub use deadline::Deadline;
pub use error::{CdpError, Method};
pub use pipe::{PipeSink, PipeSource};
pub use pipe_framing::{Framed, Oversize, PipeFramer};
pub use task_group::TaskGroup;
pub use transport::{Flush, FrameSink, FrameSource, TransportError};
pub use websocket::WebSocketAddress;
