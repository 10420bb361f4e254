//! What can be allowed on a site.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $bit:literal;)+) => {
        /// One thing that can be allowed on a site.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Capability {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Capability {
            /// Every capability, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word it is written as.
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
    /// See pages, and go to them.
    Read = "read", 1;
    /// Do what a person at the page could do.
    Act = "act", 2;
    /// Run code in the page.
    Eval = "eval", 4;
    /// Have files written to this machine.
    Download = "download", 8;
    /// Give files of this machine to the page.
    Upload = "upload", 16;
    /// Drive the page with bare CDP.
    Cdp = "cdp", 32;
    /// Bring there what may have been read elsewhere.
    Carry = "carry", 64;
}

impl Capability {
    /// Finds the capability a word names.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|capability| capability.as_str() == word)
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u8);

impl Capabilities {
    /// None.
    pub const NONE: Self = Self(0);
    /// Every one there is.
    pub const EVERYTHING: Self = Self(127);

    /// These and one more.
    #[must_use]
    pub const fn with(self, capability: Capability) -> Self {
        Self(self.0 | capability.bit())
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether one is among them.
    #[must_use]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those there are, in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.iter().copied().filter(move |capability| self.has(*capability))
    }

    /// With reading, without which nothing else can be done; nothing stays nothing.
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
                    let message = format!("`{word}` is none of {}, all", known.join(", "));
                    return Err(serde::de::Error::custom(message));
                }
            };
        }
        Ok(found)
    }
}
