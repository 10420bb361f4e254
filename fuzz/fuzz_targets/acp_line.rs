//! Fuzzes the lines of an agent.
#![no_main]

#[path = "../bodies/acp_line.rs"]
mod acp_line;

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_line::check(data));
