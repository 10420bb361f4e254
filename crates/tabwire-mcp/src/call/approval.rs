//! Elicitation: requests the user's approval through the client while a call waits.

use std::convert::Infallible;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
    InputRequest, InputRequests, InputResponses, LegacyEnumSchema, PrimitiveSchemaDefinition,
};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::backend::{ApprovalQuestion, Approver, Permission};
use crate::connection::Connection;
use crate::limits::QUESTION_TIMEOUT;

/// The key of the question in `inputRequests`.
const QUESTION: &str = "approval";

/// The answers, as they are sent and as they are shown.
const ANSWERS: [(&str, &str); 5] = [
    ("once", "Once"),
    ("session", "For this session"),
    ("agent", "Always, for this agent"),
    ("always", "Always, for every agent"),
    ("no", "No"),
];

/// Whether the client can show a form with a few answers to choose from.
pub(crate) fn can_elicit(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // An empty capability means forms. A client that lists only URLs cannot show forms.
    elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// Sends the questions of a call to the client, for as long as the call runs.
pub(crate) async fn forward_questions(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    approver: Option<&dyn Approver>,
) -> Infallible {
    let Some(approver) = approver else { return std::future::pending().await };
    loop {
        let question = approver.next().await;
        // One question at a time, also with several running calls.
        let _turn = connection.question_lock.lock().await;
        let responses = send_questions(context, approver.encode(&question)).await;
        if !responses.is_some_and(|responses| approver.accept(&question, &responses)) {
            approver.answer(&question.id, Permission::No);
        }
    }
}

/// Sends each question to the client; `None` if one is not answered or is not an elicitation.
async fn send_questions(
    context: &RequestContext<RoleServer>,
    requests: InputRequests,
) -> Option<InputResponses> {
    let mut responses = InputResponses::new();
    for (name, request) in requests {
        let InputRequest::Elicitation(question) = request else { return None };
        let answer = context.peer.create_elicitation_with_timeout(question.params, Some(QUESTION_TIMEOUT));
        responses.insert(name, serde_json::to_value(answer.await.ok()?).ok()?);
    }
    Some(responses)
}

/// Encodes an approval question for the client.
pub(crate) fn encode(question: &ApprovalQuestion) -> InputRequests {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(&question.message)));
    [(QUESTION.to_owned(), request)].into()
}

/// The answer in the client's responses; `None` if there is none.
pub(crate) fn decode(responses: &InputResponses) -> Option<Permission> {
    let answer = serde_json::from_value::<ElicitResult>(responses.get(QUESTION)?.clone());
    Some(answer.map_or(Permission::No, |answer| permission(&answer)))
}

/// The elicitation form of a question.
fn form(message: &str) -> ElicitRequestParams {
    let mut answer = LegacyEnumSchema::new(ANSWERS.map(|(answer, _)| answer.to_owned()).into());
    answer.title = Some("Allow it?".into());
    answer.enum_names = Some(ANSWERS.map(|(_, shown)| shown.to_owned()).into());
    let answer = PrimitiveSchemaDefinition::Enum(EnumSchema::Legacy(answer));
    let schema = ElicitationSchema::new([("answer".to_owned(), answer)].into());
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: schema.with_required(vec!["answer".to_owned()]),
    }
}

/// The user's answer. Anything but a clear yes is no.
fn permission(answer: &ElicitResult) -> Permission {
    let choice = answer.content.as_ref().and_then(|content| content.get("answer")).and_then(Value::as_str);
    match (&answer.action, choice) {
        (ElicitationAction::Accept, Some("once")) => Permission::Once,
        (ElicitationAction::Accept, Some("session")) => Permission::Session,
        (ElicitationAction::Accept, Some("agent")) => Permission::Agent,
        (ElicitationAction::Accept, Some("always")) => Permission::Always,
        _ => Permission::No,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_form_offers_every_answer() {
        let form = serde_json::to_value(form("May it?")).expect("a form");
        assert_eq!(form["message"], "May it?");
        assert_eq!(
            form["requestedSchema"],
            json!({
                "type": "object",
                "properties": {"answer": {
                    "type": "string", "title": "Allow it?",
                    "enum": ["once", "session", "agent", "always", "no"],
                    "enumNames": ["Once", "For this session", "Always, for this agent", "Always, for every agent", "No"],
                }},
                "required": ["answer"],
            })
        );
    }

    #[test]
    fn only_a_clear_yes_is_approval() {
        for (action, content, expected) in [
            ("accept", json!({"answer": "once"}), Permission::Once),
            ("accept", json!({"answer": "agent"}), Permission::Agent),
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
