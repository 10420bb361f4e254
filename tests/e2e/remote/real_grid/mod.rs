//! The real Selenium server, in twelve scenarios. They share three Grids, because each takes seconds to start.
//!
//! | Scenario | File |
//! |---|---|
//! | 1 open, read, act, screenshot; 2 upload; 3 download; 4 a CDP client; 5 a lost MCP client; 6 idle for longer than the Grid allows; 7 deleted by others; 8 timed out; 9 full and queueing; 10 a killed daemon | `chromium.rs` |
//! | 11 two sessions on two nodes, and a node that dies | `nodes.rs` |
//! | 12 Firefox by geckodriver: act, files, a guarded session, a killed daemon | `firefox.rs` |

mod chromium;
mod firefox;
mod nodes;

use tabwire_testkit::by_size;

/// Whether these tests run. They need Java, the Selenium server and two drivers, which only full runs install.
#[expect(clippy::print_stderr, reason = "says what was not run")]
fn is_full_run() -> bool {
    let is_full = by_size(false, true);
    if !is_full {
        eprintln!("the Selenium server is large: `cargo xtask test --full` runs it");
    }
    is_full
}
