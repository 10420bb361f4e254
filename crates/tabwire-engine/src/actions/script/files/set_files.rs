//! `set_files`: gives files to a file input or to the open file chooser, by path or from memory.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::{Action, Effect, Example, ToolGroup, ToolOptions};
use crate::actions::script::Nothing;
use crate::actions::upload::Upload;
use crate::cdp::FileInput;
use crate::input::element::TargetArguments;
use crate::limits::UPLOAD_FILES;

/// Give files to a file input.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct SetFiles {
    /// The file input; the open file chooser by default.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Files below a declared root.
    #[arg(long)]
    #[schemars(extend("x-carries" = "file_given"))]
    paths: Vec<PathBuf>,
    /// Files from memory, as JSON.
    #[arg(skip)]
    #[schemars(extend("x-carries" = "text"))]
    files: Vec<MemoryFile>,
}

/// A file from memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MemoryFile {
    /// Its name.
    name: String,
    /// Its type.
    mime_type: String,
    /// Its content in base64.
    content: String,
}

impl Action for SetFiles {
    const NAME: &'static str = "set_files";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = Nothing;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act).and(Capability::Upload, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<Nothing, Failure> {
        if !self.paths.is_empty() {
            Upload::of_script(self.paths, self.target).run(context).await?;
            return Ok(Nothing {});
        }
        if self.files.len() > UPLOAD_FILES {
            let message = format!("`files` takes at most {UPLOAD_FILES} files.");
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let page = context.page().await?;
        let (frame, input, multiple) = match self.target {
            Some(target) => {
                let target = TargetArguments { target, nth: None };
                let element = page.prepare(&target, "upload", json!({}), context.deadline).await?;
                let facts = element.info.more.get("upload").cloned().unwrap_or_default();
                if facts["file"] != json!(true) {
                    return Err(Failure::new(ErrorCode::BadArgs, "Node is not an HTMLInputElement of files"));
                }
                (element.frame.clone(), FileInput::Element(element.key()), facts["multiple"] == json!(true))
            }
            None => {
                let open = page.state().chooser().borrow().clone();
                let none = || Failure::new(ErrorCode::NotActionable, "The page has no open file chooser.");
                let open = open.ok_or_else(none)?;
                let node = open.backend_node_id.ok_or_else(none)?;
                (open.frame_id.clone(), FileInput::Node(node), open.is_multiple())
            }
        };
        if self.files.len() > 1 && !multiple {
            let message = "Non-multiple file input can only accept single file";
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        let files = json!(self.files);
        let given = page.session().give_files(&frame, input, &files, context.deadline);
        page.unless_blocked(given).await?;
        page.state().chooser_closed();
        Ok(Nothing {})
    }
}
