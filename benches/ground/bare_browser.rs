//! A browser without Tabwire, for comparison: Chromium with a debugging port, ended on drop.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct BareBrowser {
    child: Child,
    profile: tempfile::TempDir,
}

/// The flags Tabwire itself uses for a headless browser, so that both are alike.
pub const FLAGS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
    "--use-mock-keychain",
    "--hide-scrollbars",
    "--mute-audio",
];

impl BareBrowser {
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a directory");
        let executable =
            tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser").path;
        let child = Command::new(executable)
            .args(FLAGS)
            .arg("--remote-debugging-port=0")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        Self { child, profile }
    }

    /// The browser's websocket, once it has one.
    pub fn websocket(&self) -> String {
        let file: PathBuf = self.profile.path().join("DevToolsActivePort");
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if let Ok(text) = std::fs::read_to_string(&file)
                && let Some((port, path)) = text.split_once('\n')
                && !path.trim().is_empty()
            {
                return format!("ws://127.0.0.1:{port}{}", path.trim());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the browser opened no port");
    }
}

impl Drop for BareBrowser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
