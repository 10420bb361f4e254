//! The daemon: its gate, its sockets, MCP conformance, sessions that share a browser, and the fuzz corpus.

mod conformance;
mod fuzz_smoke;
mod gate;
mod live;
mod partition;
