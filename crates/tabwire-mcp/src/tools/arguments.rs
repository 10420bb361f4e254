//! Turns a tool's arguments into the parameters of its action.

use serde_json::{Map, Value, json};
use tabwire_api::{CallNumber, ErrorCode, Failure, TabId};
use tabwire_engine::find_similar;

use crate::tools::OfferedTool;
use crate::tools::schema::Need;

/// The parsed arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallArguments {
    /// The action's own parameters.
    pub(crate) params: Value,
    pub(crate) tab: Option<TabId>,
    /// The tab by its number, or by a part of its title or URL, instead of `tab`.
    pub(crate) tab_name: Option<String>,
    pub(crate) snapshot: bool,
    pub(crate) timeout_ms: Option<u64>,
    /// The call's number, if its client can show questions.
    pub(crate) call: Option<CallNumber>,
}

impl CallArguments {
    /// Parses arguments. Refuses unknown ones, with the list of known ones.
    pub(crate) fn read(tool: &OfferedTool, arguments: Option<Map<String, Value>>) -> Result<Self, Failure> {
        // Models send null for omitted arguments.
        let given = arguments.into_iter().flatten().filter(|(_, value)| !value.is_null());
        let mut call = Self::default();
        let mut params = Map::new();
        let (mut by_ref, mut selector) = (None, None);
        for (name, value) in given {
            let renamed = tool.plan.renamed.iter().find(|(argument, _)| *argument == name);
            match name.as_str() {
                _ if tool.plan.passed.contains(&name) => {
                    params.insert(name, value);
                }
                _ if renamed.is_some() => {
                    let parameter = renamed.map_or(name, |(_, parameter)| parameter.clone());
                    params.insert(parameter, value);
                }
                "ref" if tool.plan.element.is_some() => by_ref = Some(text(tool, "ref", value)?),
                "selector" if tool.plan.element.is_some() => selector = Some(text(tool, "selector", value)?),
                other if !tool.plan.common.contains(&other) => return Err(unknown(tool, other)),
                "tab" => {
                    let given = read_tab(tool, value)?;
                    call.tab = given.parse().ok();
                    call.tab_name = call.tab.is_none().then_some(given);
                }
                "snapshot" => {
                    call.snapshot =
                        value.as_bool().ok_or_else(|| wrong(tool, "snapshot", "true or false"))?;
                }
                _ => {
                    call.timeout_ms = Some(
                        value
                            .as_u64()
                            .ok_or_else(|| wrong(tool, "timeout_ms", "a number of milliseconds"))?,
                    );
                }
            }
        }
        if let Some((parameter, need)) = tool.plan.element
            && let Some(target) = one_of(tool, by_ref, selector, need)?
        {
            params.insert(parameter.to_owned(), json!(target));
        }
        call.params = Value::Object(params);
        Ok(call)
    }
}

/// The element, named in exactly one way.
fn one_of(
    tool: &OfferedTool,
    by_ref: Option<String>,
    selector: Option<String>,
    need: Need,
) -> Result<Option<String>, Failure> {
    let name = tool.name;
    match (by_ref, selector) {
        (Some(_), Some(_)) => {
            let message = format!("{name} takes `ref` or `selector`, not both.");
            Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Give the ref: it is never ambiguous."))
        }
        (Some(given), None) if !is_ref(&given) => {
            let message = format!("`{given}` is not a ref.");
            Err(Failure::new(ErrorCode::BadArgs, message).with_remedy(
                "A ref is e and a number, from a snapshot: e12. Give anything else as `selector`.",
            ))
        }
        (Some(given), None) | (None, Some(given)) => Ok(Some(given)),
        (None, None) if need == Need::Must => {
            let message = format!("{name} needs an element.");
            Err(Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Give `ref` (e12, from a snapshot) or `selector`."))
        }
        (None, None) => Ok(None),
    }
}

fn is_ref(text: &str) -> bool {
    let text = text.trim();
    let number = text.strip_prefix('@').unwrap_or(text).strip_prefix('e');
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn text(tool: &OfferedTool, name: &str, value: Value) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong(tool, name, "a text")),
    }
}

/// The id, number, title or URL of a tab.
fn read_tab(tool: &OfferedTool, value: Value) -> Result<String, Failure> {
    match value {
        // Models give the number as a number.
        Value::Number(number) => Ok(number.to_string()),
        other => text(tool, "tab", other),
    }
}

fn wrong(tool: &OfferedTool, name: &str, expected: &str) -> Failure {
    let message = format!("The argument `{name}` of {} must be {expected}.", tool.name);
    Failure::new(ErrorCode::BadArgs, message)
}

fn unknown(tool: &OfferedTool, name: &str) -> Failure {
    let names = tool.plan.names();
    let meant = find_similar(name, names.iter().copied());
    let meant = meant.map(|meant| format!("Did you mean `{meant}`? ")).unwrap_or_default();
    let valid = if names.is_empty() {
        "It takes no arguments.".to_owned()
    } else {
        format!("Its arguments are: {}.", names.join(", "))
    };
    Failure::new(ErrorCode::BadArgs, format!("The tool {} has no argument `{name}`.", tool.name))
        .with_remedy(format!("{meant}{valid}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::offered_tools;

    fn read(tool: &str, arguments: Value) -> Result<CallArguments, Failure> {
        let tool = offered_tools().iter().find(|offered| offered.name == tool).expect("a tool");
        CallArguments::read(tool, arguments.as_object().cloned())
    }

    #[test]
    fn arguments_become_parameters() {
        let call = read("click", json!({"ref": "e3", "nth": 2, "tab": "pipe:1:2", "snapshot": true}))
            .expect("valid");
        assert_eq!(call.params, json!({"target": "e3", "nth": 2}));
        assert!(call.snapshot && call.tab.is_some() && call.tab_name.is_none());
        for (given, expected) in [(json!("third"), "third"), (json!("2"), "2"), (json!(2), "2")] {
            let call = read("get_text", json!({"tab": given})).expect("valid");
            assert_eq!((call.tab, call.tab_name.as_deref()), (None, Some(expected)));
        }
        let call = read("tab_close", json!({"tab": "pipe:1:2"})).expect("valid");
        assert_eq!((call.params, call.tab), (json!({"id": "pipe:1:2"}), None));
        let call =
            read("eval", json!({"expression": "1", "selector": "#a", "timeout_ms": 5})).expect("valid");
        assert_eq!(call.params, json!({"expression": "1", "element": "#a"}));
        assert_eq!(read("get_text", json!({"ref": null})).expect("valid").params, json!({}));
    }

    #[test]
    fn invalid_arguments_are_refused_with_a_remedy() {
        for (tool, arguments, expected) in [
            ("click", json!({}), "`selector`"),
            ("click", json!({"ref": "e3", "selector": "#a"}), "Give the ref"),
            ("click", json!({"ref": "#a"}), "as `selector`"),
            ("click", json!({"target": "e3"}), "ref, selector"),
            ("navigate", json!({"uri": "x"}), "Did you mean `url`"),
            ("status", json!({"tab": "pipe:1:2"}), "no arguments"),
        ] {
            let failure = read(tool, arguments.clone()).expect_err(tool);
            assert_eq!(failure.code, ErrorCode::BadArgs);
            let hint = failure.hint();
            assert!(hint.contains(expected), "{tool} {arguments}: {hint}");
        }
    }
}
