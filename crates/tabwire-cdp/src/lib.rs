//! CDP client: transports, routing, cdp sessions, targets.
//!
//! Knows nothing of Tabwire sessions, policy, or how a browser is started.

mod answer;
mod browser_context;
mod cdp_session;
mod channel;
mod close_reason;
mod connection;
mod counters;
mod deadline;
pub mod discovery;
mod domain_set;
pub mod envelope;
mod error;
mod event;
mod farewell;
mod feed;
mod heartbeat;
pub mod lenient_json;
pub mod limits;
mod message;
mod outbox;
mod pending;
mod pipe;
mod pipe_end;
mod pipe_framing;
mod router;
mod session_state;
mod session_table;
mod target_info;
mod target_registry;
mod target_table;
mod task_group;
mod transport;
pub mod websocket;

pub use answer::Answer;
pub use browser_context::{BrowserContext, BrowserContextOptions};
pub use cdp_session::CdpSession;
pub use channel::{ChannelSink, ChannelSource, channel_pair};
pub use close_reason::CloseReason;
pub use connection::{Connection, PendingAnswer};
pub use counters::Astray;
pub use deadline::Deadline;
pub use error::{CdpError, Method};
pub use event::{ArmedEvent, Event, EventFilter, EventStream};
pub use farewell::Farewell;
pub use feed::Feed;
pub use heartbeat::HeartbeatTimings;
pub use pipe::{PipeSink, PipeSource};
pub use pipe_framing::{Framed, Oversize, PipeFramer};
pub use router::Holdings;
pub use target_info::TargetInfo;
pub use target_registry::{ArmedTarget, TargetRegistry};
pub use task_group::TaskGroup;
pub use transport::{Flush, FrameSink, FrameSource, TransportError};
pub use websocket::WebSocketAddress;
