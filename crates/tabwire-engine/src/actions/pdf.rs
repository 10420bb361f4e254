//! `pdf`: prints the page to a PDF file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::files::FileKind;
use crate::media::screenshot::read_stream;

/// Bytes of a PDF.
const PDF_BYTES: usize = 256 * 1024 * 1024;

/// Print the page to a PDF file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct Pdf {
    /// The paper.
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    paper: Paper,
    /// Landscape format.
    #[arg(long)]
    #[serde(default)]
    landscape: bool,
    /// Margins: one length, or top,right,bottom,left; as 1cm, 10mm, 0.4in or 20px.
    #[arg(long, value_name = "LENGTHS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    margin: Option<String>,
    /// Print colours and images behind the text too.
    #[arg(long)]
    #[serde(default)]
    background: bool,
    /// Only these pages: 1-3,5.
    #[arg(long, value_name = "RANGES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "text"))]
    pages: Option<String>,
    /// The scale, 0.1 to 2.
    #[arg(long, value_name = "FACTOR")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
}

/// Paper to print on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Paper {
    /// 210 x 297 mm.
    #[default]
    A4,
    /// 297 x 420 mm.
    A3,
    /// 148 x 210 mm.
    A5,
    /// 8.5 x 11 in.
    Letter,
    /// 8.5 x 14 in.
    Legal,
    /// 11 x 17 in.
    Tabloid,
    /// The size that the page's CSS (`@page`) requests.
    Page,
}

impl Paper {
    /// Width and height in inches.
    const fn size(self) -> (f64, f64) {
        match self {
            Self::A3 => (11.693, 16.535),
            Self::A5 => (5.827, 8.268),
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::A4 | Self::Page => (8.268, 11.693),
        }
    }
}

/// A printed page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PdfResult {
    /// The file.
    path: PathBuf,
    /// How large the file is.
    bytes: usize,
}

impl Action for Pdf {
    const NAME: &'static str = "pdf";
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire pdf -o page.pdf", "Print the page to a file."),
        Example::new(
            "tabwire pdf --paper letter --pages 1-2 --raw",
            "Print two pages; output only the file's path.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Files).hiding(&["force"]).with_timeout();
    type Output = PdfResult;

    fn needs(&self) -> Needs {
        Needs::page(Capability::Read).showing_every_frame(true).and_if(
            self.output.is_some(),
            Capability::Download,
            Scope::Page,
        )
    }

    async fn run(self, context: &Context) -> Result<PdfResult, Failure> {
        #[derive(Deserialize)]
        struct PdfStream {
            stream: String,
        }
        let [top, right, bottom, left] = margins(self.margin.as_deref().unwrap_or("0.4in"))?;
        check_pages(self.pages.as_deref().unwrap_or_default())?;
        let scale = self.scale.unwrap_or(1.0);
        if !(0.1..=2.0).contains(&scale) {
            return Err(Failure::new(ErrorCode::BadArgs, format!("`scale` must be 0.1 to 2, not {scale}."))
                .with_remedy("Give a scale such as 0.8."));
        }
        self.output.check(context)?;
        let page = context.page().await?;
        let (width, height) = self.paper.size();
        let params = json!({
            "landscape": self.landscape, "printBackground": self.background, "scale": scale,
            "paperWidth": width, "paperHeight": height, "preferCSSPageSize": self.paper == Paper::Page,
            "marginTop": top, "marginRight": right, "marginBottom": bottom, "marginLeft": left,
            "pageRanges": self.pages.unwrap_or_default(), "transferMode": "ReturnAsStream",
        });
        page.check_documents()?;
        let watch = page.start_screenshot_check();
        let response =
            page.command("Page.printToPDF", &params, context.deadline).await.map_err(page_range_failure)?;
        let streamed: PdfStream = serde_json::from_value(response)
            .map_err(|error| Failure::new(ErrorCode::CdpError, format!("Page.printToPDF: {error}.")))?;
        let bytes = read_stream(&page, &streamed.stream, PDF_BYTES, context.deadline).await?;
        watch.finish(context.deadline).await?;
        let path = self.output.files(context).write(FileKind::Pdf, self.output.path(), "page.pdf", &bytes)?;
        Ok(PdfResult { path, bytes: bytes.len() })
    }
}

/// Chrome reports pages that do not exist with "Page range exceeds page count".
fn page_range_failure(failure: Failure) -> Failure {
    if failure.message.contains("Page range") {
        return Failure::new(ErrorCode::BadArgs, "The PDF has fewer pages than `pages` names.")
            .with_remedy(Remedy::new("Leave {} out to print all pages.", [Step::argument("pages")]));
    }
    failure
}

/// Margins in inches: top, right, bottom, left.
fn margins(text: &str) -> Result<[f64; 4], Failure> {
    let bad = || {
        Failure::new(ErrorCode::BadArgs, format!("Invalid margin `{text}`.")).with_remedy(
            "Give one length or four, as 1cm or 10mm,5mm,10mm,5mm; the units are cm, mm, in, px.",
        )
    };
    let lengths: Option<Vec<f64>> = text.split(',').map(|one| inches(one.trim())).collect();
    match lengths.as_deref() {
        Some([all]) => Ok([*all; 4]),
        Some([top, right, bottom, left]) => Ok([*top, *right, *bottom, *left]),
        _ => Err(bad()),
    }
}

fn inches(text: &str) -> Option<f64> {
    let units = [("cm", 2.54), ("mm", 25.4), ("in", 1.0), ("px", 96.0)];
    let (number, per_inch) = units
        .iter()
        .find_map(|(unit, per_inch)| Some((text.strip_suffix(unit)?, *per_inch)))
        .or((text == "0").then_some(("0", 1.0)))?;
    let length: f64 = number.trim().parse().ok()?;
    (0.0..=20.0).contains(&(length / per_inch)).then_some(length / per_inch)
}

fn check_pages(text: &str) -> Result<(), Failure> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    let is_range = |part: &str| match part.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
        None => number(part).is_some(),
    };
    if text.is_empty() || text.split(',').all(is_range) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::BadArgs, format!("Invalid page range `{text}`."))
        .with_remedy("Give page numbers and ranges such as 1-3,5."))
}

impl Render for PdfResult {
    fn render(&self) -> String {
        format!("{}\n{} bytes", self.path.display(), self.bytes)
    }

    fn bare(&self) -> Option<BareValue> {
        Some(BareValue::path(&self.path))
    }
}
