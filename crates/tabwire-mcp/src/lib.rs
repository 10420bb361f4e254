//! The action registry as an MCP server: tools, resources and a guide. The daemon runs the calls, as its [`Backend`].

mod backend;
mod call;
mod connection;
mod extra_features;
mod guide;
mod handler;
mod http;
mod known_clients;
pub mod limits;
mod resources;
mod result;
mod stream;
mod tools;

pub use backend::{ApprovalQuestion, Approver, Backend, BackendFuture, Permission};
pub use connection::Connection;
pub use extra_features::{Extras, ListChange};
pub use guide::{GUIDE, INSTRUCTIONS};
pub use http::{HttpResponse, HttpService};
pub use stream::serve;
pub use tools::set::ToolSet;
pub use tools::{OfferedTool, offered_tools};
