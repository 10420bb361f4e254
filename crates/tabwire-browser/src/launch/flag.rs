//! Table of browser flags and environment variables that callers may not set, with the reason. Chromium's own list is
//! `chrome/common/chrome_switches.cc` and the other `*_switches.cc` files.

use crate::error::BrowserError;

/// Whether a caller may set a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Never: Tabwire sets it from its own options.
    Ours,
    /// Only with `allow_dangerous`.
    Dangerous,
}

use Rule::{Dangerous, Ours};

const SETS_PROFILE: &str = "Tabwire chooses the profile directory";
const SETS_DEBUGGING: &str = "Tabwire sets up remote debugging";
const SETS_DISPLAY: &str = "Tabwire has its own option for it";
pub(super) const RUNS_PROGRAMS: &str = "it makes the browser run another program";
const LOADS_CODE: &str = "it loads code into the browser";
const WEAKENS_SANDBOX: &str = "it weakens the browser's sandbox";
const WEAKENS_WEB: &str = "it weakens the isolation of web sites";
const WEAKENS_TLS: &str = "it weakens the check of server certificates";
const WRITES_FILES: &str = "it makes the browser write or read files of the caller's choice";
const REROUTES: &str = "it redirects the browser's network traffic";

/// Flag, whether a caller may set it, and the reason.
const FLAGS: &[(&str, Rule, &str)] = &[
    ("user-data-dir", Ours, SETS_PROFILE),
    ("profile-directory", Ours, SETS_PROFILE),
    ("temp-profile", Ours, SETS_PROFILE),
    ("disk-cache-dir", Dangerous, SETS_PROFILE),
    ("media-cache-dir", Dangerous, SETS_PROFILE),
    ("crash-dumps-dir", Dangerous, SETS_PROFILE),
    ("remote-debugging-pipe", Ours, SETS_DEBUGGING),
    ("remote-debugging-port", Ours, SETS_DEBUGGING),
    ("remote-debugging-address", Ours, SETS_DEBUGGING),
    ("remote-debugging-io-pipes", Ours, SETS_DEBUGGING),
    ("remote-debugging-socket-name", Ours, SETS_DEBUGGING),
    ("remote-debugging-targets", Ours, SETS_DEBUGGING),
    ("remote-allow-origins", Dangerous, SETS_DEBUGGING),
    ("enable-unsafe-extension-debugging", Dangerous, SETS_DEBUGGING),
    ("silent-debugger-extension-api", Dangerous, SETS_DEBUGGING),
    ("custom-devtools-frontend", Dangerous, LOADS_CODE),
    ("headless", Ours, SETS_DISPLAY),
    ("window-size", Ours, SETS_DISPLAY),
    ("proxy-server", Ours, SETS_DISPLAY),
    ("type", Ours, RUNS_PROGRAMS),
    ("g", Ours, RUNS_PROGRAMS),
    ("debug", Ours, RUNS_PROGRAMS),
    ("h", Ours, SETS_DISPLAY),
    ("help", Ours, SETS_DISPLAY),
    ("version", Ours, SETS_DISPLAY),
    ("product-version", Ours, SETS_DISPLAY),
    ("renderer-cmd-prefix", Dangerous, RUNS_PROGRAMS),
    ("gpu-launcher", Dangerous, RUNS_PROGRAMS),
    ("utility-cmd-prefix", Dangerous, RUNS_PROGRAMS),
    ("ppapi-plugin-launcher", Dangerous, RUNS_PROGRAMS),
    ("nacl-gdb", Dangerous, RUNS_PROGRAMS),
    ("zygote-cmd-prefix", Dangerous, RUNS_PROGRAMS),
    ("browser-subprocess-path", Dangerous, RUNS_PROGRAMS),
    ("crash-handler", Dangerous, RUNS_PROGRAMS),
    ("wait-for-debugger", Dangerous, RUNS_PROGRAMS),
    ("wait-for-debugger-children", Dangerous, RUNS_PROGRAMS),
    ("gpu-startup-dialog", Dangerous, RUNS_PROGRAMS),
    ("renderer-startup-dialog", Dangerous, RUNS_PROGRAMS),
    ("load-extension", Dangerous, LOADS_CODE),
    ("load-component-extension", Dangerous, LOADS_CODE),
    ("disable-extensions-except", Dangerous, LOADS_CODE),
    ("allowlisted-extension-id", Dangerous, LOADS_CODE),
    ("whitelisted-extension-id", Dangerous, LOADS_CODE),
    ("load-and-launch-app", Dangerous, LOADS_CODE),
    ("register-pepper-plugins", Dangerous, LOADS_CODE),
    ("js-flags", Dangerous, LOADS_CODE),
    ("native-messaging-connect-host", Dangerous, RUNS_PROGRAMS),
    ("native-messaging-connect-extension", Dangerous, RUNS_PROGRAMS),
    ("no-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("disable-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("disable-setuid-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("disable-namespace-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("disable-seccomp-filter-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("disable-gpu-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("no-zygote", Dangerous, WEAKENS_SANDBOX),
    ("no-zygote-sandbox", Dangerous, WEAKENS_SANDBOX),
    ("no-unsandboxed-zygote", Dangerous, WEAKENS_SANDBOX),
    ("allow-sandbox-debugging", Dangerous, WEAKENS_SANDBOX),
    ("allow-third-party-modules", Dangerous, WEAKENS_SANDBOX),
    ("service-sandbox-type", Dangerous, WEAKENS_SANDBOX),
    ("single-process", Dangerous, WEAKENS_SANDBOX),
    ("in-process-gpu", Dangerous, WEAKENS_SANDBOX),
    ("in-process-plugins", Dangerous, WEAKENS_SANDBOX),
    ("disable-web-security", Dangerous, WEAKENS_WEB),
    ("disable-site-isolation-trials", Dangerous, WEAKENS_WEB),
    ("disable-site-isolation-for-policy", Dangerous, WEAKENS_WEB),
    ("isolate-origins", Dangerous, WEAKENS_WEB),
    ("allow-file-access", Dangerous, WEAKENS_WEB),
    ("allow-file-access-from-files", Dangerous, WEAKENS_WEB),
    ("allow-running-insecure-content", Dangerous, WEAKENS_WEB),
    ("allow-cross-origin-auth-prompt", Dangerous, WEAKENS_WEB),
    ("unsafely-treat-insecure-origin-as-secure", Dangerous, WEAKENS_WEB),
    ("unsafely-disable-devtools-self-xss-warnings", Dangerous, WEAKENS_WEB),
    ("disable-features", Dangerous, WEAKENS_WEB),
    ("enable-features", Dangerous, WEAKENS_WEB),
    ("enable-blink-features", Dangerous, WEAKENS_WEB),
    ("disable-blink-features", Dangerous, WEAKENS_WEB),
    ("enable-blink-test-features", Dangerous, WEAKENS_WEB),
    ("extensions-on-chrome-urls", Dangerous, WEAKENS_WEB),
    ("extensions-on-extension-urls", Dangerous, WEAKENS_WEB),
    ("use-fake-ui-for-media-stream", Dangerous, WEAKENS_WEB),
    ("auto-accept-this-tab-capture", Dangerous, WEAKENS_WEB),
    ("auto-select-desktop-capture-source", Dangerous, WEAKENS_WEB),
    ("auto-select-tab-capture-source-by-title", Dangerous, WEAKENS_WEB),
    ("auto-grant-permissions", Dangerous, WEAKENS_WEB),
    ("disable-client-side-phishing-detection", Dangerous, WEAKENS_WEB),
    ("safebrowsing-disable-download-protection", Dangerous, WEAKENS_WEB),
    ("enable-automation-unsafe", Dangerous, WEAKENS_WEB),
    ("ignore-certificate-errors", Dangerous, WEAKENS_TLS),
    ("ignore-certificate-errors-spki-list", Dangerous, WEAKENS_TLS),
    ("ignore-urlfetcher-cert-requests", Dangerous, WEAKENS_TLS),
    ("allow-insecure-localhost", Dangerous, WEAKENS_TLS),
    ("ssl-version-min", Dangerous, WEAKENS_TLS),
    ("cipher-suite-blacklist", Dangerous, WEAKENS_TLS),
    ("test-third-party-cookie-phaseout", Dangerous, WEAKENS_WEB),
    ("ssl-key-log-file", Dangerous, WRITES_FILES),
    ("log-net-log", Dangerous, WRITES_FILES),
    ("log-file", Dangerous, WRITES_FILES),
    ("trace-startup-file", Dangerous, WRITES_FILES),
    ("screenshot", Dangerous, WRITES_FILES),
    ("print-to-pdf", Dangerous, WRITES_FILES),
    ("dump-dom", Dangerous, WRITES_FILES),
    ("use-file-for-fake-video-capture", Dangerous, WRITES_FILES),
    ("use-file-for-fake-audio-capture", Dangerous, WRITES_FILES),
    ("download-directory", Dangerous, WRITES_FILES),
    ("host-rules", Dangerous, REROUTES),
    ("host-resolver-rules", Dangerous, REROUTES),
    ("proxy-pac-url", Dangerous, REROUTES),
    ("proxy-auto-detect", Dangerous, REROUTES),
    ("proxy-bypass-list", Dangerous, REROUTES),
    ("auth-server-allowlist", Dangerous, REROUTES),
    ("auth-server-whitelist", Dangerous, REROUTES),
    ("auth-negotiate-delegate-allowlist", Dangerous, REROUTES),
    ("gaia-url", Dangerous, REROUTES),
    ("google-url", Dangerous, REROUTES),
    ("variations-server-url", Dangerous, REROUTES),
];

/// Variables that run programs, load code or rewrite the command line.
const VARIABLES: &[(&str, &str)] = &[
    ("LD_PRELOAD", LOADS_CODE),
    ("LD_AUDIT", LOADS_CODE),
    ("LD_LIBRARY_PATH", LOADS_CODE),
    ("DYLD_INSERT_LIBRARIES", LOADS_CODE),
    ("DYLD_LIBRARY_PATH", LOADS_CODE),
    ("DYLD_FRAMEWORK_PATH", LOADS_CODE),
    ("GTK_MODULES", LOADS_CODE),
    ("GTK_PATH", LOADS_CODE),
    ("GIO_EXTRA_MODULES", LOADS_CODE),
    ("LIBGL_DRIVERS_PATH", LOADS_CODE),
    ("VK_ICD_FILENAMES", LOADS_CODE),
    ("VK_DRIVER_FILES", LOADS_CODE),
    ("CHROMIUM_FLAGS", "it adds flags that Tabwire does not check"),
    ("CHROMIUM_USER_FLAGS", "it adds flags that Tabwire does not check"),
    ("CHROME_DEVEL_SANDBOX", WEAKENS_SANDBOX),
    ("CHROME_LOG_FILE", WRITES_FILES),
    ("CHROME_CONFIG_HOME", SETS_PROFILE),
    ("CHROME_USER_DATA_DIR", SETS_PROFILE),
    ("SSLKEYLOGFILE", WRITES_FILES),
    ("BASH_ENV", RUNS_PROGRAMS),
    ("ENV", RUNS_PROGRAMS),
    ("IFS", RUNS_PROGRAMS),
    ("PATH", RUNS_PROGRAMS),
    ("SHELLOPTS", RUNS_PROGRAMS),
    ("BROWSER", RUNS_PROGRAMS),
];

/// Checks one extra argument of a launch (T36).
pub(crate) fn check_argument(argument: &str, allow_dangerous: bool) -> Result<(), BrowserError> {
    let refused = |name: &str, reason, can_be_allowed| {
        let name = name.chars().take(200).collect();
        Err(BrowserError::OptionRefused { name, reason, can_be_allowed })
    };
    // Chromium accepts one dash as well as two, and a lone `--` ends the flags.
    let bare = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')).unwrap_or_default();
    if bare.is_empty() || bare.starts_with(['-', '=']) || argument.contains('\0') {
        return refused(argument, "only flags such as `--name` or `--name=value` are passed on", false);
    }
    let name = bare.split('=').next().unwrap_or(bare);
    let Some((name, rule, reason)) = FLAGS.iter().find(|(flag, ..)| flag.eq_ignore_ascii_case(name)) else {
        return Ok(());
    };
    match rule {
        Dangerous if allow_dangerous => Ok(()),
        Dangerous => refused(&format!("--{name}"), reason, true),
        Ours => refused(&format!("--{name}"), reason, false),
    }
}

/// Checks one added environment variable of a launch (T36).
pub(crate) fn check_variable(name: &str, value: &str, allow_dangerous: bool) -> Result<(), BrowserError> {
    let refused = |reason, can_be_allowed| {
        Err(BrowserError::OptionRefused { name: name.chars().take(200).collect(), reason, can_be_allowed })
    };
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return refused("it is not an environment variable", false);
    }
    match VARIABLES.iter().find(|(variable, _)| *variable == name) {
        Some((_, reason)) if !allow_dangerous => refused(reason, true),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{FLAGS, Rule, VARIABLES, check_argument, check_variable};

    #[test]
    fn t36_every_listed_flag_is_refused_in_every_spelling() {
        for (flag, rule, _) in FLAGS {
            for spelling in [
                format!("--{flag}"),
                format!("-{flag}"),
                format!("--{flag}=x"),
                format!("--{}", flag.to_uppercase()),
            ] {
                assert!(check_argument(&spelling, false).is_err(), "{spelling}");
                assert_eq!(check_argument(&spelling, true).is_ok(), *rule == Rule::Dangerous, "{spelling}");
            }
        }
        let error = check_argument("--renderer-cmd-prefix=xterm -e", false).unwrap_err();
        assert!(error.to_string().contains("--renderer-cmd-prefix"), "{error}");
        assert_eq!(error.code(), tabwire_api::ErrorCode::BadArgs);
    }

    #[test]
    fn t36_only_flags_are_passed_on() {
        for bad in ["", "-", "--", "---", "--=x", "file:///etc/passwd", "; rm -rf", "--lang=de\0--no-sandbox"]
        {
            assert!(check_argument(bad, true).is_err(), "{bad:?}");
        }
        for good in ["--lang=de", "--force-device-scale-factor=2", "--disable-gpu", "-lang=a b; c"] {
            assert!(check_argument(good, false).is_ok(), "{good}");
        }
    }

    #[test]
    fn t36_variables_that_run_code_are_refused() {
        for (name, _) in VARIABLES {
            assert!(check_variable(name, "x", false).is_err(), "{name}");
            assert!(check_variable(name, "x", true).is_ok(), "{name}");
        }
        assert!(check_variable("LANG", "de_DE.UTF-8", false).is_ok());
        for (name, value) in [("", "x"), ("A=B", "x"), ("A", "\0")] {
            assert!(check_variable(name, value, true).is_err(), "{name:?}");
        }
    }

    #[test]
    fn flag_table_has_no_duplicates() {
        let mut names: Vec<_> = FLAGS.iter().map(|(flag, ..)| flag).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
