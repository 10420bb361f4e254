//! The audit log through its public API: retention, reading and faults.

mod faults;
mod reading;
mod retention;
mod sample;
