//! `download_file`: saves what an address or an element leads to, and answers when the whole file is there.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;
use tabwire_policy::{Capability, Needs, Scope};

use crate::action::context::Context;
use crate::action::result::BareValue;
use crate::action::{Action, Effect, Example, Render, ToolGroup, ToolOptions};
use crate::actions::click::click_element;
use crate::download::log::{Download, DownloadState};
use crate::download::manager::size_reason;
use crate::download::tab::{DownloadTab, not_downloaded};
use crate::download::wait::{StartedDownloads, await_end};
use crate::input::element::TargetArguments;
use crate::input::mouse::Click;
use crate::limits::{DOWNLOAD_BEGINS, DOWNLOAD_BYTES};
use crate::page::Page;
use crate::settle::InputAction;

/// Download a file, by its address or by clicking an element.
///
/// An address is fetched by the browser with its cookies, in no tab that anybody sees. The response comes when the whole
/// file is in its place.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct DownloadFile {
    /// An address (http, https, data, blob), or an element to click: a ref (e12), a CSS selector, text=, role=, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target_or_url"))]
    target: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nth: Option<u32>,
    /// An address, which may be relative to the page's.
    #[arg(long, value_name = "URL", conflicts_with_all = ["target", "nth"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "url"))]
    url: Option<String>,
    /// Where to put it: a file that is not there yet, or a directory, below a declared root. Left out: our own
    /// directory.
    #[arg(long, value_name = "PATH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "file_written"))]
    path: Option<PathBuf>,
    /// Give up when the file is larger; 256 MiB if left out.
    #[arg(long, value_name = "BYTES")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_bytes: Option<u64>,
}

/// A file that was downloaded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Downloaded {
    #[serde(flatten)]
    download: Download,
}

/// What is to be downloaded.
enum Wanted {
    Address(String),
    Element(TargetArguments),
}

/// Cancels a download that nobody waits for any more.
struct Waiting<'a> {
    context: &'a Context,
    guid: &'a str,
}

impl Drop for Waiting<'_> {
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
        Example::new("tabwire download-file e8", "Click a link and keep what it downloads.").in_skill(),
        Example::new(
            "tabwire download-file --url /report.pdf --path report.pdf",
            "Fetch an address with the page's login.",
        ),
    ];
    const TOOL: ToolOptions = ToolOptions::new(ToolGroup::Default)
        .described("Download a file by its URL, or by clicking an element")
        .with_timeout();
    type Output = Downloaded;

    fn needs(&self) -> Needs {
        let page = Needs::page(Capability::Download);
        match self.wanted() {
            Ok(Wanted::Address(url)) if url.starts_with("data:") || url.starts_with("blob:") => page,
            Ok(Wanted::Address(url)) => page.and(Capability::Download, Scope::Url(url)),
            Ok(Wanted::Element(_)) | Err(_) => page.and(Capability::Act, Scope::Page),
        }
    }

    async fn run(self, context: &Context) -> Result<Downloaded, Failure> {
        let wanted = self.wanted()?;
        if let Some(path) = &self.path {
            context.files.check_output(path)?;
        }
        let page = context.page().await?;
        let downloads = context.browser.downloads();
        let _borrowed = downloads.borrow_downloads(&context.files);
        let download = match wanted {
            Wanted::Element(target) => self.click(context, &page, &target).await?,
            Wanted::Address(address) => {
                let address: Address =
                    page.call("resolveUrl", &json!({"url": address}), context.deadline).await?;
                match address.url.split_once(':').map(|(scheme, _)| scheme) {
                    Some("http" | "https") => self.fetch(context, &page, &address.url).await?,
                    Some("data" | "blob") => self.save(context, &page, &address.url).await?,
                    _ => return Err(bad_address(&address.url)),
                }
            }
        };
        let Some(path) = self.path else { return Ok(Downloaded { download }) };
        let put = downloads.put(&download.guid, Arc::clone(&context.files), path).await?;
        Ok(Downloaded { download: Download { path: Some(put.display().to_string()), ..download } })
    }
}

/// An address as the page understands it.
#[derive(Deserialize)]
struct Address {
    url: String,
}

impl DownloadFile {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let is_address = |text: &str| {
            ["http://", "https://", "data:", "blob:"].iter().any(|scheme| text.starts_with(scheme))
        };
        match (&self.target, &self.url) {
            (Some(target), None) if is_address(target) => Ok(Wanted::Address(target.clone())),
            (Some(target), None) => {
                Ok(Wanted::Element(TargetArguments { target: target.clone(), nth: self.nth }))
            }
            (None, Some(url)) => Ok(Wanted::Address(url.clone())),
            _ => {
                Err(Failure::new(ErrorCode::BadArgs, "Either an element or an address is to be downloaded.")
                    .with_remedy("Give a ref such as e12, a selector or a URL."))
            }
        }
    }

    fn limit(&self) -> u64 {
        self.max_bytes.unwrap_or(DOWNLOAD_BYTES)
    }

    /// Clicks and waits for what comes of it.
    async fn click(
        &self,
        context: &Context,
        page: &Page,
        target: &TargetArguments,
    ) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let action = InputAction::on(context, page);
        let element = page.prepare(target, "click", json!({"guard": true}), context.deadline).await?;
        let point = element.info.point;
        let clicking = Click::at(point);
        // Large files are stopped while the click settles.
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
                return Err(not_downloaded("the page went elsewhere instead")
                    .with_remedy("Download what it shows by its URL."));
            }
            Ok(())
        };
        let (begun, ()) = tokio::try_join!(page.unless_blocked(async { Ok(begun.await) }), clicked)?;
        let begun = begun.ok_or_else(|| {
            not_downloaded(&format!("nothing came of the click on {}", element.description()))
        })?;
        self.finish(context, page, &begun.guid).await
    }

    /// Fetches an address in a tab of our own.
    async fn fetch(&self, context: &Context, page: &Page, url: &str) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let jar = context.browser.context_of(page.target());
        let tab = page.unless_blocked(DownloadTab::open(&context.browser, jar.as_ref())).await?;
        page.unless_blocked(tab.download(url, context.deadline)).await?;
        let frame = FrameId::new(tab.target().as_str());
        self.await_begun(context, page, &story, &frame).await
    }

    /// Saves what only the page itself can read.
    async fn save(&self, context: &Context, page: &Page, url: &str) -> Result<Download, Failure> {
        let story = StartedDownloads::begin(&context.browser);
        let () = page.call("downloadUrl", &json!({"url": url}), context.deadline).await?;
        self.await_begun(context, page, &story, page.main_frame()).await
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
        let begun = begun.ok_or_else(|| not_downloaded("the browser told of none"))?;
        context.browser.downloads().limit(&begun.guid, self.limit());
        self.finish(context, page, &begun.guid).await
    }

    /// Waits until the whole file is there.
    async fn finish(&self, context: &Context, page: &Page, guid: &str) -> Result<Download, Failure> {
        let waiting = Waiting { context, guid };
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
            return Err(failed(download.reason.clone().unwrap_or_else(|| "it broke off".to_owned())));
        }
        if download.bytes > self.limit() {
            // It was there before it could be stopped.
            context.browser.downloads().discard(guid);
            return Err(failed(size_reason(download.bytes, self.limit())));
        }
        Ok(download)
    }
}

fn bad_address(url: &str) -> Failure {
    let scheme = url.split(':').next().unwrap_or_default();
    Failure::new(ErrorCode::BadArgs, format!("An address of the kind {scheme:?} cannot be downloaded."))
        .with_remedy("Give an http, https, data or blob address.")
}

impl Render for Downloaded {
    fn render(&self) -> String {
        format!("downloaded {}", self.download.line())
    }

    fn bare(&self) -> Option<BareValue> {
        self.download.path.clone().map(BareValue::whole)
    }
}
