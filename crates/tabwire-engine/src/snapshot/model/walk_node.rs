//! One entry of a walk: `[depth, role, name, key, remoteness, details]`, without trailing empty fields.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::role::Role;
use super::walk_result::WalkDetails;
use crate::snapshot::refs::ElementKey;
use crate::snapshot::text::link_target::LinkTarget;
use crate::snapshot::text::page_text::PageText;

/// One node of a walk.
#[derive(Clone, Debug)]
pub(crate) struct WalkNode {
    pub(crate) depth: u32,
    pub(crate) role: Role,
    pub(crate) name: PageText,
    pub(crate) key: ElementKey,
    /// Distance level from the viewport.
    pub(crate) remoteness: u16,
    pub(crate) details: WalkDetails,
}

impl<'de> Deserialize<'de> for WalkNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entry)
    }
}

struct Entry;

impl<'de> Visitor<'de> for Entry {
    type Value = WalkNode;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an entry of a walk")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entry: A) -> Result<WalkNode, A::Error> {
        let missing = |place| A::Error::invalid_length(place, &self);
        let node = WalkNode {
            depth: entry.next_element()?.ok_or_else(|| missing(0))?,
            role: entry.next_element()?.ok_or_else(|| missing(1))?,
            name: entry.next_element()?.ok_or_else(|| missing(2))?,
            key: entry.next_element()?.ok_or_else(|| missing(3))?,
            remoteness: entry.next_element()?.unwrap_or_default(),
            details: entry.next_element::<EntryDetails>()?.map(|details| details.0).unwrap_or_default(),
        };
        match entry.next_element::<IgnoredAny>()? {
            None => Ok(node),
            Some(_) => Err(missing(7)),
        }
    }
}

/// Details of a node: an object, or its target or level alone.
struct EntryDetails(WalkDetails);

impl<'de> Deserialize<'de> for EntryDetails {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DetailsVisitor).map(Self)
    }
}

struct DetailsVisitor;

impl<'de> Visitor<'de> for DetailsVisitor {
    type Value = WalkDetails;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a target, a level, or details by name")
    }

    fn visit_str<E: Error>(self, target: &str) -> Result<WalkDetails, E> {
        Ok(WalkDetails { target: Some(LinkTarget::new(target)), ..WalkDetails::default() })
    }

    fn visit_u64<E: Error>(self, level: u64) -> Result<WalkDetails, E> {
        let level = u32::try_from(level).map_err(E::custom)?;
        Ok(WalkDetails { level: Some(level), ..WalkDetails::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, details: A) -> Result<WalkDetails, A::Error> {
        WalkDetails::deserialize(MapAccessDeserializer::new(details))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<WalkNode, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn trailing_empty_fields_may_be_missing() {
        let node = read(r#"[2, "button", "Pay", 7]"#).expect("an entry");
        assert_eq!((node.depth, node.role.as_str(), node.name.as_str(), node.key.0), (2, "button", "Pay", 7));
        assert_eq!((node.remoteness, node.details.level), (0, None));
        assert_eq!(read(r#"[0, "button", "Pay", 7, 3]"#).expect("an entry").remoteness, 3);
    }

    #[test]
    fn details_may_be_a_target_or_a_level_alone() {
        let link = read(r#"[0, "link", "Home", 1, 0, "/home"]"#).expect("an entry");
        assert_eq!(link.details.target, Some(LinkTarget::new("/home")));
        assert_eq!(read(r#"[0, "heading", "Home", 1, 0, 2]"#).expect("an entry").details.level, Some(2));
        let both =
            read(r#"[0, "heading", "Home", 1, 4, {"level": 2, "clickable": true}]"#).expect("an entry");
        assert_eq!((both.details.level, both.details.clickable, both.remoteness), (Some(2), true, 4));
    }

    #[test]
    fn invalid_entries_are_refused() {
        for text in [
            "[]",
            "{}",
            r#"[0, "link", "a"]"#,
            r#"[0, "link", "a", 1, "/x"]"#,
            r#"[0, "a", "b", 1, 0, 2, 3]"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
