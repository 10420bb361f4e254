//! Decides what the shim does for a launcher, and explains it (`--explain`). Has no side effects.

use std::fmt::Write as _;
use std::path::PathBuf;

use tabwire_api::api::{ChromeOpening, WindowsPort};
use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_browser::{LaunchSpec, LauncherOptions, new_browser_id, new_instance_id};

use super::launcher_args::LauncherArgs;
use super::settings::{ChromeSettings, LogLevel};
use super::windows::{self, WindowsPlan};
use crate::ShimEnvironment;

/// How the launcher is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportMode {
    /// Descriptors 3 and 4.
    Pipe,
    /// A debugging port.
    Port,
    /// Both.
    Both,
}

impl TransportMode {
    /// The value of `transportMode` in logs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Port => "ws",
            Self::Both => "pipe+ws",
        }
    }
}

/// The decisions for one launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) mode: TransportMode,
    /// The port to listen on; 0 for any.
    pub(super) port: Option<u16>,
    pub(super) opening: ChromeOpening,
    /// Set when the browser runs on Windows.
    pub(super) windows: Option<WindowsPlan>,
}

impl Plan {
    /// # Errors
    /// When the launcher names no transport, or its descriptors are not open.
    pub(super) fn make(
        args: &LauncherArgs,
        settings: &ChromeSettings,
        has_descriptors: bool,
    ) -> Result<Self, Failure> {
        let port = args.port.map(|port| settings.port.unwrap_or(port));
        let mode = match (args.pipe, port) {
            (true, _) if !has_descriptors => return Err(no_descriptors()),
            (true, None) => TransportMode::Pipe,
            (true, Some(_)) => TransportMode::Both,
            (false, Some(_)) => TransportMode::Port,
            (false, None) => return Err(no_transport()),
        };
        let windows = match windows::is_requested(args, settings)? {
            true => Some(WindowsPlan::make(args, settings)?),
            false => None,
        };
        if settings.keep && profile_of(args, settings)?.is_none() {
            return Err(no_profile_to_keep());
        }
        let arguments = windows.as_ref().map_or(&args.forwarded, |windows| &windows.arguments);
        let opening = ChromeOpening {
            profile: if windows.is_some() { local_profile(args) } else { profile_of(args, settings)? },
            name: new_instance_id()?.to_string(),
            browser: settings.browser.clone(),
            headless: args.headless,
            arguments: arguments.clone(),
            addresses: args.urls.clone(),
            start_window: !args.no_startup_window,
            window: args.window,
            proxy: args.proxy.clone(),
            allow_dangerous: settings.allow_dangerous,
            environment: settings.variables.iter().cloned().collect(),
            outlives_browser: false,
            shim: None,
            keep: settings.keep,
            windows: windows.as_ref().map(|windows| windows.request.clone()),
        };
        Ok(Self { mode, port, opening, windows })
    }

    /// Writes the files that a browser on Windows needs.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn prepare(
        &mut self,
        environment: &ShimEnvironment,
        settings: &ChromeSettings,
    ) -> Result<(), Failure> {
        if let Some(windows) = &mut self.windows {
            windows.prepare(environment, &settings.wsl)?;
            self.opening.windows = Some(windows.request.clone());
        }
        Ok(())
    }
}

/// The local directory in which a launcher of a browser on Windows looks for `DevToolsActivePort`.
fn local_profile(args: &LauncherArgs) -> Option<PathBuf> {
    args.profile.clone().filter(|profile| profile.is_dir())
}

/// The profile directory as an absolute path: the daemon has another working directory.
fn profile_of(args: &LauncherArgs, settings: &ChromeSettings) -> Result<Option<PathBuf>, Failure> {
    let Some(profile) = settings.profile.as_ref().or(args.profile.as_ref()) else { return Ok(None) };
    std::path::absolute(profile).map(Some).map_err(|error| {
        let message = format!("The profile directory {} cannot be used: {error}.", profile.display());
        Failure::new(ErrorCode::BadArgs, message)
    })
}

pub(super) fn no_descriptors() -> Failure {
    let message = "--remote-debugging-pipe was given, but descriptors 3 and 4 are not open.";
    Failure::new(ErrorCode::BadArgs, message).with_remedy(
        "A launcher opens them before it starts its browser. In a shell, use `--remote-debugging-port=0`.",
    )
}

fn no_profile_to_keep() -> Failure {
    let message = "TABWIRE_CHROME_KEEP is set, but the launcher names no profile directory.";
    Failure::new(ErrorCode::BadArgs, message).with_remedy(
        "A kept browser is found again by its profile. Set TABWIRE_CHROME_PROFILE, or unset TABWIRE_CHROME_KEEP.",
    )
}

fn no_transport() -> Failure {
    let message = "Neither --remote-debugging-pipe nor --remote-debugging-port was given.";
    Failure::new(ErrorCode::BadArgs, message).with_remedy(Remedy::new(
        "Other programs launch this program in place of Chrome. To open a browser yourself, run {}.",
        [Step::command("tabwire open --headed")],
    ))
}

/// The text of `--explain`: the plan, and what happens to each argument.
pub(super) fn explain(
    args: &LauncherArgs,
    settings: &ChromeSettings,
    plan: Result<&Plan, &Failure>,
) -> Result<String, Failure> {
    let mut text = String::new();
    let mut row = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<11} {value}");
    };
    match plan {
        Ok(plan) => row("transport", plan.mode.name()),
        Err(failure) => row("transport", &format!("none: {}", failure.message)),
    }
    if let Some(port) = args.port {
        let wanted = settings.port.unwrap_or(port);
        let any = if wanted == 0 { " (any free port)" } else { "" };
        row("port", &format!("127.0.0.1:{wanted}{any}"));
    }
    let is_windows = windows::is_requested(args, settings).unwrap_or_else(|failure| {
        // The plan is shown all the same, so that it can be checked before it is used within WSL.
        row("refused", &failure.message);
        true
    });
    if is_windows {
        let WindowsPlan { request, arguments, stray_directory } = WindowsPlan::make(args, settings)?;
        row("host", &format!("Windows, through {}", request.powershell.display()));
        row("profile", &format!("{}: a browser that runs on it is used", request.profile));
        row("debug port", &windows_port(request.port));
        let path = if request.shares_loopback {
            "direct: both systems share the loopback interface"
        } else {
            "through PowerShell"
        };
        row("frames", path);
        for (before, after) in args.forwarded.iter().zip(&arguments).filter(|(before, after)| before != after)
        {
            row("converted", &format!("{before}: {after}"));
        }
        if let Some(stray_directory) = stray_directory {
            row("removed", &format!("{}, if empty: the profile is on Windows", stray_directory.display()));
        }
        row("window", if args.headless { "none" } else { "yes" });
        row("browser", request.executable.as_deref().unwrap_or("the Chrome that is installed on Windows"));
        return Ok(finish_explanation(args, settings, text));
    }
    match profile_of(args, settings)? {
        Some(profile) => row("profile", &format!("{}: a browser that runs on it is used", profile.display())),
        None => row("profile", "temporary, removed with the browser"),
    }
    row("window", if args.headless { "none" } else { "yes" });
    row("browser", settings.browser.as_deref().unwrap_or("the first one found"));
    Ok(finish_explanation(args, settings, text))
}

fn windows_port(port: WindowsPort) -> String {
    match port {
        WindowsPort::Any => "any free port".to_owned(),
        WindowsPort::Preferred(port) => format!("{port} if free, else any free port"),
        WindowsPort::Fixed(port) => format!("{port} only"),
    }
}

/// Appends the rows about logs and about each argument.
fn finish_explanation(args: &LauncherArgs, settings: &ChromeSettings, mut text: String) -> String {
    let mut row = |key: &str, value: &str| {
        let _ = writeln!(text, "{key:<11} {value}");
    };
    if let Some(log) = &settings.log {
        let level = if settings.log_level == LogLevel::All { "all" } else { "important" };
        row("logs", &format!("level {level}, to {}", log.display()));
    }
    if let Some(frames) = &settings.frames {
        row("frame log", &format!("in {}, page content included", frames.display()));
    }
    if settings.allow_dangerous {
        row("allowed", "flags that weaken the browser");
    }
    if settings.keep {
        row("kept", "the browser keeps running after its last client");
    }
    for flag in &args.forwarded {
        match find_refusal(settings, Some(flag), None) {
            Some(reason) => row("refused", &reason),
            None => row("forwarded", flag),
        }
    }
    for (flag, reason) in &args.dropped {
        row("dropped", &format!("{flag}: {reason}"));
    }
    for url in &args.urls {
        match find_refusal(settings, None, Some(url)) {
            Some(reason) => row("refused", &reason),
            None => row("opens", url),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Why the browser would refuse to start with a flag or URL; `None` if it would not.
fn find_refusal(settings: &ChromeSettings, flag: Option<&str>, url: Option<&str>) -> Option<String> {
    let mut spec = LaunchSpec::new(new_browser_id().ok()?, PathBuf::new(), PathBuf::new());
    spec.allow_dangerous = settings.allow_dangerous;
    spec.extra_arguments = flag.into_iter().map(str::to_owned).collect();
    spec.launcher = Some(LauncherOptions { addresses: url.into_iter().map(str::to_owned).collect() });
    spec.arguments(None).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn args(words: &[&str]) -> LauncherArgs {
        LauncherArgs::parse(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_transport_follows_the_launchers_flags() {
        let make = |words: &[&str], has| Plan::make(&args(words), &ChromeSettings::default(), has);
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
        assert!(nothing.message.contains("Neither") && nothing.remedy.is_some());
    }

    #[test]
    fn variables_override_the_launcher() {
        let settings = ChromeSettings {
            profile: Some("/mine".into()),
            port: Some(9),
            browser: Some("edge".into()),
            allow_dangerous: true,
            ..ChromeSettings::default()
        };
        let plan =
            Plan::make(&args(&["--remote-debugging-port=7", "--user-data-dir=/theirs"]), &settings, false);
        let plan = plan.unwrap();
        assert_eq!(plan.port, Some(9));
        assert_eq!(plan.opening.profile, Some("/mine".into()));
        assert_eq!(plan.opening.browser.as_deref(), Some("edge"));
        assert!(plan.opening.allow_dangerous);
    }

    #[test]
    fn explain_lists_dropped_flags_with_reasons() {
        let args =
            args(&["--remote-debugging-port=0", "--no-sandbox", "--lang=de", "--user-data-dir=/p", "data:,"]);
        let settings = ChromeSettings::default();
        let plan = Plan::make(&args, &settings, false);
        let text = explain(&args, &settings, plan.as_ref()).unwrap();
        for part in [
            "transport   ws",
            "any free port",
            "/p: a browser",
            "--no-sandbox: Tabwire disables",
            "--lang=de",
        ] {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
        let weak = self::args(&["--remote-debugging-port=0", "--disable-web-security", "file:///etc/passwd"]);
        let text = explain(&weak, &settings, plan.as_ref()).unwrap();
        assert_eq!(text.matches("\nrefused ").count(), 2, "{text}");
        let allowed = ChromeSettings { allow_dangerous: true, ..settings.clone() };
        let text = explain(&weak, &allowed, plan.as_ref()).unwrap();
        assert!(text.contains("forwarded   --disable-web-security") && text.contains("allowed "), "{text}");
        let none = LauncherArgs::default();
        let plan = Plan::make(&none, &settings, false);
        assert!(explain(&none, &settings, plan.as_ref()).unwrap().contains("none: Neither"));
    }
}
