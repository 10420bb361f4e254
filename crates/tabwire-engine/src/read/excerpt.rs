//! A range of a long text, with the position to continue from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::action::result::BareValue;
use crate::limits::{READING_CHARACTERS, READING_CHARACTERS_MOST};
use crate::read::PageReading;
use crate::snapshot::{LinkTarget, enclose, title};

/// The range of a long text to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct RangeArguments {
    /// The character to start from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[serde(default)]
    pub from: usize,
    /// Most characters to return (default 40000).
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

impl RangeArguments {
    /// Rejects invalid ranges.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self.limit {
            Some(limit) if limit == 0 || limit > READING_CHARACTERS_MOST => {
                let message =
                    format!("`limit` must be between 1 and {READING_CHARACTERS_MOST}, not {limit}.");
                Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
                    "Read the page in ranges with {} and {}.",
                    [Step::argument("from"), Step::argument("limit")],
                )))
            }
            _ => Ok(()),
        }
    }
}

/// A range of a page's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Excerpt {
    /// The URL of the page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The text.
    pub text: String,
    /// Total number of characters.
    pub characters: usize,
    /// Whether the text continues after this range.
    pub truncated: bool,
    /// The character to continue from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Frames that could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread_frames: Vec<String>,
    #[serde(skip)]
    start: usize,
}

impl Excerpt {
    /// Takes the requested range.
    pub(crate) fn cut(reading: PageReading, range: RangeArguments) -> Result<Self, Failure> {
        let characters = reading.text.chars().count();
        if range.from > characters {
            let message =
                format!("The text has {characters} characters; it cannot start from {}.", range.from);
            return Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy(Remedy::new("Use a smaller {}.", [Step::argument("from")])));
        }
        let limit = range.limit.unwrap_or(READING_CHARACTERS);
        let text: String = reading.text.chars().skip(range.from).take(limit).collect();
        let end = range.from.saturating_add(limit).min(characters);
        let truncated = end < characters || reading.is_cut;
        Ok(Self {
            url: LinkTarget::new(&reading.url).as_str().to_owned(),
            title: title(&reading.title).as_str().to_owned(),
            text,
            characters,
            truncated,
            next: (end < characters).then_some(end),
            unread_frames: reading.unread,
            start: range.from,
        })
    }

    /// The range alone.
    pub(crate) fn bare(&self) -> BareValue {
        let cut = match self.next {
            Some(next) => Some(format!(
                "This is only a part: characters {} to {next} of {}. Continue with `from` {next}, or raise `limit`.",
                self.start, self.characters
            )),
            None if self.truncated => {
                Some("The page has more text than can be read at once; request a part of it.".to_owned())
            }
            None => None,
        };
        BareValue::whole(self.text.clone()).with_cut(cut)
    }

    /// The range inside its fence, with the remaining length.
    pub(crate) fn render(&self) -> String {
        let heading = format!("{} {}", LinkTarget::new(&self.url).within(200), title(&self.title).quoted());
        let mut body = if self.text.is_empty() { "(no text)".to_owned() } else { self.text.clone() };
        if !body.ends_with('\n') {
            body.push('\n');
        }
        let mut text = enclose(&heading, &body);
        if let Some(next) = self.next {
            text.push_str(&format!(
                "cut: characters {} to {next} of {}; go on with `from` {next}, or ask for a part\n",
                self.start, self.characters
            ));
        } else if self.truncated {
            text.push_str("cut: the page has more text than can be read at once; request a part of it\n");
        }
        for frame in &self.unread_frames {
            text.push_str(&format!("a frame could not be read: {frame}\n"));
        }
        text.truncate(text.trim_end().len());
        text
    }
}
