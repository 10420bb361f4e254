//! The refs of one tab: which element `e12` is.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use tabwire_api::FrameId;

/// Refs per tab. The oldest expire first.
const REFS_KEPT: usize = 65_536;

/// A handle to one element of one document, printed as `e12`. Numbers are never reused in a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ElementRef(u32);

impl ElementRef {
    /// A ref of usual length, to measure text.
    pub(crate) const SAMPLE: Self = Self(100);

    /// A ref that is assigned later; printed as a character that no page text contains.
    pub(crate) const BLANK: Self = Self(0);

    /// How [`Self::BLANK`] is printed.
    pub(crate) const BLANK_LETTER: char = '\0';
}

impl fmt::Display for ElementRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::BLANK {
            return write!(formatter, "{}", Self::BLANK_LETTER);
        }
        write!(formatter, "e{}", self.0)
    }
}

impl Serialize for ElementRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is not a ref.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("A ref looks like e12.")]
pub(crate) struct ParseRefError;

impl FromStr for ElementRef {
    type Err = ParseRefError;

    /// Parses `e12`, and the forms `@e12`, `ref=e12` and `[e12]` of other tools.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.strip_prefix('@').or_else(|| text.strip_prefix("ref=")).unwrap_or(text);
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let number = text.strip_prefix('e').ok_or(ParseRefError)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) || number.starts_with('0') {
            return Err(ParseRefError);
        }
        number.parse().map(Self).map_err(|_| ParseRefError)
    }
}

/// The random id of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DocumentName(Arc<str>);

/// The key of an element in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ElementKey(pub(crate) u32);

/// The location of an element: its frame, its document, its key there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementHandle {
    pub(crate) frame: FrameId,
    pub(crate) document: DocumentName,
    pub(crate) key: ElementKey,
}

/// What a ref refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefMeaning {
    /// A known element; only the page knows whether it still exists.
    Element(ElementHandle),
    /// An element of a document that is gone.
    Expired,
    /// The ref was never assigned.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct DocumentNumber(u32);

#[derive(Debug)]
struct SeenDocument {
    frame: FrameId,
    name: DocumentName,
}

/// The refs of one tab.
#[derive(Debug, Default)]
pub(crate) struct RefTable {
    last: u32,
    last_document: u32,
    documents: HashMap<DocumentNumber, SeenDocument>,
    numbers: HashMap<DocumentName, DocumentNumber>,
    elements: BTreeMap<ElementRef, (DocumentNumber, ElementKey)>,
    refs: HashMap<(DocumentNumber, ElementKey), ElementRef>,
}

impl RefTable {
    /// The element's ref; assigns one if it has none.
    pub(crate) fn mint(&mut self, handle: &ElementHandle) -> ElementRef {
        let document = self.document(&handle.frame, &handle.document);
        if let Some(known) = self.refs.get(&(document, handle.key)) {
            return *known;
        }
        self.last = self.last.saturating_add(1);
        let minted = ElementRef(self.last);
        self.refs.insert((document, handle.key), minted);
        self.elements.insert(minted, (document, handle.key));
        if self.elements.len() > REFS_KEPT
            && let Some((_, oldest)) = self.elements.pop_first()
        {
            self.refs.remove(&oldest);
        }
        minted
    }

    /// The element's ref, if it has one.
    pub(crate) fn find(&self, handle: &ElementHandle) -> Option<ElementRef> {
        let document = self.numbers.get(&handle.document)?;
        self.refs.get(&(*document, handle.key)).copied()
    }

    /// What a ref refers to.
    pub(crate) fn meaning(&self, wanted: ElementRef) -> RefMeaning {
        let Some((document, key)) = self.elements.get(&wanted) else {
            return if wanted.0 <= self.last { RefMeaning::Expired } else { RefMeaning::Unknown };
        };
        self.documents.get(document).map_or(RefMeaning::Expired, |seen| {
            let (frame, document) = (seen.frame.clone(), seen.name.clone());
            RefMeaning::Element(ElementHandle { frame, document, key: *key })
        })
    }

    /// Records the document that a frame shows now; drops refs of its earlier documents.
    pub(crate) fn shows(&mut self, frame: &FrameId, document: &DocumentName) {
        self.document(frame, document);
    }

    /// Drops the refs of frames that are gone.
    pub(crate) fn keep_frames(&mut self, is_there: impl Fn(&FrameId) -> bool) {
        let gone: Vec<DocumentNumber> = self
            .documents
            .iter()
            .filter(|(_, seen)| !is_there(&seen.frame))
            .map(|(number, _)| *number)
            .collect();
        for number in gone {
            self.forget(number);
        }
    }

    fn document(&mut self, frame: &FrameId, name: &DocumentName) -> DocumentNumber {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let earlier: Vec<DocumentNumber> = self
            .documents
            .iter()
            .filter(|(_, seen)| seen.frame == *frame)
            .map(|(number, _)| *number)
            .collect();
        for number in earlier {
            self.forget(number);
        }
        self.last_document = self.last_document.saturating_add(1);
        let number = DocumentNumber(self.last_document);
        self.documents.insert(number, SeenDocument { frame: frame.clone(), name: name.clone() });
        self.numbers.insert(name.clone(), number);
        number
    }

    fn forget(&mut self, number: DocumentNumber) {
        if let Some(seen) = self.documents.remove(&number) {
            self.numbers.remove(&seen.name);
        }
        self.elements.retain(|_, (document, _)| *document != number);
        self.refs.retain(|(document, _), _| *document != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(frame: &str, document: &str, key: u32) -> ElementHandle {
        ElementHandle {
            frame: FrameId::new(frame),
            document: DocumentName(Arc::from(document)),
            key: ElementKey(key),
        }
    }

    #[test]
    fn elements_keep_their_refs_and_numbers_are_never_reused() {
        let mut table = RefTable::default();
        let first = table.mint(&handle("f", "d1", 1));
        assert_eq!(first.to_string(), "e1");
        assert_eq!(table.mint(&handle("f", "d1", 2)).to_string(), "e2");
        assert_eq!(table.mint(&handle("f", "d1", 1)), first);
        assert_eq!(table.meaning(first), RefMeaning::Element(handle("f", "d1", 1)));
        assert_eq!(table.mint(&handle("f", "d2", 1)).to_string(), "e3");
        assert_eq!(table.meaning(first), RefMeaning::Expired);
        assert_eq!(table.meaning(ElementRef(4)), RefMeaning::Unknown);
        assert_eq!(table.elements.len(), 1);
    }

    #[test]
    fn each_frame_has_its_own_documents() {
        let mut table = RefTable::default();
        let main = table.mint(&handle("main", "d1", 7));
        let inner = table.mint(&handle("inner", "d2", 7));
        assert_ne!(main, inner);
        table.shows(&FrameId::new("inner"), &DocumentName(Arc::from("d3")));
        assert_eq!(table.meaning(inner), RefMeaning::Expired);
        assert_eq!(table.meaning(main), RefMeaning::Element(handle("main", "d1", 7)));
        table.keep_frames(|frame| frame.as_str() != "main");
        assert_eq!(table.meaning(main), RefMeaning::Expired);
        assert_eq!(table.elements.len(), 0);
        assert_eq!(table.refs.len(), 0);
        assert_eq!(table.numbers.len(), 1);
    }

    #[test]
    fn the_oldest_refs_go_first() {
        let mut table = RefTable::default();
        for key in 0..u32::try_from(REFS_KEPT).expect("small") + 10 {
            table.mint(&handle("f", "d", key));
        }
        assert_eq!(table.elements.len(), REFS_KEPT);
        assert_eq!(table.meaning(ElementRef(10)), RefMeaning::Expired);
        assert_eq!(table.meaning(ElementRef(11)), RefMeaning::Element(handle("f", "d", 10)));
    }

    #[test]
    fn refs_are_parsed_in_every_common_form() {
        for text in ["e12", "@e12", "ref=e12", "[e12]"] {
            assert_eq!(text.parse(), Ok(ElementRef(12)), "{text}");
        }
        for text in ["", "e", "12", "e-1", "e+1", "e01", "e1x", "e99999999999", "E12", "é1"] {
            assert_eq!(text.parse::<ElementRef>(), Err(ParseRefError), "{text}");
        }
    }
}
