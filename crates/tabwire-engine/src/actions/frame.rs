//! `frame`: selects the frame that later actions use by default, and lists the frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step, TabId};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, TabUse, ToolGroup, ToolOptions};
use crate::frames::policy::site_of;
use crate::frames::tree::FrameInfo;
use crate::input::element::TargetArguments;
use crate::input::locator::Locator;
use crate::limits::PAGE_URL_CHARACTERS;
use crate::page::Page;
use crate::snapshot::{PageText, line_address, worded};

/// Frames in a list.
const FRAMES_REPORTED: usize = 200;

/// The name of the main frame.
const MAIN: &str = "main";

/// Select the frame that later targets, snapshots, reads and eval use, or list the frames.
///
/// The selection holds for the tab until another one is made or the frame is gone, which a notice reports. Without a
/// selection, targets are searched in all frames.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(default)]
pub(crate) struct ChooseFrame {
    /// `main`, the frame's name, a ref or another target of its element, or a part of its URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    frame: Option<String>,
}

/// A frame in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FrameLine {
    /// Its name in the page; `main` for the main frame.
    name: String,
    /// Its URL.
    url: String,
    /// Whether it is selected.
    current: bool,
    /// Its depth: the number of ancestor frames.
    depth: usize,
}

/// The selected frame, and all frames.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Frames {
    /// The tab.
    #[schemars(with = "String")]
    tab: TabId,
    /// The name of the selected frame.
    frame: String,
    /// Its URL.
    url: String,
    /// All frames of the page, parents first.
    frames: Vec<FrameLine>,
}

impl Action for ChooseFrame {
    const NAME: &'static str = "frame";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire frame", "List the frames; a star marks the selected one."),
        Example::new("tabwire frame '#checkout iframe'", "Select this frame for later actions."),
        Example::new("tabwire frame pay.example/card", "Select the frame with this URL."),
        Example::new("tabwire frame main", "Select the whole page again."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Input);
    const TAB: TabUse = TabUse::SelectsFrame;
    type Output = Frames;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
    }

    async fn run(self, context: &Context) -> Result<Frames, Failure> {
        let page = context.page().await?;
        page.session().wait_ready(context.deadline).await?;
        page.sync_events().await;
        page.has_lost_frame(context.deadline).await;
        match self.frame.as_deref().map(str::trim) {
            None => {}
            Some(MAIN) => context.browser.select_frame(&page, None),
            Some(wanted) => {
                let frame = find(&page, wanted, context.deadline).await?;
                page.check_frame(&frame, Capability::Read)?;
                let is_main = frame == *page.main_frame();
                context.browser.select_frame(&page, Some(frame).filter(|_| !is_main));
            }
        }
        Ok(Frames::of(context, &page))
    }
}

/// Finds the requested frame.
async fn find(page: &Page, wanted: &str, deadline: Deadline) -> Result<FrameId, Failure> {
    let locator = Locator::parse(wanted)?;
    let all = page.session().all_frames();
    if matches!(locator, Locator::Ref(_)) {
        return held_by(page, wanted, deadline).await;
    }
    if let Some(frame) = only(&all, wanted, |frame| frame.name == wanted)? {
        return Ok(frame);
    }
    if let Locator::Words(spec) = locator {
        page.scope(deadline).await?;
        // Text that is not a valid selector may still be part of a URL.
        let found = page.locate_everywhere(&page.scope_frames(), &spec, deadline).await.unwrap_or_default();
        if found.iter().any(|(_, located)| located.total > 0) {
            return held_by(page, wanted, deadline).await;
        }
    }
    if let Some(frame) = only(&all, wanted, |frame| frame.url.contains(wanted))? {
        return Ok(frame);
    }
    let message = format!("No frame has the name, element or URL {:?}.", PageText::new(wanted).as_str());
    Err(Failure::new(ErrorCode::SelectorNotFound, message)
        .with_remedy(Remedy::new("Run {} to list the frames.", [Step::action("frame")])))
}

/// The only match; an error if there are several.
fn only(
    all: &[FrameInfo],
    wanted: &str,
    fits: impl Fn(&FrameInfo) -> bool,
) -> Result<Option<FrameId>, Failure> {
    let fitting: Vec<&FrameInfo> = all.iter().filter(|frame| fits(frame)).collect();
    if let [first, _, ..] = fitting[..] {
        let message = format!(
            "{} frames match {wanted:?}, the first at {}.",
            fitting.len(),
            line_address(&address(first))
        );
        return Err(Failure::new(ErrorCode::BadArgs, message)
            .with_remedy("Give more of its URL, or name its element."));
    }
    Ok(fitting.first().map(|frame| frame.id.clone()))
}

/// The frame inside the target element.
async fn held_by(page: &Page, target: &str, deadline: Deadline) -> Result<FrameId, Failure> {
    let target = TargetArguments { target: target.to_owned(), nth: None };
    let element = page.prepare(&target, "read", json!({}), deadline).await?;
    let held = page.session().content_frame(&element.frame, element.key(), deadline);
    let held = page.unless_blocked(held).await?.filter(|frame| page.session().has_frame(frame));
    held.ok_or_else(|| {
        let message = format!("{} holds no frame.", element.description());
        Failure::new(ErrorCode::BadArgs, message)
            .with_remedy(Remedy::new("Name an iframe. {} lists the frames.", [Step::action("frame")]))
    })
}

fn address(frame: &FrameInfo) -> String {
    PageText::cut(&frame.url, PAGE_URL_CHARACTERS).as_str().to_owned()
}

impl Frames {
    fn of(context: &Context, page: &Page) -> Self {
        let (all, current) = (page.session().all_frames(), page.scope_or_main());
        let parent_of = |id: &FrameId| all.iter().find(|frame| frame.id == *id)?.parent.clone();
        let refused: Vec<FrameId> =
            page.frames_without(Capability::Read).into_iter().map(|(id, _)| id).collect();
        let line = |frame: &FrameInfo| {
            let depth = std::iter::successors(parent_of(&frame.id), parent_of).take(all.len()).count();
            // A frame that the policy does not let the client read is listed without its name and path.
            let is_refused = std::iter::successors(Some(frame.id.clone()), parent_of)
                .take(all.len())
                .any(|id| refused.contains(&id));
            let own = if is_refused { "" } else { &frame.name };
            let name = if frame.parent.is_none() { MAIN } else { own };
            let name = PageText::cut(name, PAGE_URL_CHARACTERS).as_str().to_owned();
            let url = if is_refused { site_of(&frame.url) } else { address(frame) };
            FrameLine { name, url, current: frame.id == current, depth }
        };
        let frames: Vec<FrameLine> = all.iter().take(FRAMES_REPORTED).map(line).collect();
        let meant = all.iter().find(|frame| frame.id == current).map(line);
        let (frame, url) = meant.map(|line| (line.name, line.url)).unwrap_or_default();
        Self { tab: context.browser.tab_id(page), frame, url, frames }
    }
}

impl Render for Frames {
    fn render(&self) -> String {
        let lines = self.frames.iter().map(|line| {
            let mark = if line.current { "*" } else { " " };
            // `main` is Tabwire's word. The other names are page content.
            let name = match line.name.as_str() {
                "" => "(no name)".to_owned(),
                MAIN if line.depth == 0 => MAIN.to_owned(),
                name => worded(name),
            };
            format!("{mark} {:indent$}{name}  {}", "", line_address(&line.url), indent = 2 * line.depth)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::whole(self.url.clone()))
    }
}
