//! The messages between daemon and extension, and the proof of the pairing key.

pub mod message;
pub mod proof;
pub mod user_message;
