//! `script_screenshot`: a screenshot with the options of scripts: a clip, masks, a style, stopped animations. Returns the
//! bytes too.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_image::{Encoding, Image};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::screenshot::Format;
use crate::files::FileKind;
use crate::input::element::{Rectangle, TargetArguments, milliseconds_left, with_grace};
use crate::media::screenshot::Layout;
use crate::page::Page;

/// Elements that masks cover.
const MOST_MASKS: usize = 1_000;

/// Take a screenshot.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct ScriptScreenshot {
    /// The locator of the element; the page without one.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    target: Option<String>,
    /// The full page instead of the viewport.
    #[arg(long)]
    #[serde(default)]
    full_page: bool,
    /// The part to show: left, top, width and height in CSS pixels.
    #[arg(long)]
    #[serde(default)]
    clip: Vec<f64>,
    /// Locators of elements to cover.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "target"))]
    mask: Vec<String>,
    /// The colour of the covers: red, green, blue and opacity, 0 to 255.
    #[arg(long)]
    #[serde(default)]
    mask_color: Vec<u8>,
    /// A style sheet that holds for the screenshot only.
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-carries" = "code"))]
    style: Option<String>,
    /// Stop animations, and end those that have an end.
    #[arg(long)]
    #[serde(default)]
    stop_animations: bool,
    /// Show the text caret.
    #[arg(long)]
    #[serde(default)]
    show_caret: bool,
    /// Leave the white background out.
    #[arg(long)]
    #[serde(default)]
    omit_background: bool,
    /// One image pixel for each CSS pixel.
    #[arg(long)]
    #[serde(default)]
    css_scale: bool,
    /// The image format.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    format: Format,
    /// The JPEG quality, 0 to 100; 80 by default.
    #[arg(long)]
    #[serde(default)]
    quality: Option<u8>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// A screenshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ScriptScreenshotResult {
    /// The file.
    path: PathBuf,
    /// The image as base64.
    base64: String,
    /// Its width in pixels.
    width: u32,
    /// Its height in pixels.
    height: u32,
}

#[derive(Deserialize)]
struct Masked {
    elements: Vec<MaskedElement>,
}

#[derive(Deserialize)]
struct MaskedElement {
    #[serde(rename = "box")]
    place: Option<Rectangle>,
}

impl Action for ScriptScreenshot {
    const NAME: &'static str = "script_screenshot";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Execute);
    type Output = ScriptScreenshotResult;

    /// A style of the script's can load resources, so it needs what running code needs.
    fn needs(&self) -> Needs {
        Needs::page(Capability::Read)
            .showing_every_frame(true)
            .and_if(self.output.is_some(), Capability::Download, Scope::Page)
            .and_if(self.style.is_some(), Capability::Eval, Scope::Page)
    }

    async fn run(self, context: &Context) -> Result<ScriptScreenshotResult, Failure> {
        self.output.check(context)?;
        let page = context.page().await?;
        let main = page.main_frame().clone();
        let begin = json!({
            "style": self.style, "stopAnimations": self.stop_animations, "showCaret": self.show_caret,
        });
        let _: Value = page.call_in(&main, "beginScreenshot", &begin, context.deadline).await?;
        let taken = self.take(context, &page).await;
        let _: Result<Value, Failure> =
            page.call_in(&main, "endScreenshot", &json!({}), context.deadline).await;
        let (bytes, width, height) = taken?;
        let name = format!("page.{}", self.format.extension());
        let files = self.output.files(context);
        let path = files.write(FileKind::Screenshot, self.output.path(), &name, &bytes)?;
        Ok(ScriptScreenshotResult { path, base64: STANDARD.encode(bytes), width, height })
    }
}

impl ScriptScreenshot {
    async fn take(&self, context: &Context, page: &Page) -> Result<(Vec<u8>, u32, u32), Failure> {
        let element = match &self.target {
            Some(target) => Some(element_place(context, page, target).await?),
            None => None,
        };
        let layout = page.layout(context.deadline).await?;
        let part = self.part(&layout, element)?;
        let masks = self.masks(context, page).await?;
        if self.omit_background {
            set_background(context, page, &json!({"color": {"r": 0, "g": 0, "b": 0, "a": 0}})).await?;
        }
        let png = page.capture(part, context.deadline).await;
        if self.omit_background {
            set_background(context, page, &json!({})).await?;
        }
        // The part of the viewport that the image shows.
        let seen = part.map_or(Rectangle { x: 0.0, y: 0.0, ..layout.view }, |part| Rectangle {
            x: part.x - layout.view.x,
            y: part.y - layout.view.y,
            ..part
        });
        let drawing = Drawing {
            png: png?,
            seen,
            masks,
            color: self.color(),
            css_scale: self.css_scale,
            encoding: self.encoding(),
        };
        // Encoding takes long; a blocking thread keeps the other tabs running.
        let drawn = tokio::task::spawn_blocking(move || drawing.draw()).await;
        let failed =
            |error: String| Failure::new(ErrorCode::Internal, format!("Encoding the image: {error}."));
        drawn.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
    }

    /// The part of the page to capture, in page coordinates; none for the viewport.
    fn part(&self, layout: &Layout, element: Option<Rectangle>) -> Result<Option<Rectangle>, Failure> {
        let outside = |message: &str| {
            Failure::new(ErrorCode::BadArgs, message).with_remedy("Give a clip inside of the image.")
        };
        if let Some(place) = element {
            return Ok(Some(layout.on_page(place).0));
        }
        let whole =
            if self.full_page { layout.whole().0 } else { Rectangle { x: 0.0, y: 0.0, ..layout.view } };
        let &[x, y, width, height] = self.clip.as_slice() else {
            return Ok(self.full_page.then_some(whole));
        };
        let (right, bottom) = ((x + width).min(whole.width), (y + height).min(whole.height));
        let cut = Rectangle {
            x: x.max(0.0),
            y: y.max(0.0),
            width: right - x.max(0.0),
            height: bottom - y.max(0.0),
        };
        if cut.width <= 0.0 || cut.height <= 0.0 {
            return Err(outside("Clipped area is either empty or outside the resulting image"));
        }
        let (left, top) = if self.full_page { (0.0, 0.0) } else { (layout.view.x, layout.view.y) };
        Ok(Some(Rectangle { x: cut.x + left, y: cut.y + top, ..cut }))
    }

    /// The boxes of the elements to cover, in the viewport.
    async fn masks(&self, context: &Context, page: &Page) -> Result<Vec<Rectangle>, Failure> {
        let mut boxes = Vec::new();
        for target in &self.mask {
            let target = TargetArguments { target: target.clone(), nth: None };
            let resolved = page.resolve(&target, context.deadline).await?;
            let argument = json!({
                "spec": resolved.spec, "facts": ["box"], "all": true, "wait": false,
                "timeout": milliseconds_left(context.deadline),
            });
            let found: Masked =
                page.call_in(&resolved.frame, "query", &argument, with_grace(context.deadline)).await?;
            let offset = page.offset_in_tab(&resolved.frame, context.deadline).await;
            let places = found.elements.into_iter().filter_map(|element| element.place);
            boxes.extend(places.map(|place| offset.map_or(place, |offset| offset.apply(place))));
        }
        boxes.truncate(MOST_MASKS);
        Ok(boxes)
    }

    fn color(&self) -> [u8; 4] {
        match self.mask_color.as_slice() {
            &[red, green, blue, opacity] => [red, green, blue, opacity],
            _ => [255, 0, 255, 255],
        }
    }

    fn encoding(&self) -> Encoding {
        match self.format {
            Format::Png => Encoding::Png,
            Format::Jpeg => Encoding::Jpeg(self.quality.unwrap_or(80).clamp(1, 100)),
            Format::Webp => Encoding::Webp,
        }
    }
}

/// The box of the element in the viewport, after it was scrolled into view. Waits until it is visible and stable.
async fn element_place(context: &Context, page: &Page, target: &str) -> Result<Rectangle, Failure> {
    let target = TargetArguments { target: target.to_owned(), nth: None };
    let (frame, wanted) = page.find_element(&target, context.deadline).await?;
    let _: Value = page.call_in(&frame, "scroll", &json!({"key": wanted["key"]}), context.deadline).await?;
    let element = page.prepare(&target, "read", json!({"shown": true}), context.deadline).await?;
    Ok(element.info.rectangle)
}

async fn set_background(context: &Context, page: &Page, params: &Value) -> Result<(), Failure> {
    page.command("Emulation.setDefaultBackgroundColorOverride", params, context.deadline).await.map(drop)
}

/// What is drawn from the browser's image.
struct Drawing {
    png: Vec<u8>,
    seen: Rectangle,
    masks: Vec<Rectangle>,
    color: [u8; 4],
    css_scale: bool,
    encoding: Encoding,
}

impl Drawing {
    fn draw(self) -> Result<(Vec<u8>, u32, u32), tabwire_image::ImageError> {
        let mut image = Image::from_png(&self.png)?;
        if self.css_scale {
            let size = (self.seen.width.round().max(1.0), self.seen.height.round().max(1.0));
            image = image.resized(
                crate::actions::screenshot::pixels(size.0),
                crate::actions::screenshot::pixels(size.1),
            )?;
        }
        let (across, down) =
            (f64::from(image.width()) / self.seen.width, f64::from(image.height()) / self.seen.height);
        for mask in &self.masks {
            let left = ((mask.x - self.seen.x) * across).round();
            let top = ((mask.y - self.seen.y) * down).round();
            let right = ((mask.x + mask.width - self.seen.x) * across).round();
            let bottom = ((mask.y + mask.height - self.seen.y) * down).round();
            image.fill(whole(left), whole(top), whole(right - left), whole(bottom - top), self.color);
        }
        let (width, height) = (image.width(), image.height());
        let is_same = self.masks.is_empty() && !self.css_scale && self.encoding == Encoding::Png;
        let bytes = if is_same { self.png } else { image.encode(self.encoding)? };
        Ok((bytes, width, height))
    }
}

/// A coordinate in whole pixels.
#[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
fn whole(place: f64) -> i64 {
    place.clamp(-1e6, 1e6) as i64
}

impl Render for ScriptScreenshotResult {
    fn render(&self) -> String {
        self.path.display().to_string()
    }
}
