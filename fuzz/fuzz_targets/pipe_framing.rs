//! Fuzzes the cutting of frames out of a pipe.
#![no_main]

#[path = "../bodies/pipe_framing.rs"]
mod pipe_framing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pipe_framing::check(data));
