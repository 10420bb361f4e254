//! `errors`: lists the errors of the page's scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::Failure;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::console::{ConsoleArguments, ConsoleLines, read_console};
use crate::page::console::{ConsoleEntry, Reader};

/// Show new errors of the page since the last call: uncaught ones and those written to the console.
///
/// Works while a dialog is open. Errors that `console` has shown are still new here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Errors {
    #[command(flatten)]
    #[serde(flatten)]
    extent: ConsoleArguments,
}

impl Action for Errors {
    const NAME: &'static str = "errors";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] =
        &[Example::new("tabwire errors", "Print the page's new uncaught errors.")];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug);
    type Output = ConsoleLines;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<ConsoleLines, Failure> {
        read_console(context, self.extent, Reader::Errors, ConsoleEntry::is_error).await
    }
}
