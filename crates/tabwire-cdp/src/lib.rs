//! CDP client: transports, message framing, routing, CDP sessions and targets.

mod connection;
mod deadline;
mod error;
mod feed;
pub mod limits;
mod protocol;
mod session;
mod target;
mod task_group;
mod transport;

pub use connection::close_reason::CloseReason;
pub use connection::router::ResourceCounts;
pub use connection::{Connection, PendingResponse};
pub use deadline::Deadline;
pub use error::{CdpError, Method};
pub use feed::Feed;
pub use protocol::event::{Event, EventFilter, EventStream};
pub use protocol::reply::ProtocolError;
pub use protocol::response::Response;
pub use protocol::target_filter::TargetFilter;
pub use protocol::target_info::TargetInfo;
pub use protocol::{discovery, envelope, lenient_json, page_frames, reply};
pub use session::cdp_session::CdpSession;
pub use target::registry::TargetRegistry;
pub use task_group::TaskGroup;
pub use transport::channel::{ChannelSink, ChannelSource, channel_pair};
pub use transport::close_frame::CloseFrame;
pub use transport::http_request::{HttpError, HttpRequest, HttpResponse};
pub use transport::pipe::{PipeSink, PipeSource};
pub use transport::pipe_framing::{Oversize, PipeFramer, ReceivedFrame};
pub use transport::unauthenticated_peers::{UnauthenticatedPeer, UnauthenticatedPeers};
pub use transport::websocket;
pub use transport::websocket::WebSocketUrl;
pub use transport::{Flush, FrameSink, FrameSource, TransportError};
