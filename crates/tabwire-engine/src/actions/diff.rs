//! `diff`: compares the page with the last snapshot, a baseline file or an earlier screenshot.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, count};
use tabwire_image::limits::LONGEST_SIDE;
use tabwire_image::{Difference, Encoding, Image, ImageError, Region};
use tabwire_policy::{Capability, Needs, Scope};

use super::screenshot::{capture_png, pixels};
use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::{FileKind, Files};
use crate::input::element::Rectangle;
use crate::page::Page;
use crate::read::PartArguments;
use crate::snapshot::{Baseline, Comparison, Extent, SnapshotRequest, enclose, harmless_lines};

/// Show what changed in the snapshot or in a screenshot of the page.
///
/// `diff snapshot` compares with the last snapshot of this page, `diff snapshot FILE` with a baseline that `diff
/// snapshot --save FILE` wrote. `diff screenshot FILE` compares with a PNG of `tabwire screenshot --output FILE`, taken
/// of the same part, and writes an image that marks differences in red.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Diff {
    /// What to compare.
    #[arg(value_enum)]
    what: DiffKind,
    /// The file to compare with; the last snapshot by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_read"))]
    baseline: Option<PathBuf>,
    /// Write the current snapshot to this file, as a baseline for later.
    #[arg(long, value_name = "PATH", conflicts_with = "baseline")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    save: Option<PathBuf>,
    /// The colour difference that is ignored, 0 to 1; 0.1 by default.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// Compare the full page instead of the viewport.
    #[arg(long, conflicts_with = "target")]
    #[serde(default)]
    full_page: bool,
    /// Compare this element: a ref, a CSS selector, or another target.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// What to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DiffKind {
    /// The page's snapshot.
    Snapshot,
    /// A screenshot of the page.
    Screenshot,
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "lowercase")]
pub(crate) enum DiffResult {
    /// A baseline was written.
    Saved {
        /// The file.
        path: PathBuf,
        /// How many lines it has.
        lines: usize,
    },
    /// Snapshots.
    Snapshot(SnapshotDifference),
    /// Images.
    Screenshot(ImageDifference),
}

/// The differences of two snapshots.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotDifference {
    /// Whether there is no difference.
    same: bool,
    /// New (+), removed (-) and changed (~) elements, a line each; absent if nearly everything changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<String>>,
}

/// The differences of two images.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImageDifference {
    /// Whether there is no difference.
    same: bool,
    /// How many pixels differ.
    changed_pixels: u64,
    /// The share of all pixels that differ, 0 to 1.
    ratio: f64,
    /// Width and height of the baseline.
    baseline_size: (u32, u32),
    /// Width and height of the page's image now. Pixels that only one of the images has count as different.
    size: (u32, u32),
    /// The areas that differ, the largest first: x, y, width, height in pixels.
    boxes: Vec<(u32, u32, u32, u32)>,
    /// The image of the differences.
    #[serde(rename = "picture", skip_serializing_if = "Option::is_none")]
    image: Option<PathBuf>,
}

impl Action for Diff {
    const NAME: &'static str = "diff";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire diff snapshot", "See what changed since the last snapshot."),
        Example::new("tabwire diff snapshot --save before.txt", "Save the current snapshot as a baseline."),
        Example::new("tabwire diff snapshot before.txt", "Compare with the baseline."),
        Example::new("tabwire diff screenshot before.png -o difference.png", "Compare screenshots."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Debug).hiding(&["force"]).with_timeout();
    type Output = DiffResult;

    fn needs(&self) -> Needs {
        let writes = self.save.is_some() || self.output.is_some() || self.what == DiffKind::Screenshot;
        Needs::page(Capability::Read).showing_every_frame(self.what == DiffKind::Screenshot).and_if(
            writes,
            Capability::Download,
            Scope::Page,
        )
    }

    async fn run(self, context: &Context) -> Result<DiffResult, Failure> {
        let tolerance = self.check()?;
        let page = context.page().await?;
        match (self.what, &self.baseline) {
            (DiffKind::Snapshot, None) => match &self.save {
                Some(path) => save(context, &*self.output.files(context), &page, path).await,
                None => compare_last(context, &page).await,
            },
            (DiffKind::Snapshot, Some(path)) => compare_baseline(context, &page, path).await,
            (DiffKind::Screenshot, Some(path)) => {
                self.compare_screenshots(context, &page, path, tolerance).await
            }
            (DiffKind::Screenshot, None) => Err(no_baseline()),
        }
    }
}

fn no_baseline() -> Failure {
    Failure::new(ErrorCode::BadArgs, "`baseline` is required for a screenshot.").with_remedy(Remedy::new(
        "Write one with {}, and give its path.",
        [Step::action("screenshot").with("output", "FILE")],
    ))
}

impl Diff {
    /// Rejects parameters that exclude each other, and returns the colour tolerance, 0 to 255.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    fn check(&self) -> Result<u8, Failure> {
        let bad = |message: &str| Err(Failure::new(ErrorCode::BadArgs, message));
        let for_screenshots =
            self.threshold.is_some() || self.full_page || self.target.is_some() || self.output.is_some();
        match self.what {
            DiffKind::Snapshot if for_screenshots => {
                return bad("`threshold`, `full_page`, `target` and `output` are only for `screenshot`.");
            }
            DiffKind::Snapshot if self.save.is_some() && self.baseline.is_some() => {
                return bad("`baseline` and `save` exclude each other.");
            }
            DiffKind::Screenshot if self.save.is_some() => {
                return bad("`save` is only for snapshots; `screenshot` writes an image file.");
            }
            DiffKind::Screenshot if self.baseline.is_none() => return Err(no_baseline()),
            _ => {}
        }
        match self.threshold.unwrap_or(0.1) {
            threshold if (0.0..=1.0).contains(&threshold) => Ok((threshold * 255.0).round() as u8),
            _ => bad("`threshold` must be 0 to 1."),
        }
    }

    async fn compare_screenshots(
        &self,
        context: &Context,
        page: &Page,
        path: &Path,
        tolerance: u8,
    ) -> Result<DiffResult, Failure> {
        let before = context.files.read(path)?;
        self.output.check(context)?;
        let part = PartArguments { target: self.target.clone(), nth: None };
        let (png, seen) = capture_png(context, page, part, self.full_page).await?;
        let work = move || compare(&before, &png, seen, tolerance);
        let worked = tokio::task::spawn_blocking(work).await;
        let lost =
            |error| Failure::new(ErrorCode::Internal, format!("Comparing the images failed: {error}."));
        let found = worked.map_err(lost)?.map_err(|error| {
            Failure::new(ErrorCode::BadArgs, error.to_string()).with_remedy(Remedy::new(
                "The baseline must be a PNG, as {} writes it.",
                [Step::action("screenshot").with("output", "FILE.png")],
            ))
        })?;
        let image = match found.file {
            Some(file) => Some(self.output.files(context).write(
                FileKind::Screenshot,
                self.output.path(),
                "difference.png",
                &file,
            )?),
            None => None,
        };
        let Difference { changed, total, regions, .. } = found.difference;
        Ok(DiffResult::Screenshot(ImageDifference {
            same: changed == 0,
            changed_pixels: changed,
            ratio: ratio(changed, total),
            baseline_size: found.before,
            size: found.now,
            boxes: regions.iter().map(|Region { x, y, width, height }| (*x, *y, *width, *height)).collect(),
            image,
        }))
    }
}

struct PixelComparison {
    difference: Difference,
    before: (u32, u32),
    now: (u32, u32),
    /// The image of the differences, if there are any.
    file: Option<Vec<u8>>,
}

/// Compares in the baseline's scale: device pixels, or scaled down as screenshots are by default.
fn compare(before: &[u8], now: &[u8], seen: Rectangle, tolerance: u8) -> Result<PixelComparison, ImageError> {
    let (before, mut now) = (Image::from_png(before)?, Image::from_png(now)?);
    let size = |image: &Image| (image.width(), image.height());
    if size(&before) != size(&now) {
        let (width, height) = (pixels(seen.width).min(now.width()), pixels(seen.height).min(now.height()));
        let (width, height) = Image::size_within(width, height, LONGEST_SIDE);
        now = now.resized(width, height)?;
    }
    let difference = before.compare(&now, tolerance);
    let file = if difference.changed > 0 { Some(difference.image.encode(Encoding::Png)?) } else { None };
    Ok(PixelComparison { before: size(&before), now: size(&now), difference, file })
}

/// A ratio, rounded to six digits.
#[expect(clippy::cast_precision_loss, reason = "images have fewer than 2^52 pixels")]
fn ratio(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64 * 1e6).round() / 1e6
}

async fn present(context: &Context, page: &Page) -> Result<Baseline, Failure> {
    let request = SnapshotRequest { extent: Extent::Full, ..SnapshotRequest::default() };
    let (snapshot, _) = page.view(request, None, context.deadline).await?;
    Ok(Baseline::of(&snapshot))
}

async fn save(context: &Context, files: &dyn Files, page: &Page, path: &Path) -> Result<DiffResult, Failure> {
    files.check_output(path)?;
    let now = present(context, page).await?;
    let text = now.to_text();
    let path = files.write(FileKind::Capture, Some(path), "baseline.txt", text.as_bytes())?;
    Ok(DiffResult::Saved { path, lines: now.length() })
}

async fn compare_baseline(context: &Context, page: &Page, path: &Path) -> Result<DiffResult, Failure> {
    let content = context.files.read(path)?;
    let before = std::str::from_utf8(&content).ok().and_then(Baseline::parse).ok_or_else(|| {
        let message = format!("{} is not a snapshot baseline.", path.display());
        Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
            "Write one with {}.",
            [Step::action("diff").with("what", "snapshot").with("save", "FILE")],
        ))
    })?;
    let now = present(context, page).await?;
    let changes = before.changes_to(&now);
    let same = changes.as_ref().is_some_and(Vec::is_empty);
    Ok(DiffResult::Snapshot(SnapshotDifference { same, changes }))
}

async fn compare_last(context: &Context, page: &Page) -> Result<DiffResult, Failure> {
    let request = SnapshotRequest::default();
    let (snapshot, request) = page.view(request, None, context.deadline).await?;
    let mut refs = page.refs();
    let comparison = page.memory().compare(&snapshot, &request, &mut refs);
    let (same, changes) = match comparison {
        Comparison::Unknown => {
            return Err(Failure::new(ErrorCode::NotActionable, "No snapshot of this page has been taken.")
                .with_remedy(Remedy::new(
                    "Run {} first, or compare with a baseline file.",
                    [Step::action("snapshot")],
                )));
        }
        Comparison::Same => (true, Some(Vec::new())),
        Comparison::Different(changes) => {
            (false, changes.map(|text| text.lines().map(str::to_owned).collect()))
        }
    };
    Ok(DiffResult::Snapshot(SnapshotDifference { same, changes }))
}

impl Render for DiffResult {
    fn render(&self) -> String {
        match self {
            Self::Saved { path, lines } => format!("{}\n{}", path.display(), count(*lines, "line")),
            Self::Snapshot(SnapshotDifference { same: true, .. }) => "nothing is different".to_owned(),
            Self::Snapshot(SnapshotDifference { changes: None, .. }) => {
                "nearly everything is different; use `snapshot`".to_owned()
            }
            Self::Snapshot(SnapshotDifference { changes: Some(changes), .. }) => {
                // Fence the lines: a baseline file can contain text of any origin.
                let body = harmless_lines(&format!("{}\n", changes.join("\n")));
                enclose("what is different", &body).trim_end().to_owned()
            }
            Self::Screenshot(change) => change.render(),
        }
    }
}

impl ImageDifference {
    fn render(&self) -> String {
        let mut lines = Vec::new();
        if self.size != self.baseline_size {
            let ((width, height), (old_width, old_height)) = (self.size, self.baseline_size);
            lines.push(format!("the sizes differ: {old_width}x{old_height} before, {width}x{height} now"));
        }
        if self.same {
            lines.push("nothing is different".to_owned());
        } else {
            lines.push(format!("{} pixels are different, {} of all", self.changed_pixels, self.ratio));
        }
        let parts = self.boxes.iter().map(|(x, y, width, height)| format!("at {x},{y}: {width}x{height}"));
        lines.extend(parts);
        lines.extend(self.image.iter().map(|path| path.display().to_string()));
        lines.join("\n")
    }
}
