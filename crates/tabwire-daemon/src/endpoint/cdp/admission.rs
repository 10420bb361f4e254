//! Whether a client may use CDP in a session.

use http::Request;
use hyper::body::Incoming;
use tabwire_api::{ClientName, Failure};
use tabwire_policy::{AccessRequest, ApprovalWait, Capability, Decision, PageUrl};

use super::{CdpEndpoint, ServedSession};
use crate::http::agent_name::agent_name;
use crate::http::handler::{caller_of, query_value};
use crate::policy::approvals::ApprovalRequest;
use crate::policy::asking::ask_user;
use crate::policy::store::{OneTimeGrant, now};

impl CdpEndpoint {
    /// Fails unless a client may use CDP in a session.
    pub(super) fn check_admission(&self, served: &ServedSession) -> Result<(), Failure> {
        self.policy.admit_cdp_client(&served.session.key, served.live.options.policy())
    }

    /// As [`Self::check_admission`], but asks the user first if the policy says so. The grant of the answer "once" is
    /// for this connection.
    pub(super) async fn admit(
        &self,
        served: &ServedSession,
        request: &Request<Incoming>,
    ) -> Result<Option<OneTimeGrant>, Failure> {
        let Err(refused) = self.check_admission(served) else { return Ok(None) };
        let (profile, session) = (served.live.options.policy(), served.session.key.to_string());
        let capability = Capability::Cdp;
        let url = &PageUrl::Everywhere;
        let access = AccessRequest { profile, url, capability, session: Some(&session), now: now() };
        let decision = self.policy.rulebook().decide(&access);
        let Decision::Ask { why, site, wait, .. } = &decision else { return Err(refused) };
        if *wait == ApprovalWait::IfApproverConnected && !self.approvals.is_watched() {
            return Err(refused);
        }
        let caller = caller_of(request);
        let client = query_value(request, "client").and_then(|name| name.parse::<ClientName>().ok());
        let question = ApprovalRequest {
            who: caller.label(client.as_ref().map(ClientName::as_str)),
            agent: agent_name(client.as_ref(), &caller),
            client,
            call: None,
            session,
            action: "connect".to_owned(),
            site: site.to_string(),
            capability: capability.as_str(),
            why: why.clone(),
        };
        ask_user(&self.policy, &self.approvals, &decision, question).await
    }
}
