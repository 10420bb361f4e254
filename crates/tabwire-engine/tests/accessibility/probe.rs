//! Every element of a page as the page agent reports it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::accessibility::stage::Tab;

/// The probe: test code that runs inside the agent's scope.
const PROBE: &str = include_str!("probe.js");

/// The line of the agent after which the probe is inserted.
const LAST_LINE: &str = "globalThis.tabwire = agent;";

/// The agent with the probe in it.
pub(crate) fn source() -> String {
    let source = tabwire_engine::page_agent();
    assert!(source.contains(LAST_LINE), "the agent ends as it did");
    source.replacen(LAST_LINE, &format!("{LAST_LINE}\n{PROBE}"), 1)
}

/// One element as the agent sees it.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct OurElement {
    /// The element's name in the markup.
    pub(crate) tag: String,
    /// Which of the elements of that name it is, from 1.
    pub(crate) number: usize,
    pub(crate) is_exposed: bool,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) states: Map<String, Value>,
}

/// All elements of the page and of the frames in it, in the order of the markup, open shadow roots first.
pub(crate) async fn elements(tab: &Tab) -> Vec<OurElement> {
    serde_json::from_value(tab.eval_in_agent("probe.elements()").await).expect("the probe's form")
}
