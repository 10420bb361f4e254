//! An exception to a check: the file and the reason.

use super::Finding;
use crate::source::source_tree::SourceTree;

/// Exempts one file from a check.
pub(super) struct Permit {
    pub(super) path: &'static str,
    pub(super) reason: &'static str,
}

/// Whether a file is exempt.
pub(super) fn is_permitted(permits: &[Permit], path: &str) -> bool {
    permits.iter().any(|permit| permit.path == path)
}

/// Finds permits without a file, without a need or without a reason.
pub(super) fn unneeded(
    permits: &[Permit],
    tree: &SourceTree,
    list: &str,
    needs_it: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    // A sample tree of another test does not contain the list.
    if tree.find_file(list).is_none() {
        return Vec::new();
    }
    let stale = permits.iter().filter(|permit| !needs_it(permit.path) || permit.reason.is_empty());
    stale
        .map(|permit| {
            Finding::new(list, 1, format!("remove the permit for {}: nothing needs it", permit.path))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unneeded_permit_is_found() {
        let permits = [Permit { path: "a.rs", reason: "why" }, Permit { path: "b.rs", reason: "why" }];
        let tree = SourceTree::of(&[("list.rs", "")]);
        let findings = unneeded(&permits, &tree, "list.rs", |path| path == "a.rs");
        assert_eq!(findings.len(), 1);
        assert!(findings[0].advice.contains("b.rs"));
        assert!(is_permitted(&permits, "a.rs") && !is_permitted(&permits, "c.rs"));
    }
}
