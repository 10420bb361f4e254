//! Which kinds of frames and workers below a page a cdp session wants to hear of. The browser is not told: it holds
//! what it is told to leave out, and nobody could let that run (Chromium 156).

use serde_json::Value;

/// Rules in order; the first that fits decides, and without any everything is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartFilter(Option<Vec<Rule>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    /// The kind it is about; all when absent.
    kind: Option<String>,
    exclude: bool,
}

impl PartFilter {
    /// Takes the rules out of the parameters of `Target.setAutoAttach`.
    pub(crate) fn take(params: &mut Value) -> Self {
        let taken = params.as_object_mut().and_then(|members| members.remove("filter"));
        let rule = |entry: &Value| Rule {
            kind: entry.get("type").and_then(Value::as_str).map(str::to_owned),
            exclude: entry.get("exclude").and_then(Value::as_bool).unwrap_or(false),
        };
        Self(taken.as_ref().and_then(Value::as_array).map(|entries| entries.iter().map(rule).collect()))
    }

    /// Whether what the browser told of is wanted.
    pub(crate) fn admits(&self, info: &Value) -> bool {
        let Some(rules) = &self.0 else { return true };
        let kind = info.get("type").and_then(Value::as_str).unwrap_or_default();
        let fitting = rules.iter().find(|rule| rule.kind.as_deref().is_none_or(|wanted| wanted == kind));
        fitting.is_some_and(|rule| !rule.exclude)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides_and_the_rest_of_the_wish_stays() {
        let mut params = json!({"autoAttach": true, "filter": [{"type": "worker", "exclude": true}, {}]});
        let filter = PartFilter::take(&mut params);
        assert_eq!(params, json!({"autoAttach": true}));
        assert!(filter.admits(&json!({"type": "iframe"})) && !filter.admits(&json!({"type": "worker"})));
        let some = PartFilter::take(&mut json!({"filter": [{"type": "iframe"}]}));
        assert!(some.admits(&json!({"type": "iframe"})) && !some.admits(&json!({"type": "worker"})));
        assert!(PartFilter::take(&mut json!({})).admits(&json!({"type": "worker"})));
    }
}
