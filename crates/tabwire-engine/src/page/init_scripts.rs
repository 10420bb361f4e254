//! Init scripts: run in every document of a tab before the page's own scripts.

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_cdp::{CdpError, Deadline};

use crate::cdp::Setting;
/// Init scripts per tab.
const INIT_SCRIPTS: usize = 100;
use crate::page::Page;

/// The scripts of one tab.
#[derive(Debug, Default)]
pub(crate) struct InitScripts {
    scripts: Vec<(u32, String)>,
    last_number: u32,
}

impl InitScripts {
    /// The scripts with their numbers, in run order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.scripts.iter().map(|(number, source)| (*number, source.as_str()))
    }
}

/// The key of a script's setting.
fn key(number: u32) -> String {
    format!("init-script:{number}")
}

impl Page {
    /// Adds a script to all later documents, in frames of every process too. Returns its number.
    pub(crate) async fn add_init_script(&self, source: &str, deadline: Deadline) -> Result<u32, Failure> {
        let mut scripts = self.state().init_scripts().lock().await;
        if scripts.scripts.len() >= INIT_SCRIPTS {
            let message = format!("A tab can have at most {INIT_SCRIPTS} init scripts.");
            return Err(Failure::new(ErrorCode::Backpressure, message)
                .with_remedy(Remedy::new("Remove some with {}.", [Step::action("init_script")])));
        }
        let number = scripts.last_number + 1;
        let setting = Setting {
            key: key(number),
            method: "Page.addScriptToEvaluateOnNewDocument",
            params: json!({"source": source}),
            persistent: true,
        };
        scripts.last_number = number;
        if let Err(failure) = self.set_everywhere(&setting, deadline).await {
            // Some processes may have it already.
            drop(self.session().remove_script(&key(number), deadline));
            return Err(failure);
        }
        scripts.scripts.push((number, source.to_owned()));
        Ok(number)
    }

    /// Removes a script from all later documents.
    pub(crate) async fn remove_init_script(&self, number: u32, deadline: Deadline) -> Result<bool, Failure> {
        let mut scripts = self.state().init_scripts().lock().await;
        if !scripts.iter().any(|(known, _)| known == number) {
            return Ok(false);
        }
        let removed = self.session().remove_script(&key(number), deadline);
        self.unless_blocked(async { removed.await.map_err(CdpError::into_failure) }).await?;
        scripts.scripts.retain(|(known, _)| *known != number);
        Ok(true)
    }
}
