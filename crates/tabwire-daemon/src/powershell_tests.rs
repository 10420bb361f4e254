//! A PowerShell that misbehaves, one test for each way, with short patience.

use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::powershell_word::PortAnswer;

const PATIENCE: Duration = Duration::from_secs(10);
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

    async fn start(&self, patience: Duration) -> Result<Arc<Powershell>, Failure> {
        let here = std::env::current_exe().unwrap();
        let program = here.parent().and_then(|place| place.parent()).unwrap().join("fake-powershell");
        assert!(program.exists(), "run `cargo build -p tabwire-testkit --bins` first");
        let root = self.windows.path().to_string_lossy().into_owned();
        let environment = BTreeMap::from([("TABWIRE_FAKE_WINDOWS".to_owned(), root)]);
        let command = PowershellCommand { program, script: "host.ps1".to_owned(), environment };
        Powershell::start(&command, &self.tasks, patience).await
    }

    async fn ask(&self, patience: Duration) -> Result<u16, Failure> {
        let powershell = self.start(PATIENCE).await.unwrap();
        let word = Word::Port { wish: None, fixed: false };
        powershell.ask::<PortAnswer>(&word, patience).await.map(|answer| answer.port)
    }
}

#[tokio::test]
async fn a_powershell_that_is_well_answers_and_ends_when_nobody_holds_it() {
    let stage = Stage::new("");
    let powershell = stage.start(PATIENCE).await.unwrap();
    let asking = (0..20).map(|_| async {
        let word = Word::Port { wish: None, fixed: false };
        powershell.ask::<PortAnswer>(&word, PATIENCE).await.unwrap().port
    });
    assert!(futures_util::future::join_all(asking).await.iter().all(|port| *port > 0));
    drop(powershell);
    assert!(stage.tasks.drained(PATIENCE).await, "{:?}", stage.tasks.names());
}

#[tokio::test]
async fn one_that_is_not_there_or_not_ready_in_time_is_told() {
    let nowhere = PowershellCommand {
        program: "/nowhere/powershell.exe".into(),
        script: String::new(),
        environment: BTreeMap::new(),
    };
    let failure = Powershell::start(&nowhere, &TaskGroup::new(), PATIENCE).await.unwrap_err();
    assert!(failure.code == ErrorCode::LaunchFailed && failure.hint.is_some(), "{failure:?}");
    let failure = Stage::new("hang start").start(SHORT).await.unwrap_err();
    assert!(failure.message.contains("was not there after"), "{failure:?}");
}

#[tokio::test]
async fn one_that_hangs_is_ended_and_whoever_else_waits_is_told() {
    let stage = Stage::new("hang port");
    let powershell = stage.start(PATIENCE).await.unwrap();
    let before = Instant::now();
    let (port, find) = (Word::Port { wish: None, fixed: false }, Word::Find { profile: "x" });
    let (late, gone) =
        tokio::join!(powershell.ask::<Value>(&port, SHORT), powershell.ask::<Value>(&find, PATIENCE),);
    assert_eq!(late.unwrap_err().code, ErrorCode::Timeout);
    assert_eq!(gone.unwrap_err().code, ErrorCode::BrowserGone);
    assert!(before.elapsed() < PATIENCE);
    assert!(!powershell.is_there());
    drop(powershell);
    assert!(stage.tasks.drained(PATIENCE).await, "{:?}", stage.tasks.names());
}

#[tokio::test]
async fn noise_is_overheard_and_a_flood_of_it_is_not() {
    for fault in ["garbage start", "garbage port", "slow port"] {
        assert!(Stage::new(fault).ask(PATIENCE).await.is_ok(), "{fault}");
    }
    let failure = Stage::new("flood port").ask(PATIENCE).await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::BrowserGone, "{failure:?}");
}

#[tokio::test]
async fn half_a_line_death_and_a_refusal_are_told_apart() {
    for (fault, code) in [
        ("half port", ErrorCode::BrowserGone),
        ("die port", ErrorCode::BrowserGone),
        ("refuse port", ErrorCode::LaunchFailed),
    ] {
        let failure = Stage::new(fault).ask(PATIENCE).await.unwrap_err();
        assert_eq!((failure.code, failure.hint.is_some()), (code, true), "{fault}: {failure:?}");
    }
}

#[tokio::test]
async fn an_answer_to_somebody_else_is_nobodys() {
    let failure = Stage::new("stranger port").ask(SHORT).await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::Timeout, "{failure:?}");
}
