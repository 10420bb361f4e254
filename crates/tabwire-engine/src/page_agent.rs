//! The page agent's text: the parts in `page/agent/`, joined in one function. Knows nothing of how it is installed.

use std::sync::OnceLock;

/// The parts in their order; later ones use earlier ones.
const PARTS: &[&str] = &[
    include_str!("../../../page/agent/agent.js"),
    include_str!("../../../page/agent/refs.js"),
    include_str!("../../../page/agent/visibility.js"),
    include_str!("../../../page/agent/role.js"),
    include_str!("../../../page/agent/role_table.js"),
    include_str!("../../../page/agent/name.js"),
    include_str!("../../../page/agent/name_native.js"),
    include_str!("../../../page/agent/name_css.js"),
    include_str!("../../../page/agent/state.js"),
    include_str!("../../../page/agent/state_value.js"),
    include_str!("../../../page/agent/locate_roots.js"),
    include_str!("../../../page/agent/locate_css.js"),
    include_str!("../../../page/agent/locate_text.js"),
    include_str!("../../../page/agent/locate_similar.js"),
    include_str!("../../../page/agent/locate.js"),
    include_str!("../../../page/agent/ready_wake.js"),
    include_str!("../../../page/agent/ready_box.js"),
    include_str!("../../../page/agent/ready_hit.js"),
    include_str!("../../../page/agent/ready_still.js"),
    include_str!("../../../page/agent/ready_guard.js"),
    include_str!("../../../page/agent/ready_scroll.js"),
    include_str!("../../../page/agent/ready_wait.js"),
    include_str!("../../../page/agent/ready.js"),
    include_str!("../../../page/agent/value.js"),
    include_str!("../../../page/agent/settle.js"),
    include_str!("../../../page/agent/walk_window.js"),
    include_str!("../../../page/agent/walk_describe.js"),
    include_str!("../../../page/agent/walk_list.js"),
    include_str!("../../../page/agent/walk.js"),
    include_str!("../../../page/agent/outline.js"),
    include_str!("../../../page/agent/finish.js"),
];

/// The script that installs the agent in the world it runs in, once for each document.
pub(crate) fn source() -> &'static str {
    static SOURCE: OnceLock<String> = OnceLock::new();
    SOURCE.get_or_init(|| {
        let parts = PARTS.join("\n");
        format!("if (!globalThis.tabwire) {{ (() => {{ \"use strict\";\n{parts}\n}})(); }}\n")
    })
}
