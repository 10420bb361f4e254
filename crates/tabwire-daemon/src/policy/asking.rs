//! Asks the user about a request that the policy neither allows nor denies, and stores the answer.

use std::sync::Arc;

use tabwire_api::Failure;
use tabwire_policy::{Capabilities, Decision, GrantTerm};

use crate::action::policy_check::refusal;
use crate::policy::approvals::{ApprovalDecision, ApprovalOutcome, ApprovalQueue, ApprovalRequest};
use crate::policy::store::{OneTimeGrant, PolicyStore};

/// Asks the user, and stores the grant for the chosen term. Returns the grant of the answer "once", which ends when it
/// is dropped.
pub(crate) async fn ask_user(
    policy: &Arc<PolicyStore>,
    approvals: &ApprovalQueue,
    decision: &Decision,
    question: ApprovalRequest,
) -> Result<Option<OneTimeGrant>, Failure> {
    let Decision::Ask { site, capability, wait, .. } = decision else {
        return Err(refusal(decision));
    };
    let (session, asking) = (question.session.clone(), question.agent.clone());
    let (agent, term) = match approvals.ask(question, *wait).await {
        ApprovalOutcome::Decided(ApprovalDecision::Once) => {
            return Ok(Some(policy.grant_once(site.clone(), *capability, &session)));
        }
        ApprovalOutcome::Decided(ApprovalDecision::Session) => (None, GrantTerm::Session(session)),
        ApprovalOutcome::Decided(ApprovalDecision::Agent) => {
            policy.add_agent(&session, &asking);
            (Some(asking.as_str()), GrantTerm::Always)
        }
        ApprovalOutcome::Decided(ApprovalDecision::Always) => (None, GrantTerm::Always),
        ApprovalOutcome::Decided(ApprovalDecision::No) => {
            return Err(unapproved(decision, "The user denied it."));
        }
        ApprovalOutcome::Expired => {
            return Err(unapproved(decision, "The user was asked and did not decide in time."));
        }
        ApprovalOutcome::NoWatcher => return Err(refusal(decision)),
    };
    let given = (Capabilities::NONE.with(*capability).with_reading(), term);
    policy.change(|ledger, time| ledger.extend(agent, site.clone(), given, time, "an approval"))?;
    Ok(None)
}

fn unapproved(decision: &Decision, what: &str) -> Failure {
    let refusal = refusal(decision);
    Failure { message: format!("{what} {}", refusal.message), ..refusal }
}
