//! Hosts that are no sites of the web: this machine, its network, and what clouds answer secrets on.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Host;

/// A host that a pattern with a `*` never means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialHost {
    /// An address that only means something on the wire this machine is on.
    LinkLocal,
    /// A service that gives a machine's credentials to whoever asks from it.
    Metadata,
    /// No address at all, which systems take for this machine.
    Unspecified,
    /// This machine.
    Loopback,
    /// A network that is not the internet.
    Private,
}

/// Names under which clouds serve metadata.
const METADATA_NAMES: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Addresses under which clouds serve metadata, besides the link-local ones.
const METADATA_ADDRESSES: &[Ipv4Addr] =
    &[Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];

/// The same with the newer protocol.
const METADATA_LONG_ADDRESSES: &[Ipv6Addr] =
    &[Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

impl SpecialHost {
    /// What is special about a host, as the URL parser read it.
    pub(crate) fn of(host: &Host<&str>) -> Option<Self> {
        match host {
            Host::Domain(name) => Self::of_name(name.trim_end_matches('.')),
            Host::Ipv4(address) => Self::of_short(*address),
            Host::Ipv6(address) => Self::of_long(*address),
        }
    }

    /// Whether it is refused in every profile unless it was named.
    #[must_use]
    pub const fn is_refused_everywhere(self) -> bool {
        matches!(self, Self::LinkLocal | Self::Metadata | Self::Unspecified)
    }

    /// What it is, for a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::LinkLocal => "it is a link-local address",
            Self::Metadata => "it is where clouds give out credentials",
            Self::Unspecified => "it is no address of a site",
            Self::Loopback => "it is this machine",
            Self::Private => "it is in a private network",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        if METADATA_NAMES.contains(&name) {
            return Some(Self::Metadata);
        }
        (name == "localhost" || name.ends_with(".localhost")).then_some(Self::Loopback)
    }

    fn of_short(address: Ipv4Addr) -> Option<Self> {
        let [first, second, ..] = address.octets();
        if METADATA_ADDRESSES.contains(&address) {
            Some(Self::Metadata)
        } else if address.is_link_local() {
            Some(Self::LinkLocal)
        } else if first == 0 || first >= 224 {
            Some(Self::Unspecified)
        } else if address.is_loopback() {
            Some(Self::Loopback)
        } else if address.is_private() || (first == 100 && (64..128).contains(&second)) {
            Some(Self::Private)
        } else {
            None
        }
    }

    fn of_long(address: Ipv6Addr) -> Option<Self> {
        if METADATA_LONG_ADDRESSES.contains(&address) {
            return Some(Self::Metadata);
        }
        if address.is_loopback() {
            return Some(Self::Loopback);
        }
        if address.is_unspecified() || address.is_multicast() {
            return Some(Self::Unspecified);
        }
        if let Some(inner) = embedded(address) {
            return Self::of_short(inner);
        }
        match address.segments().first() {
            Some(first) if first & 0xffc0 == 0xfe80 => Some(Self::LinkLocal),
            Some(first) if first & 0xfe00 == 0xfc00 => Some(Self::Private),
            _ => None,
        }
    }
}

/// The older address inside of a newer one: mapped, compatible, translated (64:ff9b::/96) or tunnelled (2002::/16).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let whole = address.to_bits();
    let low = || u32::try_from(whole & 0xffff_ffff).ok().map(Ipv4Addr::from_bits);
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] | [0x64, 0xff9b, ..] => low(),
        [0x2002, ..] => u32::try_from((whole >> 80) & 0xffff_ffff).ok().map(Ipv4Addr::from_bits),
        _ => None,
    }
}
