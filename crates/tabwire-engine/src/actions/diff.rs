//! `diff`: what is different from the last snapshot, from a baseline, or from an earlier image.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_image::limits::LONGEST_SIDE;
use tabwire_image::{Difference, Encoding, Image, ImageError, Region};
use tabwire_policy::{Capability, Needs, Scope};

use super::screenshot::{photograph, pixels};
use crate::action::context::Context;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::input::element::Rectangle;
use crate::page::Page;
use crate::read::PartArguments;
use crate::snapshot::{Baseline, Comparison, Extent, SnapshotRequest, enclose, harmless_lines};

/// Tell what is different from before: in the snapshot, or in an image of the page.
///
/// `diff snapshot` compares with the last snapshot of this page, `diff snapshot FILE` with a baseline that was written
/// by `diff snapshot --save FILE`. `diff screenshot FILE` compares with a PNG of `tabwire screenshot --output FILE`,
/// taken of the same part, and writes an image in which what differs is red.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Diff {
    /// What is compared.
    #[arg(value_enum)]
    what: What,
    /// The file to compare with; a snapshot can do without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_read"))]
    baseline: Option<PathBuf>,
    /// Write the snapshot as it is now to this file, to compare with it later.
    #[arg(long, value_name = "PATH", conflicts_with = "baseline")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    save: Option<PathBuf>,
    /// How far colours may be apart and still be the same, 0 to 1; 0.1 unless told.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// Compare an image of the whole page, not only of what is in view.
    #[arg(long, conflicts_with = "target")]
    #[serde(default)]
    full_page: bool,
    /// Compare an image of this element: a ref, a CSS selector, or another target.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// Where the image of the difference goes; a place of our own unless told.
    #[arg(long, short, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    output: Option<PathBuf>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// What is on the page, as `snapshot` tells it.
    Snapshot,
    /// What the page looks like.
    Screenshot,
}

/// What is different.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "lowercase")]
pub(crate) enum Compared {
    /// A baseline was written.
    Saved {
        /// The file.
        path: PathBuf,
        /// How many lines it has.
        lines: usize,
    },
    /// Snapshots.
    Snapshot(SnapshotChange),
    /// Images.
    Screenshot(ImageChange),
}

/// How two snapshots differ.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotChange {
    /// Whether nothing is different.
    same: bool,
    /// What is new (+), gone (-) or different (~), a line each; none when nearly everything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<String>>,
}

/// How two images differ.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ImageChange {
    /// Whether nothing is different.
    same: bool,
    /// Pixels that are different.
    changed_pixels: u64,
    /// The part of all pixels that is different, 0 to 1.
    ratio: f64,
    /// Width and height of the baseline.
    baseline_size: (u32, u32),
    /// Width and height of the page's image now; when they are not the baseline's, what only one has is different.
    size: (u32, u32),
    /// Where something is different, the largest parts first: x, y, width, height in pixels.
    boxes: Vec<(u32, u32, u32, u32)>,
    /// An image of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<PathBuf>,
}

impl Action for Diff {
    const NAME: &'static str = "diff";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire diff snapshot", "See what changed since the last snapshot."),
        Example::new(
            "tabwire diff snapshot --save before.txt",
            "Keep the snapshot as it is now, to compare with it later.",
        ),
        Example::new("tabwire diff snapshot before.txt", "Compare with what was kept."),
        Example::new("tabwire diff screenshot before.png -o difference.png", "Compare pictures."),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Evidence);
    type Output = Compared;

    fn needs(&self) -> Needs {
        let writes = self.save.is_some() || self.output.is_some() || self.what == What::Screenshot;
        Needs::page(Capability::Read).showing_every_frame(self.what == What::Screenshot).and_if(
            writes,
            Capability::Download,
            Scope::Page,
        )
    }

    async fn run(self, context: &Context) -> Result<Compared, Failure> {
        let tolerance = self.check()?;
        let page = context.page().await?;
        match (self.what, &self.baseline) {
            (What::Snapshot, None) => match &self.save {
                Some(path) => save(context, &page, path).await,
                None => compare_last(context, &page).await,
            },
            (What::Snapshot, Some(path)) => compare_baseline(context, &page, path).await,
            (What::Screenshot, Some(path)) => self.compare_pictures(context, &page, path, tolerance).await,
            (What::Screenshot, None) => Err(no_picture()),
        }
    }
}

fn no_picture() -> Failure {
    Failure::new(ErrorCode::BadArgs, "There is no picture to compare with.").with_remedy(Remedy::new(
        "Write one with {}, and give its path.",
        [Step::action("screenshot").with("output", "FILE")],
    ))
}

impl Diff {
    /// Refuses what cannot be meant, and gives how far colours may be apart.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    fn check(&self) -> Result<u8, Failure> {
        let bad = |message: &str| Err(Failure::new(ErrorCode::BadArgs, message));
        let for_pictures =
            self.threshold.is_some() || self.full_page || self.target.is_some() || self.output.is_some();
        match self.what {
            What::Snapshot if for_pictures => {
                return bad("threshold, full_page, target and output are for pictures: `diff screenshot`.");
            }
            What::Snapshot if self.save.is_some() && self.baseline.is_some() => {
                return bad("A baseline is either compared with or saved.");
            }
            What::Screenshot if self.save.is_some() => {
                return bad("`save` is only for snapshots; `screenshot` writes an image file.");
            }
            What::Screenshot if self.baseline.is_none() => return Err(no_picture()),
            _ => {}
        }
        match self.threshold.unwrap_or(0.1) {
            threshold if (0.0..=1.0).contains(&threshold) => Ok((threshold * 255.0).round() as u8),
            _ => bad("A threshold goes from 0 to 1."),
        }
    }

    async fn compare_pictures(
        &self,
        context: &Context,
        page: &Page,
        path: &Path,
        tolerance: u8,
    ) -> Result<Compared, Failure> {
        let before = context.files.read(path)?;
        if let Some(wish) = &self.output {
            context.files.check_output(wish)?;
        }
        let part = PartArguments { target: self.target.clone(), nth: None };
        let (png, seen) = photograph(context, page, part, self.full_page).await?;
        let work = move || compare(&before, &png, seen, tolerance);
        let worked = tokio::task::spawn_blocking(work).await;
        let lost = |error| Failure::new(ErrorCode::Internal, format!("The pictures were lost: {error}."));
        let found = worked.map_err(lost)?.map_err(|error| {
            Failure::new(ErrorCode::BadArgs, error.to_string()).with_remedy(Remedy::new(
                "The baseline must be a PNG, as {} writes it.",
                [Step::action("screenshot").with("output", "FILE.png")],
            ))
        })?;
        let picture = match found.file {
            Some(file) => Some(context.files.write(
                FileKind::Screenshot,
                self.output.as_deref(),
                "difference.png",
                &file,
            )?),
            None => None,
        };
        let Difference { changed, total, regions, .. } = found.difference;
        Ok(Compared::Screenshot(ImageChange {
            same: changed == 0,
            changed_pixels: changed,
            ratio: ratio(changed, total),
            baseline_size: found.before,
            size: found.now,
            boxes: regions.iter().map(|Region { x, y, width, height }| (*x, *y, *width, *height)).collect(),
            picture,
        }))
    }
}

struct Found {
    difference: Difference,
    before: (u32, u32),
    now: (u32, u32),
    /// The image of the difference, if there is one.
    file: Option<Vec<u8>>,
}

/// Compares in the baseline's own scale: every pixel of the screen, or shrunk as screenshots are.
fn compare(before: &[u8], now: &[u8], seen: Rectangle, tolerance: u8) -> Result<Found, ImageError> {
    let (before, mut now) = (Image::from_png(before)?, Image::from_png(now)?);
    let size = |picture: &Image| (picture.width(), picture.height());
    if size(&before) != size(&now) {
        let (width, height) = (pixels(seen.width).min(now.width()), pixels(seen.height).min(now.height()));
        let (width, height) = Image::size_within(width, height, LONGEST_SIDE);
        now = now.resized(width, height)?;
    }
    let difference = before.compare(&now, tolerance);
    let file = if difference.changed > 0 { Some(difference.image.encode(Encoding::Png)?) } else { None };
    Ok(Found { before: size(&before), now: size(&now), difference, file })
}

/// A share of a whole, rounded to a millionth.
#[expect(clippy::cast_precision_loss, reason = "pictures have far fewer pixels than that matters for")]
fn ratio(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64 * 1e6).round() / 1e6
}

async fn present(context: &Context, page: &Page) -> Result<Baseline, Failure> {
    let request = SnapshotRequest { extent: Extent::Full, ..SnapshotRequest::default() };
    let (snapshot, _) = page.view(request, None, context.deadline).await?;
    Ok(Baseline::of(&snapshot))
}

async fn save(context: &Context, page: &Page, path: &Path) -> Result<Compared, Failure> {
    context.files.check_output(path)?;
    let now = present(context, page).await?;
    let text = now.to_text();
    let path = context.files.write(FileKind::Capture, Some(path), "baseline.txt", text.as_bytes())?;
    Ok(Compared::Saved { path, lines: now.length() })
}

async fn compare_baseline(context: &Context, page: &Page, path: &Path) -> Result<Compared, Failure> {
    let content = context.files.read(path)?;
    let before = std::str::from_utf8(&content).ok().and_then(Baseline::parse).ok_or_else(|| {
        let message = format!("{} is no baseline of a snapshot.", path.display());
        Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
            "Write one with {}.",
            [Step::action("diff").with("what", "snapshot").with("save", "FILE")],
        ))
    })?;
    let now = present(context, page).await?;
    let changes = before.changes_to(&now);
    let same = changes.as_ref().is_some_and(Vec::is_empty);
    Ok(Compared::Snapshot(SnapshotChange { same, changes }))
}

async fn compare_last(context: &Context, page: &Page) -> Result<Compared, Failure> {
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
    Ok(Compared::Snapshot(SnapshotChange { same, changes }))
}

impl Render for Compared {
    fn render(&self) -> String {
        match self {
            Self::Saved { path, lines } => format!("{}\n{lines} lines", path.display()),
            Self::Snapshot(SnapshotChange { same: true, .. }) => "nothing is different".to_owned(),
            Self::Snapshot(SnapshotChange { changes: None, .. }) => {
                "nearly everything is different; use `snapshot`".to_owned()
            }
            Self::Snapshot(SnapshotChange { changes: Some(changes), .. }) => {
                // A baseline comes from a file: nobody knows who wrote it.
                let body = harmless_lines(&format!("{}\n", changes.join("\n")));
                enclose("what is different", &body).trim_end().to_owned()
            }
            Self::Screenshot(change) => change.render(),
        }
    }
}

impl ImageChange {
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
        lines.extend(self.picture.iter().map(|path| path.display().to_string()));
        lines.join("\n")
    }
}
