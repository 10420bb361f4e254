//! Fuzzes the messages of a script's process.
#![no_main]

#[path = "../bodies/script_message.rs"]
mod script_message;

libfuzzer_sys::fuzz_target!(|data: &[u8]| script_message::check(data));
