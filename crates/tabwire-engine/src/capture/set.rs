//! The capture of one action: a screenshot, Markdown, HTML, console lines and changes, as files without secrets.

use futures_util::future::join4;
use serde_json::{Map, Value, json};
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;
use tabwire_image::limits::LONGEST_SIDE;
use tabwire_image::{Encoding, Image, ImageError};

use crate::capture::store::{CaptureSlot, CaptureStore, TabBaseline};
use crate::input::element::Rectangle;
use crate::limits::READING_CHARACTERS_MOST;
use crate::page::Page;
use crate::read::{PageReading, PartArguments};
use crate::secrets::fields::SecretFields;
use crate::snapshot::{LinkTarget, PageText, SnapshotRequest};

/// The colour over secrets.
const COVER: [u8; 4] = [32, 32, 32, 255];

/// One capture under construction.
pub(crate) struct Capture<'a> {
    pub(crate) page: &'a Page,
    pub(crate) store: &'a CaptureStore,
    pub(crate) set: &'a CaptureSlot,
    /// `0007-click`.
    pub(crate) stem: &'a str,
    pub(crate) deadline: Deadline,
}

/// The fields of a capture's line in the index.
#[derive(Debug, Default)]
pub(crate) struct CaptureOutcome {
    pub(crate) index: Map<String, Value>,
}

impl CaptureOutcome {
    /// Nothing was captured, for this reason.
    pub(crate) fn skipped(why: &str) -> Self {
        let mut index = Map::new();
        index.insert("skipped".to_owned(), Value::from(why));
        Self { index }
    }
}

impl Capture<'_> {
    /// Writes the files; names those that failed, with the reason.
    pub(crate) async fn gather(&self, seen: &mut TabBaseline) -> CaptureOutcome {
        let before = self.secrets().await;
        let (page, deadline) = (self.page, self.deadline);
        let whole = PartArguments::default();
        let (image, markdown, html, snapshot) = join4(
            self.view(),
            page.read_part(&whole, "readMarkdown", json!({"main": false}), (deadline, deadline)),
            page.read_part(&whole, "readHtml", json!({"clean": true}), (deadline, deadline)),
            page.view(SnapshotRequest::default(), None, deadline),
        )
        .await;
        // Check again: fields may have moved or changed meanwhile.
        let after = self.secrets().await;
        let covers = before.and_then(|before| Ok((before, after?)));
        let covers = covers.map(|(before, after)| [before.boxes, after.boxes].concat());
        let image = match (image, covers) {
            (Ok((png, view)), Ok(covers)) => redact_image(png, view, covers).await,
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
        };
        let delta = snapshot
            .map(|(snapshot, request)| seen.memory.delta(&snapshot, &request, &mut page.refs()).into_bytes());
        let location = markdown.as_ref().map(|reading| (reading.url.clone(), reading.title.clone())).ok();
        let files = [
            ("png", image),
            ("md", markdown.map(text_of)),
            ("html", html.map(text_of)),
            ("console.txt", Ok(self.console(seen))),
            ("delta.txt", delta),
        ];
        let mut outcome = self.write(files);
        if let Some((url, title)) = location {
            outcome.index.insert("url".to_owned(), Value::from(LinkTarget::new(&url).as_str()));
            outcome.index.insert("title".to_owned(), Value::from(PageText::new(&title).as_str()));
        }
        outcome
    }

    /// The current secret fields; adds their values to the redaction.
    async fn secrets(&self) -> Result<SecretFields, Failure> {
        let known = self.store.with_redaction(|redaction| redaction.known());
        let fields = self.page.secret_fields(&known, self.deadline).await?;
        self.store.with_redaction(|redaction| fields.values.iter().for_each(|value| redaction.learn(value)));
        Ok(fields)
    }

    async fn view(&self) -> Result<(Vec<u8>, Rectangle), Failure> {
        let layout = self.page.layout(self.deadline).await?;
        Ok((self.page.capture(None, self.deadline).await?, layout.view))
    }

    fn console(&self, seen: &mut TabBaseline) -> Vec<u8> {
        let log = self.page.state().console();
        let mut text = String::new();
        let policy = self.page.session().policy();
        for entry in log.since(seen.console).filter(|entry| entry.refused_by(policy).is_none()) {
            let location = entry.location.as_deref().map(LinkTarget::new);
            text.push_str(&format!("{} {}", entry.level, PageText::cut(&entry.text, usize::MAX).quoted()));
            if let Some(location) = location {
                text.push_str(&format!(" at {}", location.within(120)));
            }
            text.push('\n');
        }
        seen.console = log.count();
        text.into_bytes()
    }

    fn write<const N: usize>(&self, files: [(&'static str, Result<Vec<u8>, Failure>); N]) -> CaptureOutcome {
        let (mut names, mut missing) = (Vec::new(), Map::new());
        for (ending, content) in files {
            let name = format!("{}.{ending}", self.stem);
            let written = content.and_then(|content| {
                let content = if ending == "png" { content } else { self.without_secrets(&content) };
                self.set.folder.create(&name)?.add(&content)
            });
            match written {
                Ok(()) => names.push(Value::from(name)),
                Err(failure) => drop(missing.insert(ending.to_owned(), Value::from(failure.message))),
            }
        }
        let mut index = Map::new();
        index.insert("files".to_owned(), Value::from(names));
        if !missing.is_empty() {
            index.insert("missing".to_owned(), Value::from(missing));
        }
        CaptureOutcome { index }
    }

    fn without_secrets(&self, content: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(content);
        self.store.with_redaction(|redaction| redaction.clean(&text)).into_bytes()
    }
}

fn text_of(reading: PageReading) -> Vec<u8> {
    reading.text.chars().take(READING_CHARACTERS_MOST).collect::<String>().into_bytes()
}

/// Shrinks a screenshot to CSS pixels and paints over secrets.
async fn redact_image(png: Vec<u8>, view: Rectangle, covers: Vec<Rectangle>) -> Result<Vec<u8>, Failure> {
    let work = move || -> Result<Vec<u8>, ImageError> {
        let image = Image::from_png(&png)?;
        let (width, height) =
            (pixels(view.width).min(image.width()), pixels(view.height).min(image.height()));
        let (width, height) = Image::size_within(width, height, LONGEST_SIDE);
        let mut image = image.resized(width, height)?;
        let (across, down) = (f64::from(width) / view.width, f64::from(height) / view.height);
        for cover in covers {
            let left = whole(cover.x * across) - 1;
            let top = whole(cover.y * down) - 1;
            let (width, height) = (whole(cover.width * across) + 3, whole(cover.height * down) + 3);
            image.fill(left, top, width, height, COVER);
        }
        image.encode(Encoding::Png)
    };
    // Runs on a blocking thread: image work is slow.
    let worked = tokio::task::spawn_blocking(work).await;
    let lost = |error: &dyn std::fmt::Display| {
        Failure::new(ErrorCode::Internal, format!("The screenshot could not be processed: {error}"))
    };
    worked.map_err(|error| lost(&error))?.map_err(|error| lost(&error))
}

/// A length on the page in whole pixels.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn pixels(length: f64) -> u32 {
    length.round().clamp(1.0, 100_000.0) as u32
}

/// A coordinate in an image in whole pixels.
#[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
fn whole(coordinate: f64) -> i64 {
    coordinate.round().clamp(-1e6, 1e6) as i64
}
