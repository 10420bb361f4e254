//! Reads a page or an element across frames.

pub(crate) mod excerpt;

use std::collections::HashMap;

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, FrameId, Remedy, Step};
use tabwire_cdp::Deadline;

use crate::cdp::ResponseFuture;
use crate::input::element::TargetArguments;
use crate::input::locator::Locator;
use crate::page::Page;
use crate::snapshot::{PageText, harmless_lines};

/// The part of the page to read; none for the whole page or the selected frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::Args)]
pub(crate) struct PartArguments {
    /// The element: a ref (e12), a CSS selector, or text=, role=, label=, placeholder=, title=, testid=, xpath= (default: the
    /// whole page).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-carries" = "target"))]
    pub target: Option<String>,
    /// Which of several matches, counted from 1.
    #[arg(long, value_name = "N", requires = "target")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

impl PartArguments {
    /// The target element, if there is one.
    pub(crate) fn element(&self) -> Result<Option<TargetArguments>, Failure> {
        match &self.target {
            Some(target) => Ok(Some(TargetArguments { target: target.clone(), nth: self.nth })),
            None if self.nth.is_some() => Err(Failure::new(
                ErrorCode::BadArgs,
                "`nth` chooses among matches of a target, and there is none.",
            )
            .with_remedy(Remedy::new(
                "Set {}, or leave out {}.",
                [Step::argument("target"), Step::argument("nth")],
            ))),
            None => Ok(None),
        }
    }
}

/// The text of a page with its frames in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageReading {
    pub(crate) url: String,
    pub(crate) title: String,
    /// Untrusted page text.
    pub(crate) text: String,
    /// Whether some of it exceeded the limit of one response.
    pub(crate) is_cut: bool,
    /// Frames that could not be read, and why.
    pub(crate) unread: Vec<String>,
    /// Other fields of the first frame's response.
    pub(crate) more: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct FrameText {
    #[serde(default)]
    url: String,
    #[serde(default, deserialize_with = "crate::snapshot::read_title")]
    title: String,
    text: String,
    #[serde(default)]
    length: usize,
    #[serde(flatten)]
    more: serde_json::Map<String, Value>,
}

/// Surrounds a frame id where the text of the frame belongs.
const MARK: char = '\0';

impl Page {
    /// An element for the agent: the frame to call, and what to add to the argument.
    pub(crate) async fn find_element(
        &self,
        target: &TargetArguments,
        deadline: Deadline,
    ) -> Result<(FrameId, Value), Failure> {
        if let Locator::Ref(given) = Locator::parse(&target.target)? {
            let handle = self.find_ref(given)?;
            return Ok((handle.frame, json!({"key": handle.key, "document": handle.document})));
        }
        let element = self.prepare(target, "read", json!({}), deadline).await?;
        Ok((element.frame.clone(), json!({"key": element.key()})))
    }

    /// Reads the page or a part of it with an agent function that returns text. The deadlines are those of finding the
    /// part and of reading it.
    pub(crate) async fn read_part(
        &self,
        part: &PartArguments,
        function: &'static str,
        argument: Value,
        (find, deadline): (Deadline, Deadline),
    ) -> Result<PageReading, Failure> {
        let (frame, wanted) = match part.element()? {
            None => (self.scope(deadline).await?, Value::Null),
            Some(target) => self.find_element(&target, find).await?,
        };
        let mut whole = argument.clone();
        for (name, value) in wanted.as_object().into_iter().flatten() {
            whole[name.as_str()] = value.clone();
        }
        let mut begun = HashMap::new();
        let mut first: Option<FrameText> = None;
        for is_last in [false, true] {
            self.name_frames(deadline).await?;
            if wanted.is_null() {
                begun = self.begin_frames(function, &argument, deadline);
            }
            let response: FrameText = self.call_in(&frame, function, &whole, deadline).await?;
            // A frame without an id was added while the page was read.
            let is_whole = is_last || !response.text.contains("\0\0");
            first = Some(response);
            if is_whole {
                break;
            }
        }
        let Some(first) = first else { return Err(Failure::new(ErrorCode::Internal, "Nothing was read.")) };
        self.stitch(first, begun, function, &argument, deadline).await
    }

    /// Sends every frame element its id, so that frame text can be put in place.
    async fn name_frames(&self, deadline: Deadline) -> Result<(), Failure> {
        let frames = self.session().readable_roots();
        if frames.len() < 2 {
            return Ok(());
        }
        let named = frames.iter().map(|frame| self.session().register_frame_owner(frame, deadline));
        // A frame that cannot be named is reported as unread.
        self.unless_blocked(async {
            join_all(named).await;
            Ok(())
        })
        .await
    }

    /// Reads the cross-origin frames concurrently.
    fn begin_frames(
        &self,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> HashMap<FrameId, ResponseFuture<Value>> {
        let frames =
            self.session().readable_roots().into_iter().filter(|frame| frame.id != *self.main_frame());
        frames
            .map(|frame| {
                let reply = self.session().call(&frame.id, function, argument, deadline);
                (frame.id, reply)
            })
            .collect()
    }

    async fn stitch(
        &self,
        first: FrameText,
        mut begun: HashMap<FrameId, ResponseFuture<Value>>,
        function: &'static str,
        argument: &Value,
        deadline: Deadline,
    ) -> Result<PageReading, Failure> {
        let mut reading = PageReading {
            url: first.url,
            title: first.title,
            text: String::new(),
            is_cut: first.length > first.text.chars().count().max(first.text.len()),
            unread: Vec::new(),
            more: first.more,
        };
        let mut asked: Vec<FrameId> = Vec::new();
        let mut left: Vec<Piece> = pieces(&first.text);
        while let Some(piece) = left.pop() {
            let name = match piece {
                Piece::Text(text) => {
                    reading.text.push_str(&harmless_lines(&text));
                    continue;
                }
                Piece::Frame(name) => name,
            };
            let frame = FrameId::new(&name);
            if name.is_empty() || asked.contains(&frame) {
                reading.unread.push("the browser does not know it".to_owned());
                continue;
            }
            asked.push(frame.clone());
            let reply = begun
                .remove(&frame)
                .unwrap_or_else(|| self.session().call(&frame, function, argument, deadline));
            match self.unless_blocked(reply).await.map(serde_json::from_value::<FrameText>) {
                Ok(Ok(inner)) => left.extend(pieces(&inner.text)),
                Ok(Err(error)) => reading.unread.push(error.to_string()),
                Err(failure) if matches!(failure.code, ErrorCode::DialogOpen) => return Err(failure),
                Err(failure) => reading.unread.push(PageText::cut(&failure.message, 160).as_str().to_owned()),
            }
        }
        Ok(reading)
    }
}

/// A text, or the id of a frame that belongs there.
enum Piece {
    Text(String),
    Frame(String),
}

/// The pieces of a response, last first.
fn pieces(text: &str) -> Vec<Piece> {
    let parts = text.split(MARK).enumerate().map(|(at, part)| {
        if at % 2 == 0 { Piece::Text(part.to_owned()) } else { Piece::Frame(part.to_owned()) }
    });
    let mut pieces: Vec<Piece> = parts.collect();
    pieces.reverse();
    pieces
}
