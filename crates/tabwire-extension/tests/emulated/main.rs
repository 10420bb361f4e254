//! The emulated browser between a scripted hub and a scripted extension. No sockets, no browser.

mod lazy;
mod link;
mod shared;
mod stage;
mod targets;
