//! What an agent can see and do on a page, written once over a small driver.
//!
//! Knows nothing of sockets, sessions or policy. It is a client of a browser like any other.

mod acted;
mod action;
mod actions;
mod address;
mod browser;
mod catalogue;
mod cdp_driver;
mod changes;
mod console_log;
mod context;
mod cookie;
mod cookie_jar;
mod cookie_view;
mod dialog;
mod driver;
mod element;
mod evaluation;
mod event_mix;
mod file_chooser;
mod files;
mod frame_search;
mod frame_table;
mod history;
pub mod limits;
mod locator;
mod navigation;
mod page;
mod page_agent;
mod page_record;
mod page_view;
mod pointer;
mod registry;
mod settle;
mod snapshot;
mod tab_book;
mod waiting;
mod went;

pub use action::{Action, Answered, Definition, Effect, Render};
pub use address::checked_address;
pub use browser::{Browser, TabInfo};
pub use catalogue::catalogue;
pub use context::Context;
pub use files::{FileKind, Files, Offered};
pub use navigation::{Arrival, LoadState};
pub use page::{Outline, Page};
pub use page_agent::page_agent;
pub use registry::{ACTIONS, find_action};
pub use tab_book::TabBook;
