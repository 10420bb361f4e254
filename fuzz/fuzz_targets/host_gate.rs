//! Fuzzes the gate in front of every route.
#![no_main]

#[path = "../bodies/host_gate.rs"]
mod host_gate;

libfuzzer_sys::fuzz_target!(|data: &[u8]| host_gate::check(data));
