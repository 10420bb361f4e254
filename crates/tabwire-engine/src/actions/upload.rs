//! `upload`: gives files to a file input, or to the file chooser that a page has opened.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step, count};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs, Scope};

use crate::accept::is_accepted;
use crate::action::context::Context;
use crate::action::result::Changes;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::click::click_element;
use crate::cdp::FileInput;
use crate::files::UploadFile;
use crate::input::element::{Element, TargetArguments};
use crate::input::mouse::Click;
use crate::limits::UPLOAD_FILES;
use crate::page::Page;
use crate::page::dialog::FileChooser;
use crate::settle::InputAction;
use crate::snapshot::PageText;

/// Give files to a file input, or to the file chooser that the page has open.
///
/// Files are read only below the working directory, or below directories given with --root.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Upload {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    #[schemars(extend("x-carries" = "file_given"))]
    files: Vec<PathBuf>,
    /// The file input, or an element that opens a file chooser when clicked; the open chooser by default.
    #[arg(long = "to", value_name = "TARGET")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N", requires = "target")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
    /// Also give files of types that the input does not accept.
    #[arg(long)]
    #[serde(default)]
    any_kind: bool,
}

/// The result of an upload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct UploadResult {
    /// The element that received them.
    to: String,
    /// The files as the page sees them.
    files: Vec<UploadedFile>,
    /// What changed.
    #[serde(flatten)]
    changes: Changes,
}

/// One file as the page sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct UploadedFile {
    /// Its name.
    name: String,
    /// How many bytes it has.
    #[serde(rename(serialize = "bytes", deserialize = "size"))]
    bytes: u64,
}

/// The page agent's description of a file input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FileInputFacts {
    file: bool,
    multiple: bool,
    directory: bool,
    accept: String,
    disabled: Option<String>,
    files: Vec<UploadedFile>,
}

/// The file input that receives the files.
struct UploadTarget {
    frame: FrameId,
    input: FileInput,
    described: String,
}

impl Action for Upload {
    const NAME: &'static str = "upload";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire upload report.pdf --to e4", "Give a file to a file input.").in_skill(),
        Example::new(
            "tabwire upload a.png b.png --to 'text=Choose files'",
            "Give several files through a file chooser.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Files).with_timeout();
    type Output = UploadResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Act).and(Capability::Upload, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<UploadResult, Failure> {
        let offered = self.offered(context)?;
        let page = context.page().await?;
        let mut action = InputAction::on(context, &page);
        let (receiver, facts) = match &self.target {
            None => {
                let open = page.state().chooser().borrow().clone();
                self.chooser(&page, open.ok_or_else(no_chooser)?, context.deadline).await?
            }
            Some(target) => {
                let target = TargetArguments { target: target.clone(), nth: self.nth };
                let element = page.prepare(&target, "upload", json!({}), context.deadline).await?;
                action.set_element(&element);
                let facts = element.info.more.get("upload").cloned().unwrap_or_default();
                let facts: FileInputFacts = serde_json::from_value(facts).unwrap_or_default();
                if facts.file {
                    let input = FileInput::Element(element.key());
                    (
                        UploadTarget {
                            frame: element.frame.clone(),
                            input,
                            described: element.description(),
                        },
                        facts,
                    )
                } else {
                    self.open_chooser(context, &page, &target).await?
                }
            }
        };
        self.check(&receiver, &facts, &offered)?;
        self.give(context, &page, &receiver, &offered).await?;
        let settled = action.settle_page().await?;
        let files =
            offered.iter().map(|file| UploadedFile { name: file.name.clone(), bytes: file.bytes }).collect();
        Ok(UploadResult { to: receiver.described, files, changes: settled.changes })
    }
}

impl Upload {
    /// The upload that a script asks for.
    pub(crate) fn of_script(files: Vec<PathBuf>, target: Option<String>) -> Self {
        Self { files, target, nth: None, any_kind: true }
    }

    fn offered(&self, context: &Context) -> Result<Vec<UploadFile>, Failure> {
        if self.files.is_empty() || self.files.len() > UPLOAD_FILES {
            let message = format!("`files` takes one to {UPLOAD_FILES} files, not {}.", self.files.len());
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        self.files.iter().map(|path| context.files.offer_upload(path)).collect()
    }

    /// Clicks the element and waits for the file chooser that it opens.
    async fn open_chooser(
        &self,
        context: &Context,
        page: &Page,
        target: &TargetArguments,
    ) -> Result<(UploadTarget, FileInputFacts), Failure> {
        page.state().chooser_closed();
        let action = InputAction::on(context, page);
        let element = page.prepare(target, "click", json!({"guard": true}), context.deadline).await?;
        let mut chooser = page.state().chooser();
        let clicking = Click::at(element.info.point);
        click_element(action, &element, &clicking).await?;
        let opened = async {
            let opened =
                tokio::time::timeout_at(context.deadline.instant(), chooser.wait_for(Option::is_some)).await;
            let opened = opened.ok().and_then(Result::ok).and_then(|opened| opened.clone());
            opened.ok_or_else(|| opens_none(&element))
        };
        let opened = page.unless_blocked(opened).await?;
        self.chooser(page, opened, context.deadline).await
    }

    async fn chooser(
        &self,
        page: &Page,
        open: FileChooser,
        deadline: Deadline,
    ) -> Result<(UploadTarget, FileInputFacts), Failure> {
        let Some(node) = open.backend_node_id else {
            return Err(Failure::new(
                ErrorCode::NotActionable,
                "The open file chooser belongs to no file input.",
            )
            .with_remedy("Choosers that pages open with showOpenFilePicker are not supported."));
        };
        let receiver = UploadTarget {
            frame: open.frame_id.clone(),
            input: FileInput::Node(node),
            described: "the open file chooser".to_owned(),
        };
        let facts = facts_of(page, &receiver, deadline).await?;
        Ok((receiver, FileInputFacts { multiple: open.is_multiple(), ..facts }))
    }

    fn check(
        &self,
        receiver: &UploadTarget,
        facts: &FileInputFacts,
        offered: &[UploadFile],
    ) -> Result<(), Failure> {
        let to = &receiver.described;
        if let Some(reason) = &facts.disabled {
            return Err(Failure::new(ErrorCode::NotActionable, format!("{to} {reason}."))
                .with_remedy("Enable it first."));
        }
        if facts.directory {
            return Err(Failure::new(
                ErrorCode::NotActionable,
                format!("{to} asks for a folder, which cannot be given."),
            )
            .with_remedy("Look for an input that takes files."));
        }
        if offered.len() > 1 && !facts.multiple {
            let message = format!("{to} takes one file, not {}.", offered.len());
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Give one file."));
        }
        let refused = offered.iter().find(|file| !self.any_kind && !is_accepted(&facts.accept, &file.name));
        let Some(refused) = refused else { return Ok(()) };
        let accept = PageText::cut(&facts.accept, 200);
        let message = format!("{to} accepts {:?}; {:?} has another type.", accept.as_str(), refused.name);
        Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy(Remedy::new("Give another file, or {}.", [Step::argument("any_kind")])))
    }

    async fn give(
        &self,
        context: &Context,
        page: &Page,
        receiver: &UploadTarget,
        offered: &[UploadFile],
    ) -> Result<(), Failure> {
        let mut paths: Vec<PathBuf> = offered.iter().map(|file| file.path.clone()).collect();
        if let Some(remote) = context.browser.downloads().remote() {
            for (path, file) in paths.iter_mut().zip(offered) {
                *path = remote.place(file).await?;
            }
        }
        let given = page.session().set_input_files(&receiver.frame, receiver.input, &paths, context.deadline);
        page.unless_blocked(given).await?;
        page.state().chooser_closed();
        // A page may clear its input as soon as it has the files, or navigate. Compare only files that are still there.
        let Ok(FileInputFacts { files, .. }) = facts_of(page, receiver, context.deadline).await else {
            return Ok(());
        };
        let unread =
            files.iter().zip(offered).find(|(seen, file)| seen.name == file.name && seen.bytes != file.bytes);
        match unread {
            None => Ok(()),
            Some((_, file)) => {
                let message = format!("The browser cannot read {:?}.", file.name);
                Err(Failure::new(ErrorCode::NotActionable, message).with_remedy(
                    "A browser on another machine, or in a container, has no access to files here.",
                ))
            }
        }
    }
}

async fn facts_of(
    page: &Page,
    receiver: &UploadTarget,
    deadline: Deadline,
) -> Result<FileInputFacts, Failure> {
    let asked = page.session().describe_file_input(&receiver.frame, receiver.input, deadline);
    let facts: Value = page.unless_blocked(asked).await?;
    serde_json::from_value(facts).map_err(|error| {
        Failure::new(
            ErrorCode::Internal,
            format!("The page agent's response to fileInput is not understood: {error}."),
        )
    })
}

fn no_chooser() -> Failure {
    Failure::new(ErrorCode::NotActionable, "The page has no open file chooser.")
        .with_remedy("Name the file input or the element that opens the chooser as target.")
}

fn opens_none(element: &Element) -> Failure {
    let message = format!("A click on {} opened no file chooser.", element.description());
    Failure::new(ErrorCode::NotActionable, message)
        .with_remedy("Name the file input itself, or the element that opens the chooser.")
}

impl Render for UploadResult {
    fn render(&self) -> String {
        let mut lines = vec![format!("gave {} to {}", count(self.files.len(), "file"), self.to)];
        lines.extend(self.files.iter().map(|file| format!("file: {:?} ({} bytes)", file.name, file.bytes)));
        lines.extend(self.changes.lines());
        lines.join("\n")
    }
}
