//! Fuzzes the removal of types from TypeScript.
#![no_main]

#[path = "../bodies/type_stripper.rs"]
mod type_stripper;

libfuzzer_sys::fuzz_target!(|data: &[u8]| type_stripper::check(data));
