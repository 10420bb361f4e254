//! A stretch of a long text, with what is left of it. Knows nothing of where the text comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabwire_wire::{ErrorCode, Failure};

use crate::bare_value::BareValue;
use crate::limits::{READING_CHARACTERS, READING_CHARACTERS_MOST};
use crate::reading::PageReading;
use crate::snapshot::{LinkTarget, enclose, title};

/// Which stretch of a long text is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct StretchArguments {
    /// The character to start from, to go on where an earlier answer was cut.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[serde(default)]
    pub from: usize,
    /// Characters at most; 40000 unless told.
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

impl StretchArguments {
    /// Refuses what cannot be meant.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self.limit {
            Some(limit) if limit == 0 || limit > READING_CHARACTERS_MOST => {
                let message =
                    format!("An answer has 1 to {READING_CHARACTERS_MOST} characters, not {limit}.");
                Err(Failure::new(ErrorCode::BadArgs, message)
                    .with_hint("Read the page in stretches with --from and --limit."))
            }
            _ => Ok(()),
        }
    }
}

/// A stretch of a page's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Excerpt {
    /// Where the page is.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The text.
    pub text: String,
    /// How many characters there are in all.
    pub characters: usize,
    /// Whether something follows that is not in this answer.
    pub truncated: bool,
    /// The character to go on from, when something follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Frames that could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread_frames: Vec<String>,
    #[serde(skip)]
    start: usize,
}

impl Excerpt {
    /// Takes the stretch that is wanted.
    pub(crate) fn cut(reading: PageReading, stretch: StretchArguments) -> Result<Self, Failure> {
        let characters = reading.text.chars().count();
        if stretch.from > characters {
            let message =
                format!("The text has {characters} characters; it cannot start from {}.", stretch.from);
            return Err(Failure::new(ErrorCode::BadArgs, message).with_hint("Give a smaller --from."));
        }
        let limit = stretch.limit.unwrap_or(READING_CHARACTERS);
        let text: String = reading.text.chars().skip(stretch.from).take(limit).collect();
        let end = stretch.from.saturating_add(limit).min(characters);
        let truncated = end < characters || reading.is_cut;
        Ok(Self {
            url: LinkTarget::new(&reading.url).as_str().to_owned(),
            title: title(&reading.title).as_str().to_owned(),
            text,
            characters,
            truncated,
            next: (end < characters).then_some(end),
            unread_frames: reading.unread,
            start: stretch.from,
        })
    }

    /// The stretch alone.
    pub(crate) fn bare(&self) -> BareValue {
        let cut = match self.next {
            Some(next) => Some(format!(
                "This is only a part: characters {} to {next} of {}. Go on with --from {next}, or raise --limit.",
                self.start, self.characters
            )),
            None if self.truncated => {
                Some("The page has more text than can be read at once; ask for a part.".to_owned())
            }
            None => None,
        };
        BareValue::whole(self.text.clone()).with_cut(cut)
    }

    /// The stretch within its fence, and what is left.
    pub(crate) fn render(&self) -> String {
        let heading = format!("{} {}", LinkTarget::new(&self.url).within(200), title(&self.title).quoted());
        let mut body =
            if self.text.is_empty() { "(nothing to read here)".to_owned() } else { self.text.clone() };
        if !body.ends_with('\n') {
            body.push('\n');
        }
        let mut text = enclose(&heading, &body);
        if let Some(next) = self.next {
            text.push_str(&format!(
                "cut: characters {} to {next} of {}; go on with --from {next}, or ask for a part\n",
                self.start, self.characters
            ));
        } else if self.truncated {
            text.push_str("cut: the page has more text than can be read at once; ask for a part\n");
        }
        for frame in &self.unread_frames {
            text.push_str(&format!("a frame could not be read: {frame}\n"));
        }
        text.truncate(text.trim_end().len());
        text
    }
}
