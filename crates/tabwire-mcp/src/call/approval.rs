//! Elicitation: requests the user's approval through the client while a call waits.

use std::convert::Infallible;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputResponses,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::backend::{Asking, Attendant, Permission};
use crate::connection::Connection;
use crate::limits::ASKING_DEADLINE;

/// What the one question is called.
const QUESTION: &str = "approval";

/// Whether the client can show a question with a few answers to choose from.
pub(crate) fn can_elicit(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // Who names no kind means forms; who names only addresses to be opened shows none.
    elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// Asks the client whatever a call needs asked, for as long as the call lasts.
pub(crate) async fn ask_client(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    attendant: Option<&dyn Attendant>,
) -> Infallible {
    let Some(attendant) = attendant else { return std::future::pending().await };
    loop {
        let asking = attendant.next().await;
        // One thing at a time, however many calls have something to ask.
        let _turn = connection.asking.lock().await;
        let said = ask(context, attendant.put(&asking).unwrap_or_default()).await;
        if !said.is_some_and(|said| attendant.hear(&asking, &said)) {
            attendant.answer(&asking.id, Permission::No);
        }
    }
}

/// Asks the client each of these; nothing if one of them was not answered, or cannot be asked this way.
async fn ask(context: &RequestContext<RoleServer>, requests: InputRequests) -> Option<InputResponses> {
    let mut said = InputResponses::new();
    for (name, request) in requests {
        let InputRequest::Elicitation(question) = request else { return None };
        let asked = context.peer.create_elicitation_with_timeout(question.params, Some(ASKING_DEADLINE));
        said.insert(name, serde_json::to_value(asked.await.ok()?).ok()?);
    }
    Some(said)
}

/// The question whether something may be done, as clients are told it.
pub(crate) fn put(asking: &Asking) -> Option<InputRequests> {
    let question = InputRequest::Elicitation(ElicitRequest::new(question(&asking.message)?));
    Some([(QUESTION.to_owned(), question)].into())
}

/// What was said to it; nothing if nothing was.
pub(crate) fn heard(said: &InputResponses) -> Option<Permission> {
    let said = serde_json::from_value::<ElicitResult>(said.get(QUESTION)?.clone());
    Some(said.map_or(Permission::No, |answer| permission(&answer)))
}

/// The question as clients show it.
fn question(message: &str) -> Option<ElicitRequestParams> {
    let schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"answer": {
            "type": "string", "title": "Allow it?",
            "enum": ["once", "session", "always", "no"],
            "enumNames": ["Once", "For this session", "Always", "No"],
        }},
        "required": ["answer"],
    }))
    .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema,
    })
}

/// What was said; whatever is no clear yes is no.
fn permission(answer: &ElicitResult) -> Permission {
    let said = answer.content.as_ref().and_then(|content| content.get("answer")).and_then(Value::as_str);
    match (&answer.action, said) {
        (ElicitationAction::Accept, Some("once")) => Permission::Once,
        (ElicitationAction::Accept, Some("session")) => Permission::Session,
        (ElicitationAction::Accept, Some("always")) => Permission::Always,
        _ => Permission::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert!(question("May it?").is_some(), "the schema is one that clients take");
        for (action, content, expected) in [
            ("accept", json!({"answer": "once"}), Permission::Once),
            ("accept", json!({"answer": "always"}), Permission::Always),
            ("accept", json!({"answer": "yes"}), Permission::No),
            ("accept", json!({}), Permission::No),
            ("decline", json!({"answer": "always"}), Permission::No),
            ("cancel", Value::Null, Permission::No),
        ] {
            let answer =
                serde_json::from_value(json!({"action": action, "content": content})).expect("valid");
            assert_eq!(permission(&answer), expected, "{action} {content}");
        }
    }
}
