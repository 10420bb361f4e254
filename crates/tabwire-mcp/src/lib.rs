//! The action registry as an MCP server: tools, resources and a guide, for whoever speaks the protocol.
//!
//! Knows no routes and no command line. What a call does is done by a [`Backend`], which the daemon is.

mod answer;
mod approval;
mod arguments;
mod backend;
mod call;
mod called;
mod connection;
mod extras;
mod fence;
mod guide;
mod handler;
mod http_door;
pub mod limits;
mod offered_tool;
mod resource;
mod serving;
mod shelf;
mod tool_schema;
mod tool_set;
mod waiting_call;
mod watched_call;
mod wording;

pub use backend::{Answering, Asking, Attendant, Backend, Permission};
pub use connection::Connection;
pub use extras::{Extras, ListChange};
pub use guide::{GUIDE, INSTRUCTIONS};
pub use http_door::{HttpAnswer, HttpDoor};
pub use offered_tool::{OfferedTool, offered_tools};
pub use serving::serve;
pub use tool_set::{DEFAULT_TOOLS, GROUPS, ToolSet};
