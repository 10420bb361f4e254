//! Table: what each CDP method touches and what its result contains. A method without a row is refused.
//!
//! Rows are grouped by domain and rule; every method of Chromium 156 is in exactly one row.

mod browser_rows;
mod document_rows;
mod network_rows;
mod page_rows;
mod runtime_rows;

use std::collections::HashMap;
use std::sync::LazyLock;

/// Which frames, requests or sites a method touches, or its result contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None: it neither shows nor changes a page. Its data about frames and targets is filtered.
    Setting,
    /// The frame, execution context or object that a parameter names; without one, the target's main frame.
    Frame,
    /// Every frame of the target that is in the target's own process.
    Document,
    /// Every frame that the page shows, also in other processes: screenshots, and input by position or focus.
    Page,
    /// The request in `requestId`.
    Request,
    /// The stream in `handle`.
    Stream,
    /// The URL that it names, and the frame that navigates.
    Navigation,
    /// Every site: cookies, storage, processes, and code in documents that come later.
    EverySite,
    /// Refused in guarded sessions.
    Refused,
}

/// Whether a method only reads. A blank page has no content, so reading it needs no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads, observes or prepares.
    Reads,
    /// It changes the page or runs code in it.
    Changes,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodRule {
    /// What is touched.
    pub reach: Reach,
    /// Whether it is changed.
    pub effect: Effect,
}

/// Methods of one domain that have the same rule.
type Row = (&'static str, Reach, Effect, &'static str);

const REFUSED: MethodRule = MethodRule { reach: Reach::Refused, effect: Effect::Changes };

static RULES: LazyLock<HashMap<String, MethodRule>> = LazyLock::new(|| {
    rows()
        .flat_map(|(domain, reach, effect, methods)| {
            let rule = MethodRule { reach: *reach, effect: *effect };
            methods.split_whitespace().map(move |method| (format!("{domain}.{method}"), rule))
        })
        .collect()
});

fn rows() -> impl Iterator<Item = &'static Row> {
    [document_rows::ROWS, page_rows::ROWS, runtime_rows::ROWS, network_rows::ROWS, browser_rows::ROWS]
        .into_iter()
        .flatten()
}

/// Commands that delete user data, on every site or on any named site. Those that take a browser context are harmless
/// in a context that their client created.
const DESTRUCTIVE: &[&str] = &[
    "Browser.resetPermissions",
    "Extensions.clearStorageItems",
    "Extensions.removeStorageItems",
    "Extensions.uninstall",
    "Network.clearBrowserCache",
    "Network.clearBrowserCookies",
    "Network.deleteDeviceBoundSession",
    "PWA.uninstall",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Storage.clearDataForStorageKey",
    "Storage.clearPrivateVerificationTokens",
    "Storage.clearTrustTokens",
    "Storage.deletePrivateVerificationToken",
    "Storage.deleteStorageBucket",
    "Storage.runBounceTrackingMitigations",
];

impl MethodRule {
    /// The rule of a method; methods without a row are refused.
    #[must_use]
    pub fn of(method: &str) -> Self {
        RULES.get(method).copied().unwrap_or(REFUSED)
    }

    /// Whether the table has a row for a method.
    #[must_use]
    pub fn has_row(method: &str) -> bool {
        RULES.contains_key(method)
    }

    /// Every method that has a row, with its rule.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        RULES.iter().map(|(method, rule)| (method.as_str(), *rule))
    }

    /// Whether a command deletes user data.
    #[must_use]
    pub fn is_destructive(method: &str) -> bool {
        DESTRUCTIVE.contains(&method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_exactly_one_row() {
        let named = rows().map(|(_, _, _, methods)| methods.split_whitespace().count()).sum::<usize>();
        assert_eq!(named, RULES.len(), "a method is named twice");
        assert!(named > 600, "{named} methods");
        for method in DESTRUCTIVE {
            assert_eq!(MethodRule::of(method).reach, Reach::EverySite, "{method}");
        }
    }

    #[test]
    fn extensions_are_never_loaded() {
        assert_eq!(MethodRule::of("Extensions.loadUnpacked").reach, Reach::Refused);
        assert_eq!(MethodRule::of("Extensions.getExtensions").reach, Reach::EverySite);
    }

    #[test]
    fn h2_a_method_without_a_row_is_refused() {
        for method in ["Surprise.method", "Page.surprise", "page.navigate", "Page", "", "Page.navigate.x"] {
            assert_eq!(MethodRule::of(method).reach, Reach::Refused, "{method}");
            assert!(!MethodRule::has_row(method), "{method}");
        }
    }
}
