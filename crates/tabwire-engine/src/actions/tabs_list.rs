//! `tabs_list`: lists the session's tabs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::Needs;

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{
    Action, CellFormat, Column, Effect, Example, Render, ResultTable, TabUse, ToolGroup, ToolOptions,
};
use crate::browser::tab::list::TabInfo;
use crate::snapshot::{PageText, address, line_address};

/// List the session's tabs.
///
/// In a browser that the user runs, the tabs that the user shared are listed too. They are used only when they are
/// selected or named.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct TabsList {}

/// What follows a tab that the user opened in a list as text.
pub const SHARED_TAB: &str = "  (shared by the user)";

/// The session's tabs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Tabs {
    /// The tabs in the order of their ids.
    tabs: Vec<TabInfo>,
}

impl Action for TabsList {
    const NAME: &'static str = "tabs_list";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire tabs", "List the open tabs; a star marks the current one."),
        Example::new("tabwire tabs --json", "The same as data."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default);
    const ALIASES: &'static [&'static str] = &["tabs"];
    const TAB: TabUse = TabUse::Lists;
    const TABLE: Option<ResultTable> = Some(ResultTable {
        rows: "tabs",
        columns: &[
            Column::new("", "current").with(CellFormat::Star),
            Column::new("TAB", "tab"),
            Column::new("SHARED", "shared").with(CellFormat::Yes),
            Column::new("TITLE", "title"),
            Column::new("ADDRESS", "url"),
            Column::new("OPENED BY", "opener"),
        ],
        empty: "no tabs; `tabwire open URL` opens one",
        notes: &[],
    });
    type Output = Tabs;

    fn needs(&self) -> Needs {
        Needs::tab_list()
    }

    async fn run(self, context: &Context) -> Result<Tabs, Failure> {
        let mut tabs = context.browser.tabs(context.deadline).await?;
        for tab in &mut tabs {
            if context.tab.is_some() || context.client_tabs.is_some() {
                tab.current = Some(tab.tab) == context.tab;
            }
            tab.url = address(&tab.url);
        }
        Ok(Tabs { tabs })
    }
}

impl Render for Tabs {
    fn render(&self) -> String {
        let lines = self.tabs.iter().map(|tab| {
            let mark = if tab.current { "*" } else { " " };
            let title = PageText::cut(&tab.title, 60);
            let shared = if tab.shared { SHARED_TAB } else { "" };
            let opener = tab.opener.map(|opener| format!("  (opened by {opener})")).unwrap_or_default();
            format!("{mark} {}  {}  {}{shared}{opener}", tab.tab, title.quoted(), line_address(&tab.url))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::lines(self.tabs.iter().map(|tab| tab.tab.to_string())))
    }
}
