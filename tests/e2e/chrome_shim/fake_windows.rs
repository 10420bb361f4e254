//! A directory that looks like a Windows drive, with a PowerShell from the testkit.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::process::{Process, main_browsers};
use crate::support::world::{World, testkit_program};

/// The path of Chrome on Windows.
const CHROME: &str = r"C:\Program Files\Google\Chrome\Application\chrome.exe";

/// The fake Windows of a world.
pub(crate) struct FakeWindows {
    root: PathBuf,
}

impl FakeWindows {
    /// Puts a world into a fake WSL.
    pub(crate) fn around(world: World) -> (World, Self) {
        let root = world.home().join("windows");
        fs::create_dir(&root).expect("a directory");
        // The fake Windows kills browsers, so they leave files.
        world.expect_litter();
        let world = world
            .with("TABWIRE_FAKE_WINDOWS", root.to_string_lossy())
            .with("TABWIRE_CHROME_POWERSHELL", testkit_program("fake-powershell").to_string_lossy())
            .with("WSL_DISTRO_NAME", "Debian");
        (world, Self { root })
    }

    /// The same with mirrored networking: both systems share one loopback.
    pub(crate) fn mirrored(world: World) -> (World, Self) {
        let (world, windows) = Self::around(world);
        let tools = world.home().join("tools");
        fs::create_dir(&tools).expect("a directory");
        let tool = tools.join("wslinfo");
        fs::write(&tool, "#!/bin/sh\necho mirrored\n").expect("a file");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o700)).expect("ours");
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        (world.with("PATH", path), windows)
    }

    /// Makes PowerShell fail in this way from now on.
    pub(crate) fn misbehave(&self, fault: &str) {
        fs::write(self.root.join("fault"), fault).expect("ours");
    }

    /// Lists a process of this system as a browser that the Windows user started.
    pub(crate) fn list_browser(&self, pid: i32, port: Option<u16>, profile: &str) {
        let browser = serde_json::json!({"pid": pid, "port": port, "headless": true, "executable": CHROME, "profile": profile});
        let processes = self.root.join("processes");
        fs::create_dir_all(&processes).expect("ours");
        fs::write(processes.join(pid.to_string()), browser.to_string()).expect("ours");
    }

    /// The requests to PowerShell, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.root.join("asked")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The verbs of those requests, in order.
    pub(crate) fn words(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked["do"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How many requests had this verb.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.words().iter().filter(|asked| *asked == word).count()
    }

    /// The main processes of the browsers on the fake Windows.
    pub(crate) fn browsers(&self) -> Vec<Process> {
        let mark = format!("--user-data-dir={}", self.root.display());
        let mut browsers = main_browsers(&Process::all());
        browsers.retain(|browser| browser.command.contains(&mark));
        browsers
    }

    /// The running PowerShells of a world.
    pub(crate) fn powershells(&self) -> Vec<Process> {
        let home = self.root.parent().expect("a home").to_string_lossy().replace('/', "\\");
        let is_ours =
            |process: &Process| process.command.contains("-NoProfile") && process.command.contains(&home);
        Process::all().into_iter().filter(is_ours).collect()
    }
}
