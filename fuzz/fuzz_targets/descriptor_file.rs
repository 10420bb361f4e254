//! Fuzzes the files that describe running browsers.
#![no_main]

#[path = "../bodies/descriptor_file.rs"]
mod descriptor_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| descriptor_file::check(data));
