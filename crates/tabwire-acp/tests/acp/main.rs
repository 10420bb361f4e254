//! Tests of the protocol: turns in the protocol's order, generated orders, hostile lines.

mod generated;
mod hostile;
mod support;
mod transcript;
mod turns;
