//! Ground the benches stand on: timing, a bare browser, and a world of Tabwire's own. Prints nothing itself.

mod bare_browser;
mod sample;
mod tabwire_world;

pub use bare_browser::{BareBrowser, FLAGS};
pub use sample::{Sample, micros, ratio};
pub use tabwire_world::TabwireWorld;
