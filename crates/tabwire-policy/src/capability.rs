//! Capabilities that can be granted on a site.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $bit:literal;)+) => {
        /// One capability.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Capability {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Capability {
            /// Every capability, in display order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in files and on the command line.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            const fn bit(self) -> u8 {
                match self { $(Self::$variant => $bit),+ }
            }
        }
    };
}

capabilities! {
    /// Open pages and read them.
    Read = "read", 1;
    /// Click, type and so on.
    Act = "act", 2;
    /// Run code in the page.
    Eval = "eval", 4;
    /// Write files to this machine.
    Download = "download", 8;
    /// Give files of this machine to the page.
    Upload = "upload", 16;
    /// Drive the page over raw CDP.
    Cdp = "cdp", 32;
    /// Send data that may come from another site.
    Carry = "carry", 64;
}

impl Capability {
    /// Finds a capability by name.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|capability| capability.as_str() == word)
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u8);

impl Capabilities {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// All capabilities.
    pub const EVERYTHING: Self = Self(127);

    /// Adds one capability.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | capability.bit())
    }

    /// The union of two sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether the set contains a capability.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The capabilities in the set, in display order.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.iter().copied().filter(move |capability| self.has(*capability))
    }

    /// Adds `read`, which every other capability implies; an empty set stays empty.
    #[must_use]
    pub const fn with_reading(self) -> Self {
        if self.is_empty() { self } else { self.with(Capability::Read) }
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<T: IntoIterator<Item = Capability>>(list: T) -> Self {
        list.into_iter().fold(Self::NONE, Self::with)
    }
}

impl std::fmt::Debug for Capabilities {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl std::fmt::Display for Capabilities {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<&str> = self.iter().map(Capability::as_str).collect();
        formatter.write_str(&words.join(", "))
    }
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Capability::as_str))
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        let mut found = Self::NONE;
        for word in words {
            found = match (word.as_str(), Capability::find(&word)) {
                ("all", _) => Self::EVERYTHING,
                (_, Some(capability)) => found.with(capability),
                (_, None) => {
                    let known: Vec<&str> = Capability::ALL.iter().map(|one| one.as_str()).collect();
                    let message = format!("`{word}` is not one of {}, all", known.join(", "));
                    return Err(serde::de::Error::custom(message));
                }
            };
        }
        Ok(found)
    }
}
