//! What an agent can see and do on a page, written once over a CDP connection.
//!
//! Knows nothing of sockets, sessions or policy. It is a client of a browser like any other.

mod browser;
pub mod limits;
mod navigation;
mod page;
mod tab_book;

pub use browser::{Browser, TabInfo};
pub use page::{Evaluated, Outline, Page};
pub use tab_book::TabBook;
