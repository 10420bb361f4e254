//! The messages between daemon and extension, the user's notifications, and the proof of the pairing key.

pub mod message;
pub mod notification;
pub mod proof;
pub mod user_message;
