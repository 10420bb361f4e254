//! Parses the command line that a launcher made for Chrome: flags that the shim handles, flags that it forwards.

use std::ffi::OsString;
use std::path::PathBuf;

use tabwire_api::{ErrorCode, Failure};
use tabwire_browser::sort_launcher_flag;

/// The requested operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShimCommand {
    /// Connect the launcher to a browser.
    #[default]
    Run,
    /// Print the browser's version.
    Version,
    /// Print what would be done with each argument.
    Explain,
    /// Print the help.
    Help,
}

/// A launcher's parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LauncherArgs {
    pub(super) command: ShimCommand,
    /// Whether the launcher speaks CDP on descriptors 3 and 4.
    pub(super) pipe: bool,
    /// The debugging port; 0 for any free one.
    pub(super) port: Option<u16>,
    /// The debugging port of a browser on Windows.
    pub(super) windows_port: Option<u16>,
    pub(super) profile: Option<PathBuf>,
    pub(super) headless: bool,
    pub(super) no_startup_window: bool,
    pub(super) window: Option<(u16, u16)>,
    pub(super) proxy: Option<String>,
    /// Flags that the browser gets unchanged.
    pub(super) forwarded: Vec<String>,
    /// Pages to open.
    pub(super) urls: Vec<String>,
    /// Flags that the browser does not get, each with the reason.
    pub(super) dropped: Vec<(String, &'static str)>,
}

/// Flags whose value may be the next argument.
const SEPARATE_VALUE: &[&str] = &[
    "user-data-dir",
    "userDataDir",
    "remote-debugging-port",
    "remote-debug-port",
    "remote-debugging-address",
    "remote-debug-address",
    "tabwire-remote-debugging-port",
];

const LOOPBACK: &str = "the port is served on 127.0.0.1 only";
const ORIGINS: &str = "web pages may not connect to this port";
const SANDBOX: &str = "Tabwire disables the sandbox only where it cannot work";
const OWN_PIPE: &str = "Tabwire uses its own pipe to the browser";

impl LauncherArgs {
    /// Parses a command line.
    ///
    /// # Errors
    /// When a flag that the shim handles has an invalid value.
    pub(super) fn parse(arguments: &[OsString]) -> Result<Self, Failure> {
        let mut args = Self::default();
        let mut words = arguments.iter().map(|word| word.to_string_lossy().into_owned()).peekable();
        while let Some(word) = words.next() {
            let Some(bare) = word.strip_prefix("--").filter(|bare| !bare.is_empty()) else {
                args.add_word(word);
                continue;
            };
            let (name, mut value) = match bare.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (bare, None),
            };
            if value.is_none() && SEPARATE_VALUE.contains(&name) {
                value = words.next_if(|next| !next.starts_with('-'));
            }
            args.add_flag(&word, name, value)?;
        }
        Ok(args)
    }

    /// A page to open, or a flag with one dash, which the table of refused flags checks.
    fn add_word(&mut self, word: String) {
        if word == "-h" {
            self.command = ShimCommand::Help;
        } else if word.starts_with('-') {
            self.forwarded.push(word);
        } else {
            self.urls.push(word);
        }
    }

    fn add_flag(&mut self, word: &str, name: &str, value: Option<String>) -> Result<(), Failure> {
        let given = value.clone().filter(|value| !value.is_empty());
        match name {
            "version" | "product-version" => self.command = ShimCommand::Version,
            "explain" => self.command = ShimCommand::Explain,
            "help" => self.command = ShimCommand::Help,
            "remote-debugging-pipe" => {
                if given.is_some_and(|form| !form.eq_ignore_ascii_case("json")) {
                    return Err(invalid_flag(word, "the pipe supports JSON only"));
                }
                self.pipe = true;
            }
            "remote-debugging-port" | "remote-debug-port" => {
                let port = given.and_then(|port| port.parse().ok());
                self.port = Some(port.ok_or_else(|| invalid_flag(word, "expected a port from 0 to 65535"))?);
            }
            "tabwire-remote-debugging-port" => {
                let port = given.and_then(|port| port.parse().ok()).filter(|port| *port != 0);
                self.windows_port =
                    Some(port.ok_or_else(|| invalid_flag(word, "expected a port from 1 to 65535"))?);
            }
            "user-data-dir" | "userDataDir" => self.profile = given.map(PathBuf::from),
            "headless" => self.headless = true,
            "no-startup-window" => self.no_startup_window = true,
            "window-size" => match given.as_deref().and_then(parse_size) {
                Some(size) => self.window = Some(size),
                None => return Err(invalid_flag(word, "expected a width and a height such as 1280,800")),
            },
            "proxy-server" => self.proxy = given,
            "remote-debugging-address" | "remote-debug-address" => self.drop_flag(word, LOOPBACK),
            "remote-allow-origins" => self.drop_flag(word, ORIGINS),
            "remote-debugging-io-pipes" => self.drop_flag(word, OWN_PIPE),
            "no-sandbox" | "disable-setuid-sandbox" => self.drop_flag(word, SANDBOX),
            _ => self.forwarded.push(word.to_owned()),
        }
        Ok(())
    }

    /// Drops flags that weaken the browser, which launchers pass by habit. Returns a note about them.
    pub(super) fn drop_dangerous(&mut self) -> Option<String> {
        let (mut kept, mut notes) = (Vec::new(), Vec::new());
        for flag in std::mem::take(&mut self.forwarded) {
            let sorted = sort_launcher_flag(&flag);
            kept.extend(sorted.kept);
            if let Some((flag, reason)) = sorted.dropped {
                notes.push(format!("{flag} ({reason})"));
                self.dropped.push((flag, reason));
            }
        }
        self.forwarded = kept;
        (!notes.is_empty()).then(|| {
            format!("Dropped flags: {}. TABWIRE_CHROME_DANGEROUS=1 forwards them.", notes.join(", "))
        })
    }

    fn drop_flag(&mut self, word: &str, reason: &'static str) {
        self.dropped.push((word.to_owned(), reason));
    }
}

fn parse_size(text: &str) -> Option<(u16, u16)> {
    let (width, height) = text.split_once([',', 'x'])?;
    Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
}

fn invalid_flag(word: &str, reason: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Invalid flag `{word}`: {reason}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> LauncherArgs {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        LauncherArgs::parse(&words).unwrap()
    }

    #[test]
    fn parses_the_flags_of_a_launcher() {
        let args = parse(&[
            "--disable-features=Translate",
            "--headless=new",
            "--no-sandbox",
            "--user-data-dir=/tmp/a b",
            "--remote-debugging-pipe",
            "--window-size=800,600",
            "--proxy-server=127.0.0.1:1",
            "--lang=de",
            "--no-startup-window",
            "about:blank",
        ]);
        assert!(args.pipe && args.headless && args.no_startup_window && args.command == ShimCommand::Run);
        assert_eq!(args.profile, Some(PathBuf::from("/tmp/a b")));
        assert_eq!(args.window, Some((800, 600)));
        assert_eq!(args.proxy.as_deref(), Some("127.0.0.1:1"));
        assert_eq!(args.forwarded, ["--disable-features=Translate", "--lang=de"]);
        assert_eq!(args.urls, ["about:blank"]);
        assert_eq!(args.dropped, [("--no-sandbox".to_owned(), SANDBOX)]);
    }

    #[test]
    fn values_follow_an_equals_sign_or_are_the_next_argument() {
        for words in [
            &["--user-data-dir=/p", "--remote-debugging-port=9222"][..],
            &["--user-data-dir", "/p", "--remote-debugging-port", "9222"],
            &["--userDataDir=/p", "--remote-debug-port", "9222"],
        ] {
            let args = parse(words);
            assert_eq!((args.profile, args.port), (Some(PathBuf::from("/p")), Some(9222)), "{words:?}");
            assert!(args.urls.is_empty() && args.forwarded.is_empty(), "{words:?}");
        }
        // A flag is never taken as a value.
        let args = parse(&["--user-data-dir", "--headless"]);
        assert!(args.profile.is_none() && args.headless);
    }

    #[test]
    fn the_debugging_address_is_dropped_with_its_reason() {
        let args =
            parse(&["--remote-debugging-port=0", "--remote-debugging-address", "0.0.0.0", "--lang=de"]);
        assert_eq!((args.port, args.forwarded.as_slice()), (Some(0), &["--lang=de".to_owned()][..]));
        assert_eq!(args.dropped, [("--remote-debugging-address".to_owned(), LOOPBACK)]);
        assert!(args.urls.is_empty());
    }

    #[test]
    fn p4_habitual_flags_are_dropped_with_a_note_that_names_the_variable() {
        let mut args = parse(&["--disable-web-security", "--lang=de", "--profile-directory=Default"]);
        let note = args.drop_dangerous().expect("a note");
        assert_eq!((args.forwarded.as_slice(), args.dropped.len()), (&["--lang=de".to_owned()][..], 2));
        assert!(
            note.contains("--disable-web-security") && note.contains("TABWIRE_CHROME_DANGEROUS=1"),
            "{note}"
        );
        assert_eq!(args.drop_dangerous(), None);
    }

    #[test]
    fn invalid_values_are_refused() {
        for bad in ["--remote-debugging-port=x", "--remote-debugging-port", "--remote-debugging-port=70000"] {
            assert!(LauncherArgs::parse(&[bad.into()]).is_err(), "{bad}");
        }
        for bad in ["--window-size=big", "--remote-debugging-pipe=cbor"] {
            assert!(LauncherArgs::parse(&[bad.into()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_is_found_among_other_flags() {
        assert_eq!(parse(&["--headless", "--version"]).command, ShimCommand::Version);
        assert_eq!(parse(&["--headless", "-h"]).command, ShimCommand::Help);
        assert_eq!(parse(&["--help"]).command, ShimCommand::Help);
        assert_eq!(parse(&["--product-version"]).command, ShimCommand::Version);
        assert_eq!(parse(&["--explain", "--remote-debugging-pipe"]).command, ShimCommand::Explain);
    }

    #[test]
    fn unknown_flags_are_forwarded_in_order() {
        let args = parse(&["-lang=de", "--mute-audio", "http://a.test/", "--blink-settings=a=b", "data:,"]);
        assert_eq!(args.forwarded, ["-lang=de", "--mute-audio", "--blink-settings=a=b"]);
        assert_eq!(args.urls, ["http://a.test/", "data:,"]);
    }
}
