//! The emulated browser between a written hub and a written extension, without either. No sockets, no browser.

mod lazy;
mod link;
mod shared;
mod stage;
mod targets;
