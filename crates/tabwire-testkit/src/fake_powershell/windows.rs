//! A fake Windows system in a directory: drives, variables, and a list of running browsers.

use std::fs;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::fault::Fault;
use super::{number, text};

/// The program that runs as Chrome.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Its Windows path.
const CHROME: &str = r"C:\Program Files\Google\Chrome\Application\chrome.exe";

/// The environment variables of the fake Windows.
const VARIABLES: &[(&str, &str)] = &[
    ("%TEMP%", r"C:\Users\me\AppData\Local\Temp"),
    ("%LOCALAPPDATA%", r"C:\Users\me\AppData\Local"),
    ("%USERPROFILE%", r"C:\Users\me"),
];

/// A fake Windows system in a directory.
#[derive(Clone, Debug)]
pub struct FakeWindows {
    root: PathBuf,
}

impl FakeWindows {
    /// Uses an existing directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(root.join("processes"))?;
        Ok(Self { root })
    }

    pub(crate) fn fault(&self, what: &str) -> Option<Fault> {
        Fault::find(&fs::read_to_string(self.root.join("fault")).ok()?, what)
    }

    /// Records a request for tests.
    pub(crate) fn note(&self, line: &str) -> io::Result<()> {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.root.join("asked"))?;
        writeln!(file, "{line}")
    }

    /// Records the start and its arguments.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn started(&self, words: &[String]) -> io::Result<()> {
        self.note(&json!({"do": "start", "words": words}).to_string())
    }

    /// The running browsers on a profile, the newest first.
    pub(crate) fn find(&self, profile: &str) -> Vec<Value> {
        let wanted = normalize(profile);
        let mut found: Vec<Value> = fs::read_dir(self.root.join("processes"))
            .into_iter()
            .flatten()
            .filter_map(|entry| serde_json::from_str(&fs::read_to_string(entry.ok()?.path()).ok()?).ok())
            .filter(|browser: &Value| {
                normalize(text(browser, "profile")) == wanted && is_alive(&browser["pid"])
            })
            .collect();
        found.sort_by_key(|browser| std::cmp::Reverse(browser["pid"].as_u64()));
        found
    }

    pub(crate) fn free_port(&self, request: &Value) -> io::Result<Value> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|found| found.local_addr());
        let preferred = number(request, "preferred");
        match bind(preferred) {
            Ok(address) => Ok(json!({"port": address.port()})),
            Err(_) if request["fixed"] == true => Err(io::Error::other(format!("port {preferred} is taken"))),
            Err(_) => Ok(json!({"port": bind(0)?.port()})),
        }
    }

    /// Starts Chromium with directories of the fake Windows, and adds it to the list.
    pub(crate) fn launch(&self, request: &Value) -> io::Result<(Value, Child)> {
        let given = request["arguments"].as_array().cloned().unwrap_or_default();
        let arguments: Vec<String> = given.iter().filter_map(Value::as_str).map(expand).collect();
        let profile = arguments.iter().find_map(|argument| argument.strip_prefix("--user-data-dir="));
        let profile = profile.ok_or_else(|| io::Error::other("there is no profile"))?.to_owned();
        let executable = request["executable"].as_str().map_or_else(|| CHROME.to_owned(), expand);
        fs::create_dir_all(self.place(&profile))?;
        let child = Command::new(CHROMIUM)
            .args(arguments.iter().map(|argument| match argument.strip_prefix("--user-data-dir=") {
                Some(profile) => format!("--user-data-dir={}", self.place(profile).display()),
                None => argument.clone(),
            }))
            .arg("--no-sandbox")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pid = child.id().unwrap_or_default();
        let port = arguments.iter().find_map(|argument| argument.strip_prefix("--remote-debugging-port="));
        let browser = json!({
            "pid": pid,
            "port": port.and_then(|port| port.parse::<u16>().ok()),
            "headless": arguments.iter().any(|argument| argument.starts_with("--headless")),
            "executable": executable,
            "profile": profile,
            "arguments": arguments,
        });
        fs::write(self.root.join("processes").join(pid.to_string()), browser.to_string())?;
        Ok((json!({"pid": pid, "executable": executable}), child))
    }

    /// Ends the browser on a profile and port, if it matches the request.
    pub(crate) fn stop(&self, request: &Value) -> Value {
        let mut stopped = Vec::new();
        for browser in self.find(text(request, "profile")) {
            let is_it = browser["port"] == request["port"]
                && (request["headless"] != true || browser["headless"] == true)
                && (request["executable"].is_null()
                    || browser["executable"] == expand(text(request, "executable")));
            if let Some(pid) =
                browser["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).filter(|_| is_it)
            {
                self.end(pid);
                stopped.push(pid);
            }
        }
        json!({"stopped": stopped})
    }

    pub(crate) fn end(&self, pid: u32) {
        // Runs `kill`, because a direct call would need a crate or unsafe code.
        let _ = std::process::Command::new("kill").args(["-9", "--", &format!("-{pid}")]).status();
        let _ = fs::remove_file(self.root.join("processes").join(pid.to_string()));
    }

    /// The local path of a Windows path.
    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.replace(':', "").replace('\\', "/"))
    }
}

/// Replaces variables.
fn expand(text: &str) -> String {
    VARIABLES.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

fn normalize(profile: &str) -> String {
    expand(profile).replace('/', r"\").trim_end_matches('\\').to_lowercase()
}

fn is_alive(pid: &Value) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_paths_are_normalized_and_mapped() {
        assert_eq!(normalize(r"%TEMP%\P\"), normalize("c:/users/me/appdata/local/temp/p"));
        let home = tempfile::tempdir().unwrap();
        let windows = FakeWindows::new(home.path().to_owned()).unwrap();
        assert_eq!(windows.place(r"C:\a\b"), home.path().join("C/a/b"));
        assert!(windows.find(r"C:\a").is_empty());
    }
}
