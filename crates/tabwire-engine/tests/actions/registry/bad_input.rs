//! Every action with unknown or wrongly typed parameters: the error lists the valid ones.

use serde_json::{Map, Value, json};
use tabwire_api::ErrorCode;

use crate::actions::registry::valid_parameters::{fit_actions, walked_actions};
use crate::actions::support::stage::Stage;

/// The parameters of an action, with their schemas.
fn parameters(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// A value that no parameter takes: they are texts, numbers, flags, words, maps, and lists of those.
fn wrong_value() -> Value {
    json!([[{"not": "a value"}]])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_rejects_unknown_parameters_and_lists_its_own() {
    let stage = Stage::at("/moment").await;
    let tab = Stage::tab(&stage.act("tabs_list", json!({})).await["tabs"][0]);
    let fits = fit_actions(&stage, tab);
    for action in walked_actions() {
        let fit = fits.iter().find(|fit| fit.name == action.name).expect("a row");
        let known = parameters(&(action.parameters)());
        let mut misspelt = fit.params.clone();
        misspelt["no_such_parameter"] = json!(1);
        let refused = stage.fails(ErrorCode::BadArgs, action.name, misspelt).await;
        let hint = refused.hint();
        assert!(refused.message.contains("no_such_parameter"), "{}: {refused:?}", action.name);
        assert!(known.keys().all(|name| hint.contains(name.as_str())), "{}: {refused:?}", action.name);
        for name in known.keys() {
            let mut wrong = fit.params.clone();
            wrong[name] = wrong_value();
            let refused = stage.fails(ErrorCode::BadArgs, action.name, wrong).await;
            let hint = refused.hint();
            assert!(refused.message.contains(&format!("`{name}`")), "{} {name}: {refused:?}", action.name);
            assert!(known.keys().all(|name| hint.contains(name.as_str())), "{}: {refused:?}", action.name);
        }
        // A missing required parameter is named in the error.
        for name in (action.parameters)()["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            let mut less = fit.params.clone();
            less.as_object_mut().expect("parameters").remove(name);
            let refused = stage.fails(ErrorCode::BadArgs, action.name, less).await;
            assert!(refused.message.contains(&format!("`{name}`")), "{} {name}: {refused:?}", action.name);
        }
        for odd in [json!(5), json!("text"), json!([1])] {
            stage.fails(ErrorCode::BadArgs, action.name, odd).await;
        }
    }
}
