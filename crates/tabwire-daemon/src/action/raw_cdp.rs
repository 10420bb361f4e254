//! CDP commands of the action `cdp`: each is sent by a CDP client of its own, under the guard of all CDP clients.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tabwire_api::api::PolicyProfile;
use tabwire_api::{Failure, SessionKey, TargetId};
use tabwire_cdp::{Connection, Deadline, TaskGroup, channel_pair};
use tabwire_engine::{RawCdp, send_raw_command};
use tabwire_mux::{ClientOptions, OnLoss, Share};

use crate::hub::client_guard::ClientGuard;
use crate::hub::client_label::ClientLabel;
use crate::policy::cdp_guard::GuardedClient;
use crate::policy::store::PolicyStore;
use crate::session::gone;
use crate::session::live::LiveSession;

/// Sends CDP commands to the tabs of a session.
#[derive(Debug)]
pub(crate) struct SessionCdp {
    pub(crate) live: Arc<LiveSession>,
    pub(crate) key: SessionKey,
    pub(crate) policy: Arc<PolicyStore>,
    /// The profile of the action, which is not weaker than the session's.
    pub(crate) profile: PolicyProfile,
    pub(crate) tasks: TaskGroup,
}

impl SessionCdp {
    async fn send_as_client(
        &self,
        target: &TargetId,
        method: &str,
        params: &Value,
        deadline: Deadline,
    ) -> Result<Value, Failure> {
        self.policy.admit_cdp_client(&self.key, self.profile)?;
        let (ours, theirs) = channel_pair();
        let browser = &self.live.browser;
        let guard = self.policy.guard(GuardedClient::CdpClient, self.profile, &self.key, browser.ownership);
        // The tab may belong to the session's engine or to another client. The action was checked for this tab.
        let options = ClientOptions {
            share: Share::All,
            on_loss: OnLoss::Close,
            partition: self.live.partition.clone(),
            guard: Some(guard),
            ..ClientOptions::default()
        };
        let label = ClientLabel::new(self.key.name.to_string());
        let place = ClientGuard::of_engine(label, self.profile == PolicyProfile::Open);
        let client =
            browser.hub.join_guarded(theirs.0, theirs.1, options, Some(place)).await.map_err(gone)?;
        let connection = Connection::start(ours.0, ours.1, &self.tasks);
        let outcome = send_raw_command(&connection, target, method, params, deadline).await;
        browser.hub.dismiss(client, tabwire_cdp::CloseFrame::Done).await;
        outcome
    }
}

impl RawCdp for SessionCdp {
    fn send<'a>(
        &'a self,
        target: &'a TargetId,
        method: &'a str,
        params: &'a Value,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(self.send_as_client(target, method, params, deadline))
    }
}
