//! The views of the dashboard in a real browser.

mod agents;
mod attack;
mod chats;
mod following;
mod input;
mod keyboard;
mod line;
mod live;
mod live_control;
mod live_socket;
mod pictures;
mod previews;
mod questions;
mod states;
mod steady;
