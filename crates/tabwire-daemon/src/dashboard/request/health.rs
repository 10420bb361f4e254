//! Sizes and counters of the daemon, and the findings of the doctor.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_api::{ErrorCode, Failure, Remedy, Step, VERSION};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::daemon::Daemon;

/// How long the doctor may take.
const DOCTOR_DEADLINE: Duration = Duration::from_secs(40);

/// Largest output of the doctor.
const DOCTOR_BYTES: u64 = 1024 * 1024;

/// Sizes and counters.
pub(super) async fn health(daemon: &Arc<Daemon>) -> Value {
    let (trail, log) = (Arc::clone(&daemon.trail), daemon.config.paths.audit_log());
    let sizes = tokio::task::spawn_blocking(move || {
        let log_bytes = std::fs::metadata(log).map_or(0, |facts| facts.len());
        (own_memory(), trail.size(), log_bytes)
    });
    let (memory, (screenshots, screenshot_bytes), log_bytes) = sizes.await.unwrap_or_default();
    let clients = daemon.clients.list().await;
    json!({
        "version": VERSION,
        "memory_bytes": memory,
        "uptime_seconds": daemon.since.elapsed().as_secs(),
        "clients": clients.len(),
        "calls": clients.iter().map(|client| client.pending).sum::<usize>(),
        "questions": daemon.approvals.pending(None).len(),
        "event_streams": daemon.event_streams.count(),
        "dashboards": daemon.dashboards.count(std::time::Instant::now()),
        "log": {"on": daemon.audit.writes(), "bytes": log_bytes, "lost_rows": daemon.audit.lost()},
        "trail": {"screenshots": screenshots, "bytes": screenshot_bytes},
        "extensions": daemon.extensions.list().await,
    })
}

/// The resident memory of this process.
fn own_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

/// Runs `tabwire doctor`, which starts and changes nothing.
pub(super) async fn doctor(daemon: &Arc<Daemon>) -> Result<Value, Failure> {
    let failed = |why: String| {
        Failure::new(ErrorCode::Internal, format!("The checks did not run: {why}."))
            .with_remedy(Remedy::new("Run {} in a terminal.", [Step::command("tabwire doctor")]))
    };
    let mut child = Command::new(&daemon.config.self_exe)
        .args(["--json", "doctor"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut output = Vec::new();
    let reading = async {
        if let Some(stdout) = child.stdout.take() {
            stdout.take(DOCTOR_BYTES).read_to_end(&mut output).await?;
        }
        child.wait().await
    };
    match tokio::time::timeout(DOCTOR_DEADLINE, reading).await {
        // A finding makes it exit with 1.
        Ok(Ok(_)) => serde_json::from_slice(&output).map_err(|error| failed(error.to_string())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("they took too long".to_owned())),
    }
}
