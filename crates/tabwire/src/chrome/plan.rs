//! What will be done for a launcher, and why, before anything is done. Pure: starts nothing, asks nobody.

use std::fmt::Write as _;
use std::path::PathBuf;

use tabwire_browser::{LaunchSpec, LauncherWish, new_browser_id, new_instance_id};
use tabwire_wire::api::{ChromeOpening, WindowsPort};
use tabwire_wire::{ErrorCode, Failure};

use super::launcher_line::LauncherLine;
use super::settings::{ChromeSettings, LogLevel};
use super::windows::{self, WindowsPlan};
use crate::environment::Environment;

/// How the launcher is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportMode {
    /// On descriptors 3 and 4.
    Pipe,
    /// On a port of ours.
    Port,
    /// On both.
    Both,
}

impl TransportMode {
    /// Its name in logs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Port => "ws",
            Self::Both => "pipe+ws",
        }
    }
}

/// What will be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) mode: TransportMode,
    /// The port to listen on; 0 for any.
    pub(super) port: Option<u16>,
    pub(super) opening: ChromeOpening,
    /// What is asked of Windows, when a browser of it is meant.
    pub(super) windows: Option<WindowsPlan>,
}

impl Plan {
    /// Decides what will be done.
    ///
    /// # Errors
    /// When the launcher does not say how it wants to speak, or gave no descriptors to speak on.
    pub(super) fn make(
        line: &LauncherLine,
        settings: &ChromeSettings,
        has_descriptors: bool,
    ) -> Result<Self, Failure> {
        let port = line.port.map(|port| settings.port.unwrap_or(port));
        let mode = match (line.pipe, port) {
            (true, _) if !has_descriptors => return Err(no_descriptors()),
            (true, None) => TransportMode::Pipe,
            (true, Some(_)) => TransportMode::Both,
            (false, Some(_)) => TransportMode::Port,
            (false, None) => return Err(no_transport()),
        };
        let windows = match windows::is_meant(line, settings)? {
            true => Some(WindowsPlan::make(line, settings)?),
            false => None,
        };
        let arguments = windows.as_ref().map_or(&line.passed, |windows| &windows.arguments);
        let opening = ChromeOpening {
            profile: if windows.is_some() { local_profile(line) } else { profile_of(line, settings)? },
            name: new_instance_id()?.to_string(),
            browser: settings.browser.clone(),
            headless: line.headless,
            arguments: arguments.clone(),
            addresses: line.addresses.clone(),
            start_window: !line.windowless,
            window: line.window,
            proxy: line.proxy.clone(),
            allow_dangerous: settings.allow_dangerous,
            environment: settings.variables.iter().cloned().collect(),
            outlives_browser: false,
            sees_everything: false,
            windows: windows.as_ref().map(|windows| windows.wish.clone()),
        };
        Ok(Self { mode, port, opening, windows })
    }

    /// Does what has to be done on this system before a browser of Windows is asked for.
    ///
    /// # Errors
    /// When our files cannot be written.
    pub(super) fn prepare(
        &mut self,
        environment: &Environment,
        settings: &ChromeSettings,
    ) -> Result<(), Failure> {
        if let Some(windows) = &mut self.windows {
            windows.prepare(environment, &settings.wsl)?;
            self.opening.windows = Some(windows.wish.clone());
        }
        Ok(())
    }
}

/// The directory of this system that a launcher of a browser of Windows looks into for the port.
fn local_profile(line: &LauncherLine) -> Option<PathBuf> {
    line.profile.clone().filter(|profile| profile.is_dir())
}

/// The directory that says which browser is meant, as a whole path: the daemon is elsewhere.
fn profile_of(line: &LauncherLine, settings: &ChromeSettings) -> Result<Option<PathBuf>, Failure> {
    let Some(profile) = settings.profile.as_ref().or(line.profile.as_ref()) else { return Ok(None) };
    std::path::absolute(profile).map(Some).map_err(|error| {
        let message = format!("The profile directory {} cannot be used: {error}.", profile.display());
        Failure::new(ErrorCode::BadArgs, message)
    })
}

/// The launcher wants to speak on descriptors that it did not give.
pub(super) fn no_descriptors() -> Failure {
    let message = "--remote-debugging-pipe was given, but descriptors 3 and 4 are not open.";
    Failure::new(ErrorCode::BadArgs, message).with_hint(
        "A launcher opens them for its browser. In a shell, use --remote-debugging-port=0 instead.",
    )
}

fn no_transport() -> Failure {
    let message = "Neither --remote-debugging-pipe nor --remote-debugging-port was given: nobody could drive the \
                   browser.";
    Failure::new(ErrorCode::BadArgs, message).with_hint(
        "This program stands in for Chrome where another one launches it. To open a browser yourself, run `tabwire \
         open --headed`.",
    )
}

/// What would be done and why, for people.
pub(super) fn explain(
    line: &LauncherLine,
    settings: &ChromeSettings,
    plan: Result<&Plan, &Failure>,
) -> Result<String, Failure> {
    let mut text = String::new();
    let mut say = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<11} {value}");
    };
    match plan {
        Ok(plan) => say("transport", plan.mode.name()),
        Err(failure) => say("transport", &format!("none: {}", failure.message)),
    }
    if let Some(port) = line.port {
        let wanted = settings.port.unwrap_or(port);
        let any = if wanted == 0 { " (any that is free)" } else { "" };
        say("port", &format!("127.0.0.1:{wanted}{any}"));
    }
    if windows::is_meant(line, settings)? {
        let WindowsPlan { wish, arguments, mistaken } = WindowsPlan::make(line, settings)?;
        say("host", &format!("Windows, through {}", wish.powershell.display()));
        say("profile", &format!("{}: a browser that runs on it in Windows is used", wish.profile));
        say("its port", &windows_port(wish.port));
        let way = if wish.shares_loopback {
            "directly: both systems have one loopback"
        } else {
            "through PowerShell"
        };
        say("frames", way);
        for (before, after) in line.passed.iter().zip(&arguments).filter(|(before, after)| before != after) {
            say("converted", &format!("{before}: {after}"));
        }
        if let Some(mistaken) = mistaken {
            say("removed", &format!("{}, if it is empty: it is meant to be on Windows", mistaken.display()));
        }
        say("window", if line.headless { "none" } else { "yes" });
        say("browser", wish.executable.as_deref().unwrap_or("Chrome where Windows has it"));
        return Ok(finish_explanation(line, settings, text));
    }
    match profile_of(line, settings)? {
        Some(profile) => say("profile", &format!("{}: a browser that runs on it is used", profile.display())),
        None => say("profile", "none given: a new one, removed with the browser"),
    }
    say("window", if line.headless { "none" } else { "yes" });
    say("browser", settings.browser.as_deref().unwrap_or("the first that is found"));
    Ok(finish_explanation(line, settings, text))
}

fn windows_port(port: WindowsPort) -> String {
    match port {
        WindowsPort::Any => "any that is free there".to_owned(),
        WindowsPort::Wished(port) => format!("{port} if it is free there, else any"),
        WindowsPort::Fixed(port) => format!("{port} and no other"),
    }
}

/// What becomes of each flag and what is written down, below what was said already.
fn finish_explanation(line: &LauncherLine, settings: &ChromeSettings, mut text: String) -> String {
    let mut say = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<11} {value}");
    };
    if let Some(log) = &settings.log {
        let much = if settings.log_level == LogLevel::All { "all" } else { "what is important" };
        say("logs", &format!("{much}, to {}", log.display()));
    }
    if let Some(frames) = &settings.frames {
        say("frames kept", &format!("in {}, with all that pages hold", frames.display()));
    }
    if settings.allow_dangerous {
        say("allowed", "flags that weaken the browser");
    }
    for flag in &line.passed {
        match find_refusal(settings, Some(flag), None) {
            Some(why) => say("refused", &why),
            None => say("passed on", flag),
        }
    }
    for (flag, why) in &line.dropped {
        say("dropped", &format!("{flag}: {why}"));
    }
    for address in &line.addresses {
        match find_refusal(settings, None, Some(address)) {
            Some(why) => say("refused", &why),
            None => say("opens", address),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Why a flag or an address would keep a browser from being started, if it would.
fn find_refusal(settings: &ChromeSettings, flag: Option<&str>, address: Option<&str>) -> Option<String> {
    let mut spec = LaunchSpec::new(new_browser_id().ok()?, PathBuf::new(), PathBuf::new());
    spec.allow_dangerous = settings.allow_dangerous;
    spec.extra_arguments = flag.into_iter().map(str::to_owned).collect();
    spec.launcher = Some(LauncherWish { addresses: address.into_iter().map(str::to_owned).collect() });
    spec.arguments(None).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn line(words: &[&str]) -> LauncherLine {
        LauncherLine::parse(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_transport_is_what_the_launcher_asks_for() {
        let make = |words: &[&str], has| Plan::make(&line(words), &ChromeSettings::default(), has);
        let mode = |words: &[&str], has| make(words, has).map(|plan| (plan.mode, plan.port));
        assert_eq!(mode(&["--remote-debugging-pipe"], true).unwrap(), (TransportMode::Pipe, None));
        assert_eq!(mode(&["--remote-debugging-port=7"], true).unwrap(), (TransportMode::Port, Some(7)));
        let both = ["--remote-debugging-port=0", "--remote-debugging-pipe"];
        assert_eq!(mode(&both, true).unwrap(), (TransportMode::Both, Some(0)));
        assert!(mode(&both, false).unwrap_err().message.contains("descriptors 3 and 4"));
        assert!(
            mode(&["--remote-debugging-pipe"], false).unwrap_err().message.contains("descriptors 3 and 4")
        );
        let nothing = mode(&["--headless"], true).unwrap_err();
        assert!(nothing.message.contains("Neither") && nothing.hint.is_some());
    }

    #[test]
    fn the_environment_counts_more_than_the_launcher() {
        let settings = ChromeSettings {
            profile: Some("/mine".into()),
            port: Some(9),
            browser: Some("edge".into()),
            allow_dangerous: true,
            ..ChromeSettings::default()
        };
        let plan =
            Plan::make(&line(&["--remote-debugging-port=7", "--user-data-dir=/theirs"]), &settings, false);
        let plan = plan.unwrap();
        assert_eq!(plan.port, Some(9));
        assert_eq!(plan.opening.profile, Some("/mine".into()));
        assert_eq!(plan.opening.browser.as_deref(), Some("edge"));
        assert!(plan.opening.allow_dangerous);
    }

    #[test]
    fn an_explanation_names_what_is_dropped_and_why() {
        let line =
            line(&["--remote-debugging-port=0", "--no-sandbox", "--lang=de", "--user-data-dir=/p", "data:,"]);
        let settings = ChromeSettings::default();
        let plan = Plan::make(&line, &settings, false);
        let text = explain(&line, &settings, plan.as_ref()).unwrap();
        for part in
            ["transport   ws", "any that is free", "/p: a browser", "--no-sandbox: the sandbox", "--lang=de"]
        {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
        let weak = self::line(&["--remote-debugging-port=0", "--disable-web-security", "file:///etc/passwd"]);
        let text = explain(&weak, &settings, plan.as_ref()).unwrap();
        assert_eq!(text.matches("\nrefused ").count(), 2, "{text}");
        let allowed = ChromeSettings { allow_dangerous: true, ..settings.clone() };
        let text = explain(&weak, &allowed, plan.as_ref()).unwrap();
        assert!(text.contains("passed on   --disable-web-security") && text.contains("allowed "), "{text}");
        let nothing = LauncherLine::default();
        let plan = Plan::make(&nothing, &settings, false);
        assert!(explain(&nothing, &settings, plan.as_ref()).unwrap().contains("none: Neither"));
    }
}
