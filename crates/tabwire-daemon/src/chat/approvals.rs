//! Questions of the policy to a chat's user.

use serde_json::json;
use tabwire_acp::{ApprovalFacts, ItemBody, QuestionOutcome};

use crate::chat::run::Run;
use crate::limits::APPROVAL_DEADLINE;
use crate::policy::approvals::PendingApproval;
use crate::policy::store::now;

impl Run {
    /// Shows the policy questions of the agent's connection, and ends those that are decided.
    pub(super) fn show_approvals(&mut self) {
        let Ok(name) = self.chat.client_name() else { return };
        let pending = self.daemon.approvals.pending(None);
        let own: Vec<_> = pending.iter().filter(|one| one.request.client.as_ref() == Some(&name)).collect();
        for one in &own {
            let id = one.id.to_string();
            if self.approvals.contains_key(&id) {
                continue;
            }
            let mut item = None;
            self.chat.update(|transcript| {
                let (id, changes) = transcript.push(question(one));
                item = Some(id);
                changes
            });
            self.approvals.extend(item.map(|item| (id, item)));
        }
        let decided = self.daemon.approvals.decided();
        self.approvals.retain(|id, item| {
            if own.iter().any(|one| one.id.to_string() == *id) {
                return true;
            }
            let answer = decided.iter().find(|one| one.id.to_string() == *id);
            let word = answer.map(|one| json!(one.answer).as_str().unwrap_or_default().to_owned());
            let end = word.map_or(QuestionOutcome::Withdrawn, QuestionOutcome::Answered);
            self.chat.update(|transcript| {
                transcript.change(*item, |body| {
                    if let ItemBody::Approval { outcome, .. } = body {
                        *outcome = Some(end);
                    }
                })
            });
            false
        });
    }
}

fn question(pending: &PendingApproval) -> ItemBody {
    let request = &pending.request;
    let text =
        format!("`{}` on {} needs `{}`: {}", request.action, request.site, request.capability, request.why);
    let facts = ApprovalFacts {
        agent: request.agent.clone(),
        action: request.action.clone(),
        site: request.site.clone(),
        capability: request.capability.to_owned(),
        why: request.why.clone(),
        until: now() + pending.seconds_left,
        seconds: APPROVAL_DEADLINE.as_secs(),
    };
    ItemBody::Approval { approval: pending.id.to_string(), text, facts: Some(facts), outcome: None }
}
