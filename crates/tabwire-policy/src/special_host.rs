//! Hosts that are not on the internet: this machine, its networks, and cloud metadata services.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Host;

/// A host that a pattern with `*` never covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialHost {
    /// A link-local address.
    LinkLocal,
    /// A service that gives a machine's credentials to every process on it.
    Metadata,
    /// The unspecified address, which systems treat as this machine.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network.
    Private,
}

/// Host names of cloud metadata services.
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

/// IPv4 addresses of cloud metadata services, beside the link-local ones.
const METADATA_IPV4: &[Ipv4Addr] =
    &[Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];

/// IPv6 addresses of cloud metadata services.
const METADATA_IPV6: &[Ipv6Addr] =
    &[Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

impl SpecialHost {
    /// The kind of a parsed host.
    pub(crate) fn of(host: &Host<&str>) -> Option<Self> {
        match host {
            Host::Domain(name) => Self::of_name(name.trim_end_matches('.')),
            Host::Ipv4(address) => Self::of_ipv4(*address),
            Host::Ipv6(address) => Self::of_ipv6(*address),
        }
    }

    /// Whether every profile refuses it without a grant that names it.
    #[must_use]
    pub const fn is_always_refused(self) -> bool {
        matches!(self, Self::LinkLocal | Self::Metadata | Self::Unspecified)
    }

    /// What it is, for a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::LinkLocal => "it is a link-local address",
            Self::Metadata => "it is a cloud metadata service",
            Self::Unspecified => "it is the unspecified address",
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

    fn of_ipv4(address: Ipv4Addr) -> Option<Self> {
        let [first, second, ..] = address.octets();
        if METADATA_IPV4.contains(&address) {
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

    fn of_ipv6(address: Ipv6Addr) -> Option<Self> {
        if METADATA_IPV6.contains(&address) {
            return Some(Self::Metadata);
        }
        if address.is_loopback() {
            return Some(Self::Loopback);
        }
        if address.is_unspecified() || address.is_multicast() {
            return Some(Self::Unspecified);
        }
        if let Some(inner) = embedded(address) {
            return Self::of_ipv4(inner);
        }
        match address.segments().first() {
            Some(first) if first & 0xffc0 == 0xfe80 => Some(Self::LinkLocal),
            Some(first) if first & 0xfe00 == 0xfc00 => Some(Self::Private),
            _ => None,
        }
    }
}

/// The IPv4 address inside an IPv6 address: mapped, compatible, translated (64:ff9b::/96) or 6to4 (2002::/16).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let whole = address.to_bits();
    let low = || u32::try_from(whole & 0xffff_ffff).ok().map(Ipv4Addr::from_bits);
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] | [0x64, 0xff9b, ..] => low(),
        [0x2002, ..] => u32::try_from((whole >> 80) & 0xffff_ffff).ok().map(Ipv4Addr::from_bits),
        _ => None,
    }
}
