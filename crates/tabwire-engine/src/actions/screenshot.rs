//! `screenshot`: an image of the page, optionally with refs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_image::limits::LONGEST_SIDE;
use tabwire_image::{Encoding, Image, ImageError, Mark};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions, ToolResult};
use crate::files::FileKind;
use crate::input::element::Rectangle;
use crate::media::annotate::Annotation;
use crate::media::screenshot::Layout;
use crate::page::Page;
use crate::read::PartArguments;
use crate::snapshot::{PageText, enclose};

/// Take a screenshot of the viewport, the full page or an element, and write it to a file.
///
/// One image pixel is one CSS pixel, and the longest side has at most 1568 of them, unless --original is given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Screenshot {
    #[command(flatten)]
    #[serde(flatten)]
    part: PartArguments,
    /// The full page instead of the viewport.
    #[arg(long, conflicts_with = "target")]
    #[serde(default)]
    full_page: bool,
    /// Draw a frame with its ref around every interactive element. The page itself stays as it is.
    #[arg(long)]
    #[serde(default)]
    annotate: bool,
    /// The image format.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    format: Format,
    /// The JPEG quality, 1 to 100; 80 by default.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quality: Option<u8>,
    /// Device pixels, without scaling down.
    #[arg(long)]
    #[serde(default)]
    original: bool,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// An image format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Lossless, supported everywhere.
    #[default]
    Png,
    /// Lossy, small for photographs.
    Jpeg,
    /// Lossless, smaller than PNG.
    Webp,
}

/// A screenshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScreenshotResult {
    /// The file.
    path: PathBuf,
    /// Its format.
    format: Format,
    /// Its width in pixels.
    width: u32,
    /// Its height in pixels.
    height: u32,
    /// The size of the file in bytes.
    bytes: usize,
    /// Image pixels per CSS pixel.
    scale: f64,
    /// Whether the page or element is larger than the image.
    truncated: bool,
    /// The page's height in CSS pixels, with `full_page`.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_height: Option<f64>,
    /// The elements that the labels in the image refer to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<Annotation>,
}

/// The part of the page that the image shows.
struct Subject {
    /// In page coordinates; none for the viewport.
    part: Option<Rectangle>,
    /// In viewport coordinates.
    seen: Rectangle,
    truncated: bool,
    full_height: Option<f64>,
}

impl Action for Screenshot {
    const NAME: &'static str = "screenshot";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire screenshot -o page.png", "Take a screenshot of the viewport.").in_skill(),
        Example::new("tabwire screenshot e6", "Take a screenshot of an element."),
        Example::new(
            "tabwire screenshot --full-page --annotate",
            "The full page, with refs drawn on interactive elements.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Take a screenshot of the viewport, the full page or an element")
        .hiding(&["quality", "output", "force"])
        .returning(ToolResult::Image);
    type Output = ScreenshotResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_every_frame(true).and_if(
            self.output.is_some(),
            Capability::Download,
            Scope::Page,
        )
    }

    async fn run(self, context: &Context) -> Result<ScreenshotResult, Failure> {
        self.check()?;
        self.output.check(context)?;
        let page = context.page().await?;
        let subject = self.subject(context, &page).await?;
        let annotations = if self.annotate {
            let area = subject.part.map(|_| subject.seen);
            page.annotations(area, context.deadline).await?
        } else {
            Vec::new()
        };
        let png = page.capture(subject.part, context.deadline).await?;
        let marks = annotations.clone();
        let (seen, original) = (subject.seen, self.original);
        let encoding = self.encoding();
        // Encoding takes long; a blocking thread keeps the other tabs running.
        let worked =
            tokio::task::spawn_blocking(move || encode_screenshot(png, seen, original, &marks, encoding))
                .await;
        let encoded = worked
            .map_err(|error| {
                Failure::new(ErrorCode::Internal, format!("Encoding the image failed: {error}."))
            })?
            .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?;
        let name = format!("page.{}", self.format.extension());
        let path = self.output.files(context).write(
            FileKind::Screenshot,
            self.output.path(),
            &name,
            &encoded.bytes,
        )?;
        Ok(ScreenshotResult {
            path,
            format: self.format,
            width: encoded.width,
            height: encoded.height,
            bytes: encoded.bytes.len(),
            scale: (f64::from(encoded.width) / seen.width * 1_000.0).round() / 1_000.0,
            truncated: subject.truncated,
            full_height: subject.full_height,
            annotations,
        })
    }
}

impl Screenshot {
    fn check(&self) -> Result<(), Failure> {
        let bad = |message: &str, remedy: Remedy| {
            Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(remedy))
        };
        if self.full_page && self.part.target.is_some() {
            return bad("`full_page` and a target exclude each other.", "Give one of them.".into());
        }
        match (self.quality, self.format) {
            (Some(0 | 101..), _) => bad("`quality` must be 1 to 100.", "Give a quality such as 80.".into()),
            (Some(_), Format::Png | Format::Webp) => bad(
                "`quality` is only for JPEG; PNG and WebP are lossless.",
                Remedy::new("Add {}.", [Step::argument_value("format", "jpeg")]),
            ),
            _ => Ok(()),
        }
    }

    fn encoding(&self) -> Encoding {
        match self.format {
            Format::Png => Encoding::Png,
            Format::Jpeg => Encoding::Jpeg(self.quality.unwrap_or(80)),
            Format::Webp => Encoding::Webp,
        }
    }

    async fn layout(&self, context: &Context, page: &Page) -> Result<Layout, Failure> {
        let layout = page.layout(context.deadline).await?;
        Ok(if self.original { layout } else { layout.for_shrinking() })
    }

    async fn subject(&self, context: &Context, page: &Page) -> Result<Subject, Failure> {
        let Some(target) = self.part.element()? else {
            let layout = self.layout(context, page).await?;
            return Ok(if self.full_page { full_page(&layout) } else { in_view(&layout) });
        };
        let (frame, wanted) = page.find_element(&target, context.find_deadline()).await?;
        let argument = json!({"key": wanted["key"]});
        // Scroll it into view first: parts that a scroll container clips are not in the image.
        let _: Value = page.call_in(&frame, "scroll", &argument, context.deadline).await?;
        let element = page.prepare(&target, "read", json!({}), context.find_deadline()).await?;
        let place = element.info.rectangle;
        if place.width < 1.0 || place.height < 1.0 {
            let message = format!("{} is not visible.", element.description());
            return Err(Failure::new(ErrorCode::NotActionable, message)
                .with_remedy("Make it visible first, or take a screenshot of the page."));
        }
        let layout = self.layout(context, page).await?;
        let (part, truncated) = layout.on_page(place);
        let seen = Rectangle { x: part.x - layout.view.x, y: part.y - layout.view.y, ..part };
        Ok(Subject { part: Some(part), seen, truncated, full_height: None })
    }
}

/// Captures a PNG of the viewport, the full page or an element, and returns its rectangle in CSS pixels.
pub(crate) async fn capture_png(
    context: &Context,
    page: &Page,
    part: PartArguments,
    full_page: bool,
) -> Result<(Vec<u8>, Rectangle), Failure> {
    let wanted = Screenshot {
        part,
        full_page,
        annotate: false,
        format: Format::Png,
        quality: None,
        original: false,
        output: OutputArguments::default(),
    };
    wanted.check()?;
    let subject = wanted.subject(context, page).await?;
    Ok((page.capture(subject.part, context.deadline).await?, subject.seen))
}

fn in_view(layout: &Layout) -> Subject {
    let seen = Rectangle { x: 0.0, y: 0.0, ..layout.view };
    Subject { part: None, seen, truncated: false, full_height: None }
}

fn full_page(layout: &Layout) -> Subject {
    let (part, truncated) = layout.whole();
    let seen = Rectangle { x: -layout.view.x, y: -layout.view.y, ..part };
    Subject { part: Some(part), seen, truncated, full_height: Some(layout.page_height) }
}

struct EncodedImage {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

/// Scales, annotates and encodes the browser's PNG as requested.
fn encode_screenshot(
    png: Vec<u8>,
    seen: Rectangle,
    original: bool,
    annotations: &[Annotation],
    encoding: Encoding,
) -> Result<EncodedImage, ImageError> {
    let mut image = Image::from_png(&png)?;
    let taken = (image.width(), image.height());
    let (width, height) = if original {
        taken
    } else {
        let (width, height) = (pixels(seen.width).min(taken.0), pixels(seen.height).min(taken.1));
        Image::size_within(width, height, LONGEST_SIDE)
    };
    if (width, height) == taken && annotations.is_empty() && encoding == Encoding::Png {
        return Ok(EncodedImage { width, height, bytes: png });
    }
    image = image.resized(width, height)?;
    let (across, down) = (f64::from(width) / seen.width, f64::from(height) / seen.height);
    let marks: Vec<Mark> = annotations
        .iter()
        .map(|one| Mark {
            x: whole((one.rectangle.x - seen.x) * across),
            y: whole((one.rectangle.y - seen.y) * down),
            width: whole(one.rectangle.width * across),
            height: whole(one.rectangle.height * down),
            label: one.label.clone(),
        })
        .collect();
    image.draw_marks(&marks);
    Ok(EncodedImage { width, height, bytes: image.encode(encoding)? })
}

/// A length in whole pixels.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
pub(crate) fn pixels(length: f64) -> u32 {
    length.round().clamp(1.0, 100_000.0) as u32
}

/// A coordinate in whole pixels.
#[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
fn whole(place: f64) -> i64 {
    place.round().clamp(-1e6, 1e6) as i64
}

impl Format {
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
        }
    }
}

impl Render for ScreenshotResult {
    fn render(&self) -> String {
        let mut text =
            format!("{}\n{}x{} pixels, {} bytes", self.path.display(), self.width, self.height, self.bytes);
        if (self.scale - 1.0).abs() > 0.001 {
            text.push_str(&format!(", {} pixels for each CSS pixel", self.scale));
        }
        if let Some(height) = self.full_height.filter(|_| !self.truncated) {
            text.push_str(&format!("\nthe page is {height} CSS pixels high"));
        }
        match (self.truncated, self.full_height) {
            (true, Some(height)) => text.push_str(&format!("\ncut: the page is {height} pixels high")),
            (true, None) => text.push_str("\ncut: the element is larger than the image"),
            _ => {}
        }
        if !self.annotations.is_empty() {
            let line = |one: &Annotation| {
                format!("- {} {} {}\n", one.label, one.role, PageText::new(&one.name).quoted())
            };
            let lines: String = self.annotations.iter().map(line).collect();
            text.push('\n');
            text.push_str(enclose("labels in the image", &lines).trim_end());
        }
        text
    }

    fn bare(&self) -> Option<BareValue> {
        let cut = self.truncated.then(|| "The image does not show all of it.".to_owned());
        Some(BareValue::path(&self.path).with_cut(cut))
    }
}
