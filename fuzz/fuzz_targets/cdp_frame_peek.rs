//! Fuzzes the peek at frames of browsers and clients.
#![no_main]

#[path = "../bodies/cdp_frame_peek.rs"]
mod cdp_frame_peek;

libfuzzer_sys::fuzz_target!(|data: &[u8]| cdp_frame_peek::check(data));
