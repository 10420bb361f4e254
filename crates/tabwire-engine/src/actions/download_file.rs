//! `download_file`: downloads a file by its URL or by clicking an element, and returns when it is complete.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::output::OutputArguments;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::click::click_element;
use crate::download::log::{Download, DownloadState, safe_url};
use crate::download::manager::size_reason;
use crate::download::mime_type::{mime_type_in, mime_type_of_data};
use crate::download::tab::{DownloadTab, not_downloaded};
use crate::download::wait::{StartedDownloads, await_end};
use crate::input::element::TargetArguments;
use crate::input::mouse::Click;
use crate::limits::DOWNLOAD_BYTES;
use crate::page::Page;
use crate::settle::InputAction;

/// How long a click may take to start a download.
const DOWNLOAD_BEGINS: Duration = Duration::from_secs(10);

/// Download a file by its URL, or by clicking an element.
///
/// The browser fetches a URL with its cookies, in a hidden tab. Returns when the file is complete.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct DownloadFile {
    /// A URL (http, https, data, blob), or an element to click: a ref (e12), a CSS selector, text=, role=, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target_or_url"))]
    target: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
    /// A URL; relative to the page's URL if it has no scheme.
    #[arg(long, value_name = "URL", conflicts_with_all = ["target", "nth"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    url: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    output: OutputArguments,
    /// The maximum size; 256 MiB by default.
    #[arg(long, value_name = "BYTES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_bytes: Option<u64>,
}

/// A downloaded file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DownloadResult {
    #[serde(flatten)]
    download: Download,
}

/// What to download.
enum DownloadSource {
    Url(String),
    Element(TargetArguments),
}

/// Cancels the download when the action that waits for it ends early.
struct CancelOnDrop<'a> {
    context: &'a Context,
    guid: &'a str,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let is_over =
            self.context.browser.downloads().log().entries().find(self.guid).is_none_or(Download::is_over);
        if !is_over {
            self.context.browser.downloads().cancel(self.guid, "it took too long");
        }
    }
}

impl Action for DownloadFile {
    const NAME: &'static str = "download_file";
    const EFFECT: Effect = Effect::Files;
    const EXAMPLES: &'static [Example] = &[
        Example::new("tabwire download-file e8", "Click a link and save the file that it downloads.")
            .in_skill(),
        Example::new(
            "tabwire download-file --url /report.pdf -o report.pdf",
            "Fetch a URL with the page's cookies.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Download a file by its URL, or by clicking an element")
        .hiding(&["force"])
        .with_timeout();
    type Output = DownloadResult;

    fn needs(&self) -> Needs {
        let page = Needs::page(Capability::Download);
        match self.wanted() {
            Ok(DownloadSource::Url(url)) if url.starts_with("data:") || url.starts_with("blob:") => page,
            Ok(DownloadSource::Url(url)) => page.and(Capability::Download, Scope::Url(url)),
            Ok(DownloadSource::Element(_)) | Err(_) => page.and(Capability::Act, Scope::Page),
        }
    }

    async fn run(self, context: &Context) -> Result<DownloadResult, Failure> {
        let wanted = self.wanted()?;
        self.output.check(context)?;
        let page = context.page().await?;
        let downloads = context.browser.downloads();
        let _borrowed = downloads.borrow_downloads(&context.files);
        let download = match wanted {
            DownloadSource::Element(target) => self.click(context, &page, &target).await?,
            DownloadSource::Url(url) => {
                let resolved: ResolvedUrl =
                    page.call("resolveUrl", &json!({"url": url}), context.deadline).await?;
                match resolved.url.split_once(':').map(|(scheme, _)| scheme) {
                    Some("http" | "https") => self.fetch(context, &page, &resolved.url).await?,
                    Some("data" | "blob") => self.save(context, &page, &resolved.url).await?,
                    _ => return Err(bad_scheme(&resolved.url)),
                }
            }
        };
        let files = self.output.files(context);
        let Some(path) = self.output.output else { return Ok(DownloadResult { download }) };
        let put = downloads.put(&download.guid, files, path).await?;
        Ok(DownloadResult { download: Download { path: Some(put.display().to_string()), ..download } })
    }
}

/// An absolute URL.
#[derive(Deserialize)]
struct ResolvedUrl {
    url: String,
}

impl DownloadFile {
    fn wanted(&self) -> Result<DownloadSource, Failure> {
        let is_address = |text: &str| {
            ["http://", "https://", "data:", "blob:"].iter().any(|scheme| text.starts_with(scheme))
        };
        match (&self.target, &self.url) {
            (Some(target), None) if is_address(target) => Ok(DownloadSource::Url(target.clone())),
            (Some(target), None) => {
                Ok(DownloadSource::Element(TargetArguments { target: target.clone(), nth: self.nth }))
            }
            (None, Some(url)) => Ok(DownloadSource::Url(url.clone())),
            _ => Err(Failure::new(ErrorCode::BadArgs, "An element or a URL is required.")
                .with_remedy("Give a ref such as e12, a selector or a URL.")),
        }
    }

    fn limit(&self) -> u64 {
        self.max_bytes.unwrap_or(DOWNLOAD_BYTES)
    }

    /// Clicks the element and waits for the download that the click starts.
    async fn click(
        &self,
        context: &Context,
        page: &Page,
        target: &TargetArguments,
    ) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let logged = page.network().log().count();
        let action = InputAction::on(context, page);
        let element = page.prepare(target, "click", json!({"guard": true}), context.deadline).await?;
        let point = element.info.point;
        let clicking = Click::at(point);
        // Set the size limit while the click still settles, so that a large file stops early.
        let begun = async {
            let until =
                Deadline::at(context.deadline.instant().min(tokio::time::Instant::now() + DOWNLOAD_BEGINS));
            let begun = story.first(page, &context.browser, until).await;
            if let Some(begun) = &begun {
                context.browser.downloads().limit(&begun.guid, self.limit());
            }
            begun
        };
        let clicked = async {
            let changes = click_element(action, &element, &clicking).await?;
            if let Some(dialog) = &changes.dialog {
                return Err(dialog.to_failure());
            }
            if changes.navigated && changes.downloads.is_empty() {
                return Err(not_downloaded("the page navigated instead")
                    .with_remedy("Download the new page by its URL."));
            }
            Ok(())
        };
        let (begun, ()) = tokio::try_join!(page.unless_blocked(async { Ok(begun.await) }), clicked)?;
        let begun = begun.ok_or_else(|| {
            not_downloaded(&format!("the click on {} started no download", element.description()))
        })?;
        let download = self.finish(context, page, &begun.guid).await?;
        let mime_type = type_in_log(page, logged, &download.url);
        Ok(with_type(context, download, mime_type))
    }

    /// Fetches a URL in a hidden tab.
    async fn fetch(&self, context: &Context, page: &Page, url: &str) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let jar = context.browser.context_of(page.target());
        let tab = page.unless_blocked(DownloadTab::open(&context.browser, jar.as_ref())).await?;
        let mime_type = page.unless_blocked(tab.download(url, context.deadline)).await?;
        let frame = FrameId::new(tab.target().as_str());
        let download = self.await_begun(context, page, &story, &frame).await?;
        Ok(with_type(context, download, mime_type))
    }

    /// Saves a `data:` or `blob:` URL, which only the page itself can read.
    async fn save(&self, context: &Context, page: &Page, url: &str) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let () = page.call("downloadUrl", &json!({"url": url}), context.deadline).await?;
        let download = self.await_begun(context, page, &story, page.main_frame()).await?;
        Ok(with_type(context, download, mime_type_of_data(url)))
    }

    async fn await_begun(
        &self,
        context: &Context,
        page: &Page,
        story: &StartedDownloads,
        frame: &FrameId,
    ) -> Result<Download, Failure> {
        let until =
            Deadline::at(context.deadline.instant().min(tokio::time::Instant::now() + DOWNLOAD_BEGINS));
        let begun =
            page.unless_blocked(async { Ok(story.first_in(frame, &context.browser, until).await) }).await?;
        let begun = begun.ok_or_else(|| not_downloaded("the browser reported no download"))?;
        context.browser.downloads().limit(&begun.guid, self.limit());
        self.finish(context, page, &begun.guid).await
    }

    /// Waits until the file is complete.
    async fn finish(&self, context: &Context, page: &Page, guid: &str) -> Result<Download, Failure> {
        let waiting = CancelOnDrop { context, guid };
        let ended = await_end(&context.browser, guid, context.deadline);
        let ended = page.unless_blocked(async { Ok(ended.await) }).await?;
        let Some(download) = ended else {
            let so_far = context.browser.downloads().log().entries().find(guid).map(Download::line);
            drop(waiting);
            let message = format!(
                "The download was not complete in time and was cancelled: {}.",
                so_far.unwrap_or_default()
            );
            return Err(Failure::new(ErrorCode::Timeout, message).with_remedy("Allow more time."));
        };
        let failed = |reason: String| {
            Failure::new(
                ErrorCode::DownloadFailed,
                format!("The download of {:?} failed: {reason}.", download.name),
            )
            .with_remedy(Remedy::new("Try again; raise {} for a larger file.", [Step::argument("max_bytes")]))
        };
        if download.state == DownloadState::Failed {
            return Err(failed(download.reason.clone().unwrap_or_else(|| "it was interrupted".to_owned())));
        }
        if download.bytes > self.limit() {
            // The file was complete before the size limit could stop it.
            context.browser.downloads().discard(guid);
            return Err(failed(size_reason(download.bytes, self.limit())));
        }
        Ok(download)
    }
}

/// The MIME type of the last response of a URL in the page's log, after the given number of requests.
fn type_in_log(page: &Page, after: u64, url: &str) -> Option<String> {
    let log = page.network().log();
    let found = log.since(after).filter(|entry| safe_url(&entry.url) == url).last();
    found.and_then(|entry| mime_type_in(entry.content_type()))
}

/// The download with the MIME type that its response says, if it is known.
fn with_type(context: &Context, mut download: Download, mime_type: Option<String>) -> Download {
    if let Some(mime_type) = mime_type {
        context.browser.downloads().log().set_mime_type(&download.guid, mime_type.clone());
        download.mime_type = Some(mime_type);
    }
    download
}

fn bad_scheme(url: &str) -> Failure {
    let scheme = url.split(':').next().unwrap_or_default();
    Failure::new(ErrorCode::BadArgs, format!("A URL with the scheme {scheme:?} cannot be downloaded."))
        .with_remedy("Give an http, https, data or blob URL.")
}

impl Render for DownloadResult {
    fn render(&self) -> String {
        format!("downloaded {}", self.download.line())
    }

    fn bare(&self) -> Option<BareValue> {
        self.download.path.clone().map(BareValue::whole)
    }
}
