//! Saved logins, available only on sites where the policy allows `act`.

use tabwire_api::Failure;
use tabwire_engine::{LoginStore, Passphrase, SavedLogin};
use tabwire_policy::{Capability, PageUrl};

use crate::action::policy_check::PolicyCheck;
use crate::vault::Vault;

/// A vault behind the policy check.
#[derive(Debug)]
pub(crate) struct GuardedLogins {
    pub(crate) vault: Vault,
    pub(crate) policy_check: PolicyCheck,
}

impl LoginStore for GuardedLogins {
    fn find(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure> {
        let login = self.vault.find(name, passphrase)?;
        // The caller named the login, so the page with its form is checked here, and the user may be asked.
        self.policy_check.require_blocking(&PageUrl::parse(&login.url), Capability::Act)?;
        Ok(login)
    }
}
