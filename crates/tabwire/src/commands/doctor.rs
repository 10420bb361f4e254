//! `doctor`: checks what Tabwire needs, and says what to do about what is not right.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use tabwire_browser::{BrowserDescriptor, PrivateDir, SandboxObstacle, finder, keeper_client, sweep};
use tabwire_wire::api::StatusAnswer;
use tabwire_wire::{Failure, VERSION};

use super::Context;
use crate::config::Key;
use crate::daemon_client::{AskError, ask};

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    verdict: Verdict,
    detail: String,
}

enum Verdict {
    Fine,
    /// Works, but the user should know.
    Note,
    /// Does not work; says what to do.
    Wrong {
        remedy: String,
    },
    /// Was wrong and has been put right.
    Fixed,
}

impl Verdict {
    const fn word(&self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Wrong { .. } => "wrong",
            Self::Fixed => "fixed",
        }
    }
}

pub(super) fn run(context: &Context<'_>, fix: bool) -> Result<ExitCode, Failure> {
    let paths = &context.environment.paths;
    let mut findings = vec![browser(context), sandbox()];
    for (what, path) in [("runtime directory", &paths.runtime), ("state directory", &paths.state)] {
        findings.push(directory(what, path, fix));
    }
    findings.push(socket_length(&paths.socket()));
    findings.extend(daemon(context, fix));
    findings.extend(descriptors(&paths.runtime, fix));
    let list: Vec<_> = findings
        .iter()
        .map(|finding| {
            let remedy = match &finding.verdict {
                Verdict::Wrong { remedy } => Some(remedy),
                _ => None,
            };
            json!({"check": finding.what, "verdict": finding.verdict.word(), "detail": finding.detail, "remedy": remedy})
        })
        .collect();
    context.printer.answer(&json!({"findings": list}), || describe(&findings));
    let wrong = findings.iter().filter(|finding| matches!(finding.verdict, Verdict::Wrong { .. })).count();
    if wrong > 0 {
        context.printer.notice(&format!(
            "{wrong} check(s) failed; do what is said beside each, or run `tabwire doctor --fix` for the safe ones"
        ));
    }
    Ok(ExitCode::from(u8::from(wrong > 0)))
}

fn describe(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let head = format!("{:<6} {}: {}", finding.verdict.word(), finding.what, finding.detail);
        match &finding.verdict {
            Verdict::Wrong { remedy } => format!("{head}\n       {remedy}"),
            _ => head,
        }
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn browser(context: &Context<'_>) -> Finding {
    let environment = context.environment;
    let what = "browser";
    let wish = context.configuration.text(Key::Browser).map(|set| set.value);
    let found = match finder::find(wish, environment.path.as_deref()) {
        Ok(found) => found,
        Err(error) => {
            let failure = Failure::from(error);
            let remedy = failure.hint.unwrap_or_default();
            return Finding { what, verdict: Verdict::Wrong { remedy }, detail: failure.message };
        }
    };
    match finder::version(&found.path, Instant::now() + Duration::from_secs(10)) {
        Ok(version) => {
            Finding { what, verdict: Verdict::Fine, detail: format!("{version} at {}", found.path.display()) }
        }
        Err(error) => {
            let remedy = "Start it by hand to see why, or set TABWIRE_BROWSER to another one.".to_owned();
            Finding { what, verdict: Verdict::Wrong { remedy }, detail: Failure::from(error).message }
        }
    }
}

fn sandbox() -> Finding {
    let (verdict, detail) = match SandboxObstacle::detect() {
        None => (Verdict::Fine, "the browser's sandbox is used".to_owned()),
        Some(obstacle) => (Verdict::Note, obstacle.warning().to_owned()),
    };
    Finding { what: "sandbox", verdict, detail }
}

fn directory(what: &'static str, path: &Path, fix: bool) -> Finding {
    let checked = if path.exists() || !fix { PrivateDir::open(path) } else { PrivateDir::create(path) };
    match checked {
        Ok(_) => Finding { what, verdict: Verdict::Fine, detail: format!("{} is private", path.display()) },
        Err(_) if !path.exists() => Finding {
            what,
            verdict: Verdict::Fine,
            detail: format!("{} is made when it is needed", path.display()),
        },
        Err(error) => {
            let failure = Failure::from(error);
            let remedy = failure.hint.unwrap_or_else(|| format!("chmod 700 {}", path.display()));
            Finding { what, verdict: Verdict::Wrong { remedy }, detail: failure.message }
        }
    }
}

fn socket_length(path: &Path) -> Finding {
    let what = "socket path";
    let length = path.as_os_str().len();
    if length <= tabwire_browser::limits::SOCKET_PATH_BYTES {
        return Finding { what, verdict: Verdict::Fine, detail: format!("{length} bytes") };
    }
    let remedy = "Set XDG_RUNTIME_DIR or TABWIRE_HOME to a directory with a shorter path.".to_owned();
    let detail = format!("{} has {length} bytes, more than a socket's path may have", path.display());
    Finding { what, verdict: Verdict::Wrong { remedy }, detail }
}

fn daemon(context: &Context<'_>, fix: bool) -> Vec<Finding> {
    let what = "daemon";
    let paths = &context.environment.paths;
    match ask(&paths.socket(), "GET", "/v1/status", None, Duration::from_secs(5)) {
        Ok(answer) => match serde_json::from_value::<StatusAnswer>(answer) {
            Ok(status) => {
                let detail = format!(
                    "version {} runs as process {}, port {}",
                    status.version, status.pid, status.port
                );
                vec![Finding { what, verdict: Verdict::Fine, detail }, port(context, status.port)]
            }
            Err(error) => {
                let remedy = "Run `tabwire daemon stop`.".to_owned();
                vec![Finding { what, verdict: Verdict::Wrong { remedy }, detail: error.to_string() }]
            }
        },
        Err(AskError::NotRunning) if paths.socket().exists() => {
            vec![stale_socket(&paths.socket(), fix)]
        }
        Err(AskError::NotRunning) => {
            vec![Finding {
                what,
                verdict: Verdict::Fine,
                detail: "not running; the next command starts it".to_owned(),
            }]
        }
        Err(AskError::DaemonOlder) => {
            let detail = format!("an older one runs; this is {VERSION}, and the next command replaces it");
            vec![Finding { what, verdict: Verdict::Note, detail }]
        }
        Err(AskError::Failed(failure)) => {
            let remedy = failure.hint.unwrap_or_default();
            vec![Finding { what, verdict: Verdict::Wrong { remedy }, detail: failure.message }]
        }
    }
}

fn port(context: &Context<'_>, actual: u16) -> Finding {
    let wanted =
        context.configuration.port(Key::Port).map_or(tabwire_daemon::limits::DEFAULT_PORT, |set| set.value);
    if wanted == 0 || wanted == actual {
        return Finding {
            what: "port",
            verdict: Verdict::Fine,
            detail: format!("{actual} on the loopback address"),
        };
    }
    let detail = format!("{wanted} was taken by another program; {actual} is used");
    Finding { what: "port", verdict: Verdict::Note, detail }
}

fn stale_socket(path: &Path, fix: bool) -> Finding {
    let what = "socket";
    if fix && std::fs::remove_file(path).is_ok() {
        return Finding {
            what,
            verdict: Verdict::Fixed,
            detail: format!("removed the stale {}", path.display()),
        };
    }
    let detail =
        format!("{} is left over from a daemon that died; the next command replaces it", path.display());
    Finding { what, verdict: Verdict::Note, detail }
}

fn descriptors(runtime: &Path, fix: bool) -> Vec<Finding> {
    let what = "browsers";
    if fix {
        return match sweep(runtime) {
            Ok(swept) if swept.removed.is_empty() => {
                vec![Finding {
                    what,
                    verdict: Verdict::Fine,
                    detail: format!("{} kept, nothing stale", swept.live.len()),
                }]
            }
            Ok(swept) => {
                let detail =
                    format!("{} kept, {} stale thing(s) removed", swept.live.len(), swept.removed.len());
                vec![Finding { what, verdict: Verdict::Fixed, detail }]
            }
            Err(error) => {
                let failure = Failure::from(error);
                let remedy = failure.hint.unwrap_or_default();
                vec![Finding { what, verdict: Verdict::Wrong { remedy }, detail: failure.message }]
            }
        };
    }
    let entries = std::fs::read_dir(runtime.join("browsers")).into_iter().flatten().flatten();
    let files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    let lives = |path: &Path| {
        BrowserDescriptor::read(path).is_ok_and(|descriptor| {
            keeper_client::hello(&descriptor.socket, Instant::now() + Duration::from_secs(3))
                .is_ok_and(|hello| hello.instance == descriptor.instance)
        })
    };
    let stale = files.iter().filter(|path| !lives(path)).count();
    let detail = format!("{} kept, {stale} stale", files.len() - stale);
    let verdict = if stale == 0 {
        Verdict::Fine
    } else {
        Verdict::Wrong { remedy: "Run `tabwire doctor --fix` to remove what dead browsers left.".to_owned() }
    };
    vec![Finding { what, verdict, detail }]
}
