//! Every action on real pages: its effect, invalid parameters, and failures at bad moments.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the files that actions made"
)]

mod faults;
mod input;
mod navigation;
mod network;
mod reading;
mod registry;
mod storage;
mod support;
