//! Saved logins, given out only for sites on which the policy lets somebody act.

use tabwire_engine::{LoginKeeper, Passphrase, SavedLogin};
use tabwire_policy::{Address, Capability};
use tabwire_wire::Failure;

use crate::checkpoint::Checkpoint;
use crate::vault::Vault;

/// A vault behind a checkpoint.
#[derive(Debug)]
pub(crate) struct GuardedLogins {
    pub(crate) vault: Vault,
    pub(crate) checkpoint: Checkpoint,
}

impl LoginKeeper for GuardedLogins {
    fn find(&self, name: &str, passphrase: Option<&Passphrase>) -> Result<SavedLogin, Failure> {
        let login = self.vault.find(name, passphrase)?;
        // The page with its form, which nobody has named: whoever may be asked is asked, as for every other page.
        self.checkpoint.require_blocking(&Address::read(&login.url), Capability::Act)?;
        Ok(login)
    }
}
