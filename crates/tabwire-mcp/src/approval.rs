//! Asking whoever sits at the client whether something may be done, while a call waits for it. Decides nothing.

use std::convert::Infallible;

use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::backend::{Attendant, Permission};
use crate::connection::Connection;
use crate::limits::ASKING_DEADLINE;

/// Whether the client can show a question with a few answers to choose from.
pub(crate) fn shows_questions(context: &RequestContext<RoleServer>) -> bool {
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
        let permission = match question(&asking.message) {
            Some(question) => {
                let answered =
                    context.peer.create_elicitation_with_timeout(question, Some(ASKING_DEADLINE)).await;
                answered.map_or(Permission::No, |answer| permission(&answer))
            }
            None => Permission::No,
        };
        attendant.answer(&asking.id, permission);
    }
}

/// The question as clients show it.
pub(crate) fn question(message: &str) -> Option<ElicitRequestParams> {
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
pub(crate) fn permission(answer: &ElicitResult) -> Permission {
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
