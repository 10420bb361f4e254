//! The `filter` parameter of `Target.setDiscoverTargets`, `setAutoAttach` and `getTargets`.

use serde::Deserialize;

/// An ordered list of rules. The first matching rule decides; a type without one is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFilter(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Rule {
    #[serde(rename = "type")]
    target_type: Option<String>,
    #[serde(default)]
    exclude: bool,
}

/// The browser's own windows. A rule without a type does not match them.
const BROWSER_UI: &str = "browser_ui";

impl TargetFilter {
    /// Reads the `filter` parameter; an absent one is the protocol's default.
    ///
    /// # Errors
    /// When it is not a list of filter entries.
    pub fn read(filter: Option<&serde_json::Value>) -> Result<Self, serde_json::Error> {
        match filter {
            None | Some(serde_json::Value::Null) => Ok(Self::default()),
            Some(value) => Vec::<Rule>::deserialize(value).map(Self),
        }
    }

    /// Whether targets of a type pass.
    #[must_use]
    pub fn admits(&self, target_type: &str) -> bool {
        let rule = self.0.iter().find(|rule| match &rule.target_type {
            Some(wanted) => wanted == target_type,
            None => target_type != BROWSER_UI,
        });
        rule.is_some_and(|rule| !rule.exclude)
    }
}

impl Default for TargetFilter {
    fn default() -> Self {
        let without = |name: &str| Rule { target_type: Some(name.to_owned()), exclude: true };
        Self(vec![without("browser"), without("tab"), Rule { target_type: None, exclude: false }])
    }
}

#[cfg(test)]
mod tests {
    use super::TargetFilter;

    #[test]
    fn the_first_matching_rule_decides() {
        let default = TargetFilter::default();
        assert!(default.admits("page") && default.admits("service_worker"));
        assert!(!default.admits("tab") && !default.admits("browser") && !default.admits("browser_ui"));
        let tabs = serde_json::json!([{"type": "page", "exclude": true}, {}]);
        let tabs = TargetFilter::read(Some(&tabs)).expect("a filter");
        assert!(tabs.admits("tab") && !tabs.admits("page") && !tabs.admits("browser_ui"));
        let named = TargetFilter::read(Some(&serde_json::json!([{"type": "browser_ui"}]))).expect("a filter");
        assert!(named.admits("browser_ui") && !named.admits("page"));
        assert!(TargetFilter::read(Some(&serde_json::json!("page"))).is_err());
    }
}
