//! An exception to a check: which file, and why it may. Kept beside the check it bends.

use super::Finding;
use crate::source_tree::SourceTree;

/// Lets one file off a check, with the reason a reviewer would ask for.
pub(super) struct Permit {
    pub(super) path: &'static str,
    pub(super) reason: &'static str,
}

/// Tells whether a file is let off.
pub(super) fn is_permitted(permits: &[Permit], path: &str) -> bool {
    permits.iter().any(|permit| permit.path == path)
}

/// Finds permits whose file is gone or no longer needs them, or that give no reason.
pub(super) fn unneeded(
    permits: &[Permit],
    tree: &SourceTree,
    list: &str,
    needs_it: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    // Without the list's own file this is a sample tree of another test.
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
    fn a_permit_nobody_needs_is_found() {
        let permits = [Permit { path: "a.rs", reason: "why" }, Permit { path: "b.rs", reason: "why" }];
        let tree = SourceTree::of(&[("list.rs", "")]);
        let findings = unneeded(&permits, &tree, "list.rs", |path| path == "a.rs");
        assert_eq!(findings.len(), 1);
        assert!(findings[0].advice.contains("b.rs"));
        assert!(is_permitted(&permits, "a.rs") && !is_permitted(&permits, "c.rs"));
    }
}
