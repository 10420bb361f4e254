//! Ground the benches stand on: timing, a bare browser, and a world of Tabwire's own. Prints nothing itself.

pub mod bare_browser;
pub mod sample;
pub mod tabwire_world;
