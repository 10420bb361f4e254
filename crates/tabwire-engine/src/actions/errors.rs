//! `errors`: what went wrong in the page's scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_policy::{Capability, Needs};
use tabwire_wire::Failure;

use crate::action::{Action, Effect, Example};
use crate::actions::console::{ConsoleArguments, ConsoleLines, read_console};
use crate::console_log::{ConsoleEntry, Reader};
use crate::context::Context;

/// Show the errors of the page since the last call: those nobody caught and those written to the console.
///
/// Works while a dialog is open. What `console` has shown does not count as shown here.
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
    type Output = ConsoleLines;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_past()
    }

    async fn run(self, context: &Context) -> Result<ConsoleLines, Failure> {
        read_console(context, self.extent, Reader::Errors, ConsoleEntry::is_error).await
    }
}
