//! Files between this machine and that of a rented browser, through the node of a Grid.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tabwire_api::{ErrorCode, Failure};
use tabwire_cdp::Deadline;
use tabwire_engine::{RemoteFileFuture, RemoteFiles, UploadFile};

use crate::rent::source::send;
use crate::rent::zip::{pack, unpack};
use crate::rent::{HeldRental, capital};

/// Largest file that goes to a node or comes from it: it travels as text in one request.
const FILE_BYTES: u64 = 48 * 1024 * 1024;

/// How long one file may take.
const FILE_DEADLINE: Duration = Duration::from_secs(60);

/// The files of one rented browser.
#[derive(Debug)]
pub(crate) struct RentedFiles(pub(crate) Arc<HeldRental>);

impl RemoteFiles for RentedFiles {
    fn place<'a>(&'a self, file: &'a UploadFile) -> RemoteFileFuture<'a, PathBuf> {
        Box::pin(self.upload(file))
    }

    fn fetch<'a>(&'a self, name: &'a str, to: &'a Path) -> RemoteFileFuture<'a, ()> {
        Box::pin(self.download(name, to))
    }
}

impl RentedFiles {
    async fn upload(&self, file: &UploadFile) -> Result<PathBuf, Failure> {
        let Some((grid, id)) = self.0.grid() else {
            // Some providers see the same file system; a browser that does not reports it.
            return Ok(file.path.clone());
        };
        if file.bytes > FILE_BYTES {
            let message = format!("{:?} has {} bytes; a node takes {FILE_BYTES}.", file.name, file.bytes);
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Give a smaller file."));
        }
        let content = tokio::fs::read(&file.path).await.map_err(|error| {
            Failure::new(ErrorCode::BadArgs, format!("{:?} cannot be read: {error}.", file.name))
        })?;
        let too_large = || Failure::new(ErrorCode::BadArgs, format!("{:?} cannot be packed.", file.name));
        let request = grid.upload(id, &pack(&file.name, &content).ok_or_else(too_large)?);
        let response = send(&request, Deadline::after(FILE_DEADLINE)).await;
        let response = response.map_err(|error| self.failed("took no file", &error.to_string()))?;
        let value: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let path = value.get("value").and_then(Value::as_str).filter(|_| response.status == 200);
        path.map(PathBuf::from)
            .ok_or_else(|| self.failed("took no file", &format!("HTTP status {}", response.status)))
    }

    async fn download(&self, name: &str, to: &Path) -> Result<(), Failure> {
        let Some((grid, id)) = self.0.grid() else {
            let message = format!("{} does not offer downloads.", capital(&self.0.place()));
            return Err(Failure::new(ErrorCode::DownloadFailed, message)
                .with_remedy("Read the file's content in the page, for example with `request`."));
        };
        if !self.0.keeps_downloads {
            let message = format!("The node of {} keeps no downloads.", self.0.place());
            return Err(Failure::new(ErrorCode::DownloadFailed, message)
                .with_remedy("Start the node with `--enable-managed-downloads true`."));
        }
        let response = send(&grid.download(id, name), Deadline::after(FILE_DEADLINE)).await;
        let response = response.map_err(|error| self.failed("gave no file", &error.to_string()))?;
        let value: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        let content = value.pointer("/value/contents").and_then(Value::as_str);
        let Some(content) = content.filter(|_| response.status == 200) else {
            return Err(self.failed("gave no file", &format!("HTTP status {}", response.status)));
        };
        let damaged = || self.failed("gave no file", "the archive is damaged or too large");
        let archive = STANDARD.decode(content).map_err(|_| damaged())?;
        let content = unpack(&archive, FILE_BYTES).ok_or_else(damaged)?;
        tokio::fs::write(to, content).await.map_err(|error| self.failed("gave a file", &error.to_string()))
    }

    fn failed(&self, what: &str, why: &str) -> Failure {
        let message = format!("The node of {} {what}: {why}.", self.0.place());
        Failure::new(ErrorCode::DownloadFailed, message)
            .with_remedy("Look at the log of the node, and retry.")
    }
}
