//! Scripts that run in every document of a tab before the page's own. Knows nothing of what they do.

use serde_json::json;
use tabwire_cdp::{CdpError, Deadline};
use tabwire_wire::{ErrorCode, Failure};

use crate::driver::Setting;
use crate::limits::INIT_SCRIPTS;
use crate::page::Page;

/// The scripts of one tab.
#[derive(Debug, Default)]
pub(crate) struct InitScripts {
    scripts: Vec<(u32, String)>,
    given: u32,
}

impl InitScripts {
    /// The scripts with their numbers, in the order they run.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.scripts.iter().map(|(number, source)| (*number, source.as_str()))
    }
}

/// What the driver knows a script by.
fn key(number: u32) -> String {
    format!("init-script:{number}")
}

impl Page {
    /// Adds a script to every document from now on, in frames of every process too, and gives its number.
    pub(crate) async fn add_init_script(&self, source: &str, deadline: Deadline) -> Result<u32, Failure> {
        let mut scripts = self.record().init_scripts().lock().await;
        if scripts.scripts.len() >= INIT_SCRIPTS {
            let message = format!("A tab has at most {INIT_SCRIPTS} scripts of this kind.");
            return Err(
                Failure::new(ErrorCode::Backpressure, message).with_hint("Remove some of them first.")
            );
        }
        let number = scripts.given + 1;
        let setting = Setting {
            key: key(number),
            method: "Page.addScriptToEvaluateOnNewDocument",
            params: json!({"source": source}),
            lasts: true,
        };
        scripts.given = number;
        if let Err(failure) = self.set_everywhere(&setting, deadline).await {
            // Not left half done.
            drop(self.driver().take_back_script(&key(number), deadline));
            return Err(failure);
        }
        scripts.scripts.push((number, source.to_owned()));
        Ok(number)
    }

    /// Removes a script from all documents to come; documents that are there keep what it did.
    pub(crate) async fn remove_init_script(&self, number: u32, deadline: Deadline) -> Result<bool, Failure> {
        let mut scripts = self.record().init_scripts().lock().await;
        if !scripts.iter().any(|(known, _)| known == number) {
            return Ok(false);
        }
        let taken = self.driver().take_back_script(&key(number), deadline);
        self.unless_blocked(async { taken.await.map_err(CdpError::into_failure) }).await?;
        scripts.scripts.retain(|(known, _)| *known != number);
        Ok(true)
    }
}
