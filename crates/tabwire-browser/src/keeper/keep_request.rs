//! What a keeper is asked to do and what it says about it. Knows no processes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabwire_api::{Failure, InstanceId};

use crate::error::BrowserError;
use crate::keeper::descriptor::BrowserDescriptor;
use crate::launch::spec::LaunchSpec;
use crate::limits;

/// One browser to start and keep; sent on the keeper's stdin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepRequest {
    /// How to start it.
    pub spec: LaunchSpec,
    /// Where `browsers/` and temporary profiles are.
    pub runtime_dir: PathBuf,
    /// The name of the keeper's run, drawn by whoever starts it.
    pub instance: InstanceId,
    /// Words for the descriptor, not read by the keeper.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl KeepRequest {
    /// Where the keeper puts its descriptor and socket.
    #[must_use]
    pub fn descriptor_directory(&self) -> PathBuf {
        self.runtime_dir.join("browsers")
    }

    pub(super) fn read(input: impl Read) -> Result<Self, BrowserError> {
        let bad = |what| BrowserError::Peer { peer: "Whoever started this keeper", what };
        let mut text = Vec::new();
        let bound = u64::try_from(limits::KEEP_REQUEST_BYTES).unwrap_or(u64::MAX);
        input
            .take(bound)
            .read_to_end(&mut text)
            .map_err(|error| BrowserError::system("read", Path::new("stdin"), error))?;
        serde_json::from_slice(&text).map_err(|_| bad("the request is not valid"))
    }
}

/// The one line a keeper prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepOutcome {
    /// The browser runs and can be claimed.
    Ok(Box<BrowserDescriptor>),
    /// It does not; nothing is left of it.
    Failed(Failure),
}

impl KeepOutcome {
    pub(super) fn write(&self, output: &mut impl Write) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    }
}
