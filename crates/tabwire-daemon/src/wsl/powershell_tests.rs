//! A misbehaving PowerShell, one test per fault, with short timeouts.

use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::wsl::protocol::PortResponse;

const TIMEOUT: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(300);

struct Stage {
    windows: TempDir,
    tasks: TaskGroup,
}

impl Stage {
    fn new(fault: &str) -> Self {
        let windows = tempfile::tempdir().unwrap();
        std::fs::write(windows.path().join("fault"), fault).unwrap();
        Self { windows, tasks: TaskGroup::new() }
    }

    async fn start(&self, timeout: Duration) -> Result<Arc<Powershell>, Failure> {
        let here = std::env::current_exe().unwrap();
        let program = here.parent().and_then(|place| place.parent()).unwrap().join("fake-powershell");
        assert!(program.exists(), "run `cargo build -p tabwire-testkit --bins` first");
        let root = self.windows.path().to_string_lossy().into_owned();
        let environment = BTreeMap::from([("TABWIRE_FAKE_WINDOWS".to_owned(), root)]);
        let command = PowershellCommand { program, script: "host.ps1".to_owned(), environment };
        Powershell::start(&command, &self.tasks, timeout).await
    }

    async fn ask(&self, timeout: Duration) -> Result<u16, Failure> {
        let powershell = self.start(TIMEOUT).await.unwrap();
        let request = Request::Port { preferred: None, fixed: false };
        powershell.request::<PortResponse>(&request, timeout).await.map(|response| response.port)
    }
}

#[tokio::test]
async fn powershell_responds_and_ends_with_its_last_handle() {
    let stage = Stage::new("");
    let powershell = stage.start(TIMEOUT).await.unwrap();
    let asking = (0..20).map(|_| async {
        let request = Request::Port { preferred: None, fixed: false };
        powershell.request::<PortResponse>(&request, TIMEOUT).await.unwrap().port
    });
    assert!(futures_util::future::join_all(asking).await.iter().all(|port| *port > 0));
    drop(powershell);
    assert!(stage.tasks.drained(TIMEOUT).await, "{:?}", stage.tasks.names());
}

#[tokio::test]
async fn a_missing_or_slow_powershell_fails_to_start() {
    let nowhere = PowershellCommand {
        program: "/nowhere/powershell.exe".into(),
        script: String::new(),
        environment: BTreeMap::new(),
    };
    let failure = Powershell::start(&nowhere, &TaskGroup::new(), TIMEOUT).await.unwrap_err();
    assert!(failure.code == ErrorCode::LaunchFailed && failure.remedy.is_some(), "{failure:?}");
    let failure = Stage::new("hang start").start(SHORT).await.unwrap_err();
    assert!(failure.message.contains("was not there after"), "{failure:?}");
}

#[tokio::test]
async fn a_hanging_powershell_is_ended_and_all_requests_fail() {
    let stage = Stage::new("hang port");
    let powershell = stage.start(TIMEOUT).await.unwrap();
    let before = Instant::now();
    let (port, find) = (Request::Port { preferred: None, fixed: false }, Request::Find { profile: "x" });
    let (late, gone) =
        tokio::join!(powershell.request::<Value>(&port, SHORT), powershell.request::<Value>(&find, TIMEOUT),);
    assert_eq!(late.unwrap_err().code, ErrorCode::Timeout);
    assert_eq!(gone.unwrap_err().code, ErrorCode::BrowserGone);
    assert!(before.elapsed() < TIMEOUT);
    assert!(!powershell.is_there());
    drop(powershell);
    assert!(stage.tasks.drained(TIMEOUT).await, "{:?}", stage.tasks.names());
}

#[tokio::test]
async fn a_few_unknown_lines_are_skipped_and_many_end_it() {
    for fault in ["garbage start", "garbage port", "slow port"] {
        assert!(Stage::new(fault).ask(TIMEOUT).await.is_ok(), "{fault}");
    }
    let failure = Stage::new("flood port").ask(TIMEOUT).await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::BrowserGone, "{failure:?}");
}

#[tokio::test]
async fn a_partial_line_a_crash_and_a_refusal_have_their_own_codes() {
    for (fault, code) in [
        ("half port", ErrorCode::BrowserGone),
        ("die port", ErrorCode::BrowserGone),
        ("refuse port", ErrorCode::LaunchFailed),
    ] {
        let failure = Stage::new(fault).ask(TIMEOUT).await.unwrap_err();
        assert_eq!((failure.code, failure.remedy.is_some()), (code, true), "{fault}: {failure:?}");
    }
}

#[tokio::test]
async fn a_response_with_an_unknown_id_is_ignored() {
    let failure = Stage::new("stranger port").ask(SHORT).await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::Timeout, "{failure:?}");
}
