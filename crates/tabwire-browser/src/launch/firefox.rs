//! A launch of Firefox: its arguments, its profile below the profile directory, its preferences.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::spec::{Display, LaunchSpec};
use crate::error::BrowserError;
use crate::files::atomic_file;
use crate::files::private_dir::PrivateDir;

/// The profile of Firefox in the profile directory. A Chromium may use the same directory.
const DIRECTORY: &str = "firefox";

/// The file with the ports of an earlier run.
const PORT_FILE: &str = "MarionetteActivePort";

/// The part of a headless window above the page in Firefox 153: pages then have 1280 by 720, as in Chromium.
const HEADLESS_FRAME: u16 = 85;

/// The part of a headless window above the page in Chromium, which the size of a launch counts with.
const CHROMIUM_FRAME: u16 = 87;

/// Preferences of every Firefox: the port is any free one, nothing is reported or updated, background tabs are as fast as
/// those in front, and a page's file chooser is reported instead of shown.
const PREFERENCES: &[(&str, &str)] = &[
    ("marionette.port", "0"),
    ("remote.active-protocols", "1"),
    ("remote.bidi.dismiss_file_pickers.enabled", "true"),
    ("remote.events.async.mouse.enabled", "false"),
    ("dom.min_background_timeout_value", "4"),
    ("dom.timeout.enable_budget_timer_throttling", "false"),
    ("dom.ipc.processPrelaunch.enabled", "false"),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("browser.startup.homepage", "\"about:blank\""),
    ("browser.startup.homepage_override.mstone", "\"ignore\""),
    ("browser.newtabpage.enabled", "false"),
    ("browser.aboutwelcome.enabled", "false"),
    ("browser.tabs.warnOnClose", "false"),
    ("browser.warnOnQuit", "false"),
    // A document from the back/forward cache comes back without any event of BiDi.
    ("browser.sessionhistory.max_total_viewers", "0"),
    ("fission.bfcacheInParent", "false"),
    ("browser.sessionstore.resume_from_crash", "false"),
    ("browser.tabs.unloadOnLowMemory", "false"),
    ("browser.search.update", "false"),
    ("browser.safebrowsing.update.enabled", "false"),
    ("app.update.disabledForTesting", "true"),
    ("app.normandy.enabled", "false"),
    ("app.shield.optoutstudies.enabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("datareporting.healthreport.uploadEnabled", "false"),
    ("toolkit.telemetry.unified", "false"),
    ("toolkit.telemetry.enabled", "false"),
    ("toolkit.telemetry.server", "\"\""),
    ("messaging-system.rsexperimentloader.enabled", "false"),
    ("services.settings.server", "\"data:,none\""),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("extensions.update.enabled", "false"),
    ("extensions.getAddons.cache.enabled", "false"),
    ("extensions.systemAddon.update.enabled", "false"),
    ("geo.provider.testing", "true"),
    ("media.gmp-manager.updateEnabled", "false"),
    ("signon.autofillForms", "false"),
    ("signon.rememberSignons", "false"),
    ("dom.disable_open_during_load", "false"),
    ("dom.push.connection.enabled", "false"),
    ("network.http.prompt-temp-redirect", "false"),
    ("security.notification_enable_delay", "0"),
    ("ui.systemUsesDarkTheme", "0"),
];

/// Added for a guarded session: nothing is requested that no page needs, and nothing passes the policy by.
const RESERVED: &[(&str, &str)] = &[
    ("network.prefetch-next", "false"),
    ("network.dns.disablePrefetch", "true"),
    ("network.predictor.enabled", "false"),
    ("network.http.speculative-parallel-limit", "0"),
    ("network.early-hints.preconnect.max_connections", "0"),
    ("media.peerconnection.enabled", "false"),
    ("dom.serviceWorkers.enabled", "false"),
    ("network.webtransport.enabled", "false"),
    ("network.preconnect", "false"),
    ("network.dns.disablePrefetchFromHTTPS", "true"),
    ("browser.send_pings", "false"),
    ("network.http.altsvc.enabled", "false"),
    ("dom.push.enabled", "false"),
    ("browser.safebrowsing.downloads.remote.enabled", "false"),
    ("browser.region.update.enabled", "false"),
    // The system's resolver, which the daemon asks too.
    ("network.trr.mode", "5"),
    // Pages of the internet do not reach this machine and private networks.
    ("network.lna.enabled", "true"),
    ("network.lna.blocking", "true"),
    ("network.lna.websocket.enabled", "true"),
    ("permissions.default.loopback-network", "2"),
    ("permissions.default.local-network", "2"),
];

/// The profile that Firefox uses.
#[must_use]
pub fn profile_of(spec: &LaunchSpec) -> PathBuf {
    spec.profile.join(DIRECTORY)
}

/// Firefox's argument list.
pub(super) fn arguments(spec: &LaunchSpec) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "--marionette".into(),
        "--remote-debugging-port=0".into(),
        "--no-remote".into(),
        "--profile".into(),
        profile_of(spec).into(),
    ];
    if spec.display == Display::Headless {
        arguments.push("--headless".into());
    }
    if let Some(window) = spec.window.filter(|_| spec.display == Display::Headed) {
        arguments.push(format!("--width={}", window.width).into());
        arguments.push(format!("--height={}", window.height).into());
    }
    arguments.extend(spec.extra_arguments.iter().map(OsString::from));
    arguments
}

/// Refuses what Firefox does not support.
pub(super) fn check(spec: &LaunchSpec) -> Result<(), BrowserError> {
    let refused = |name: &str, reason| {
        Err(BrowserError::OptionRefused { name: name.to_owned(), reason, can_be_allowed: false })
    };
    if spec.hidden_as.is_some() {
        return refused("hide-automation", "Firefox always shows pages that it is automated");
    }
    if spec.launcher.is_some() || spec.debugging_port.is_some() {
        return refused("debugging port", "Firefox has no DevTools protocol");
    }
    // The table of refused flags is about Chromium.
    if !spec.extra_arguments.is_empty() && !spec.allow_dangerous {
        return Err(BrowserError::OptionRefused {
            name: spec.extra_arguments.join(" "),
            reason: "arguments of Firefox are not checked",
            can_be_allowed: true,
        });
    }
    let is_privileged = |argument: &String| argument.contains("remote-allow-system-access");
    if spec.extra_arguments.iter().any(is_privileged) {
        return refused(
            "remote-allow-system-access",
            "it gives clients full access to Firefox and the system",
        );
    }
    Ok(())
}

/// Makes the profile and completes the command.
///
/// # Errors
/// When the profile cannot be written.
pub fn prepare(spec: &LaunchSpec, command: &mut Command) -> Result<(), BrowserError> {
    let profile = profile_of(spec);
    PrivateDir::create_or_keep(&profile)?;
    let port_file = profile.join(PORT_FILE);
    match std::fs::remove_file(&port_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(BrowserError::system("remove", &port_file, error));
        }
        _ => {}
    }
    forget_conditional(&profile)?;
    atomic_file::write(&profile.join("user.js"), user_js(spec).as_bytes())?;
    if let Some(window) = spec.window.filter(|_| spec.display == Display::Headless) {
        let height = window.height.saturating_sub(CHROMIUM_FRAME).saturating_add(HEADLESS_FRAME);
        command.env("MOZ_HEADLESS_WIDTH", window.width.to_string());
        command.env("MOZ_HEADLESS_HEIGHT", height.to_string());
    }
    // Firefox would restart itself in another process, or send a crash report.
    command.env("MOZ_CRASHREPORTER_DISABLE", "1");
    command.env("MOZ_CRASHREPORTER_NO_REPORT", "1");
    end_with_parent(command);
    Ok(())
}

/// The port that Firefox listens on, once it does.
pub(crate) fn read_port(profile: &Path) -> Option<u16> {
    std::fs::read_to_string(profile.join(PORT_FILE)).ok()?.trim().parse().ok()
}

/// Removes what an earlier launch set for its own session: Firefox keeps the preferences of `user.js` in `prefs.js`.
fn forget_conditional(profile: &Path) -> Result<(), BrowserError> {
    let file = profile.join("prefs.js");
    let before = match std::fs::read_to_string(&file) {
        Ok(before) => before,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(BrowserError::system("read", &file, error)),
    };
    atomic_file::write(&file, without_conditional(&before).as_bytes())
}

fn without_conditional(preferences: &str) -> String {
    let is_conditional = |line: &str| {
        let name = line.strip_prefix("user_pref(\"").and_then(|rest| rest.split('"').next());
        name.is_some_and(|name| {
            name.starts_with("network.proxy.") || RESERVED.iter().any(|(reserved, _)| *reserved == name)
        })
    };
    let kept = preferences.lines().filter(|line| !is_conditional(line));
    kept.flat_map(|line| [line, "\n"]).collect()
}

fn user_js(spec: &LaunchSpec) -> String {
    let mut text = String::from("// Written by Tabwire at every start.\n");
    let mut add = |name: &str, value: &str| {
        text.push_str(&format!("user_pref(\"{name}\", {value});\n"));
    };
    let reserved = if spec.reserved { RESERVED } else { &[] };
    for (name, value) in PREFERENCES.iter().chain(reserved) {
        add(name, value);
    }
    for (name, value) in spec.proxy.as_deref().map(proxy_preferences).unwrap_or_default() {
        add(name, &value);
    }
    text
}

/// The preferences of a proxy URL, whose characters are checked.
fn proxy_preferences(proxy: &str) -> Vec<(&'static str, String)> {
    let (scheme, address) = proxy.split_once("://").unwrap_or(("http", proxy));
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "80"));
    let (host, port) = (format!("\"{host}\""), port.to_owned());
    let mut made = vec![
        ("network.proxy.type", "1".to_owned()),
        ("network.proxy.allow_hijacking_localhost", "true".to_owned()),
    ];
    if scheme.starts_with("socks") {
        let version = if scheme == "socks4" { "4" } else { "5" };
        made.push(("network.proxy.socks", host));
        made.push(("network.proxy.socks_port", port));
        made.push(("network.proxy.socks_version", version.to_owned()));
        made.push(("network.proxy.socks_remote_dns", "true".to_owned()));
    } else {
        made.push(("network.proxy.http", host.clone()));
        made.push(("network.proxy.http_port", port.clone()));
        made.push(("network.proxy.ssl", host));
        made.push(("network.proxy.ssl_port", port));
    }
    made
}

/// Has the kernel end Firefox when its keeper dies: it has no pipe whose end it would notice.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a function between fork and exec")]
fn end_with_parent(command: &mut Command) {
    let keeper = rustix::process::getpid();
    let set = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The keeper may have died before.
        if rustix::process::getppid() == Some(keeper) {
            Ok(())
        } else {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: the function makes two system calls, allocates nothing and takes no lock, so it may run in the child of a
    // process with threads. The test `firefox_dies_with_its_keeper` checks its effect.
    unsafe {
        command.pre_exec(set);
    }
}

/// Other systems have no such signal: the next sweep ends it.
#[cfg(not(target_os = "linux"))]
fn end_with_parent(_command: &mut Command) {}

#[cfg(test)]
mod tests {
    use tabwire_api::BrowserId;

    use super::*;
    use crate::launch::spec::BrowserEngine;

    fn spec() -> LaunchSpec {
        let spec = LaunchSpec::new(BrowserId::new("b1"), "/usr/bin/firefox-esr".into(), "/p".into());
        LaunchSpec { engine: BrowserEngine::Firefox, ..spec }
    }

    #[test]
    fn arguments_name_the_profile_below_the_directory() {
        let list = spec().arguments(None).unwrap();
        let list: Vec<_> = list.iter().map(|argument| argument.to_str().unwrap()).collect();
        let expected = [
            "--marionette",
            "--remote-debugging-port=0",
            "--no-remote",
            "--profile",
            "/p/firefox",
            "--headless",
        ];
        assert_eq!(list, expected);
    }

    #[test]
    fn unchecked_arguments_need_consent_and_system_access_is_refused() {
        let with = |argument: &str, allow_dangerous| LaunchSpec {
            extra_arguments: vec![argument.to_owned()],
            allow_dangerous,
            ..spec()
        };
        assert!(with("--safe-mode", false).arguments(None).is_err());
        assert!(with("--safe-mode", true).arguments(None).is_ok());
        assert!(with("--remote-allow-system-access", true).arguments(None).is_err());
    }

    #[test]
    fn preferences_of_an_earlier_session_are_forgotten() {
        let before = "// Mozilla\nuser_pref(\"network.proxy.type\", 1);\nuser_pref(\"network.trr.mode\", 5);\nuser_pref(\"a.b\", 1);\n";
        assert_eq!(without_conditional(before), "// Mozilla\nuser_pref(\"a.b\", 1);\n");
    }

    #[test]
    fn preferences_are_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("prefs.js");
        std::fs::write(&file, "user_pref(\"network.trr.mode\", 5);\nuser_pref(\"a.b\", 1);\n").unwrap();
        forget_conditional(directory.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "user_pref(\"a.b\", 1);\n");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing else is left");
        // Without a profile there is nothing to forget.
        forget_conditional(&directory.path().join("absent")).unwrap();
    }

    #[test]
    fn preferences_hold_the_proxy_and_what_a_guarded_session_needs() {
        let guarded = LaunchSpec { proxy: Some("socks5://h:1".to_owned()), reserved: true, ..spec() };
        let text = user_js(&guarded);
        assert!(text.contains("user_pref(\"network.proxy.socks\", \"h\");"));
        assert!(text.contains("user_pref(\"network.proxy.socks_port\", 1);"));
        assert!(text.contains("media.peerconnection.enabled"));
        assert!(!user_js(&spec()).contains("media.peerconnection.enabled"));
    }
}
