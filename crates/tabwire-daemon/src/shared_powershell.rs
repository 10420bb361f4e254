//! The one PowerShell of Windows that all browsers there share, for as long as somebody needs it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};

use tabwire_cdp::TaskGroup;
use tabwire_wire::Failure;
use tokio::sync::Mutex;

use crate::limits::{POWERSHELL_START, WINDOWS_LAUNCHES};
use crate::powershell::{Powershell, PowershellCommand};

/// The PowerShell that runs, if one does.
#[derive(Debug, Default)]
pub(crate) struct SharedPowershell {
    running: Mutex<Option<(PowershellCommand, Weak<Powershell>)>>,
    /// Browsers that were started through one, by process and port: they are ours to end, whichever PowerShell finds
    /// them again.
    launched: StdMutex<BTreeSet<(u32, u16)>>,
}

impl SharedPowershell {
    /// The one that runs, if it was started in the same way; else a new one.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) async fn obtain(
        &self,
        command: &PowershellCommand,
        tasks: &TaskGroup,
    ) -> Result<Arc<Powershell>, Failure> {
        let mut running = self.running.lock().await;
        let is_same =
            |known: &PowershellCommand| known.program == command.program && known.script == command.script;
        let found = running.as_ref().filter(|(known, _)| is_same(known)).and_then(|(_, weak)| weak.upgrade());
        if let Some(found) = found.filter(|found| found.is_there()) {
            return Ok(found);
        }
        let started = Powershell::start(command, tasks, POWERSHELL_START).await?;
        *running = Some((command.clone(), Arc::downgrade(&started)));
        Ok(started)
    }

    /// Remembers a browser that was started now.
    pub(crate) fn note_launched(&self, pid: u32, port: u16) {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if launched.len() >= WINDOWS_LAUNCHES {
            launched.pop_first();
        }
        launched.insert((pid, port));
    }

    /// Whether a browser that was found was started by us.
    pub(crate) fn has_launched(&self, pid: u32, port: u16) -> bool {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner).contains(&(pid, port))
    }
}
