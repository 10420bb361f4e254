//! The id of a tab. Ids are never reused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UpstreamKind;

/// `<upstream>:<epoch>:<n>`, e.g. `pipe:7f3a:3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TabId {
    /// How its browser is reached.
    pub upstream: UpstreamKind,
    /// The run of the browser. Ids of another run give `STALE_TAB`.
    pub epoch: u16,
    /// Number of the tab within the epoch.
    pub number: u32,
}

/// Why a text is not a tab id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tab id: expected something like `pipe:7f3a:3`")]
pub struct ParseTabIdError(String);

impl fmt::Display for TabId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{:x}:{}", self.upstream, self.epoch, self.number)
    }
}

impl FromStr for TabId {
    type Err = ParseTabIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let mut parts = text.split(':');
            let upstream = UpstreamKind::find(parts.next()?)?;
            let epoch = u16::from_str_radix(parts.next()?, 16).ok()?;
            let number = parts.next()?.parse().ok()?;
            parts.next().is_none().then_some(Self { upstream, epoch, number })
        };
        parse().ok_or_else(|| ParseTabIdError(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for TabId {
    type Error = ParseTabIdError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TabId> for String {
    fn from(id: TabId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{TabId, UpstreamKind};

    #[test]
    fn text_form_round_trips_and_rejects_noise() {
        let id = TabId { upstream: UpstreamKind::Pipe, epoch: 0x7f, number: 3 };
        assert_eq!(id.to_string(), "pipe:7f:3");
        assert_eq!("pipe:7f:3".parse(), Ok(id));
        for bad in ["", "pipe", "pipe:7f", "pipe:zz:1", "pipe:7f:3:4", "tube:7f:3", "pipe:7f:-1"] {
            assert!(bad.parse::<TabId>().is_err(), "{bad}");
        }
    }
}
