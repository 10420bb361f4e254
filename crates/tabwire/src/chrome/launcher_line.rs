//! The command line that a launcher made for Chrome: what of it is ours to decide, and what is passed on.
//! Knows nothing of browsers that run.

use std::ffi::OsString;
use std::path::PathBuf;

use tabwire_wire::{ErrorCode, Failure};

/// What the launcher wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Errand {
    /// A browser.
    #[default]
    Run,
    /// To know its version.
    Version,
    /// To know what would be done.
    Explain,
    /// To know what this program is.
    Help,
}

/// A launcher's command line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LauncherLine {
    pub(super) errand: Errand,
    /// Whether it speaks on descriptors 3 and 4.
    pub(super) pipe: bool,
    /// The port it wants to connect to; 0 for any.
    pub(super) port: Option<u16>,
    /// The port that a browser of Windows is to have there.
    pub(super) own_port: Option<u16>,
    pub(super) profile: Option<PathBuf>,
    pub(super) headless: bool,
    /// Whether it wants no window at the start.
    pub(super) windowless: bool,
    pub(super) window: Option<(u16, u16)>,
    pub(super) proxy: Option<String>,
    /// Flags that are passed on as they are.
    pub(super) passed: Vec<String>,
    /// Pages to open.
    pub(super) addresses: Vec<String>,
    /// What is not passed on, and why.
    pub(super) dropped: Vec<(String, &'static str)>,
}

/// Flags whose value may follow as an argument of its own.
const TAKES_VALUE: &[&str] = &[
    "user-data-dir",
    "userDataDir",
    "remote-debugging-port",
    "remote-debug-port",
    "remote-debugging-address",
    "remote-debug-address",
    "tabwire-remote-debugging-port",
];

const LOOPBACK: &str = "it is served on 127.0.0.1 and nowhere else";
const ORIGINS: &str = "no web page may connect to a browser of Tabwire's";
const SANDBOX: &str = "the sandbox is left out only where it cannot work";
const KEPT: &str = "Tabwire speaks to the browser on a pipe of its own";

impl LauncherLine {
    /// Takes a command line apart.
    ///
    /// # Errors
    /// When a flag of ours has a value that cannot be meant.
    pub(super) fn parse(arguments: &[OsString]) -> Result<Self, Failure> {
        let mut line = Self::default();
        let mut words = arguments.iter().map(|word| word.to_string_lossy().into_owned()).peekable();
        while let Some(word) = words.next() {
            let Some(bare) = word.strip_prefix("--").filter(|bare| !bare.is_empty()) else {
                line.take_word(word);
                continue;
            };
            let (name, mut value) = match bare.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (bare, None),
            };
            if value.is_none() && TAKES_VALUE.contains(&name) {
                value = words.next_if(|next| !next.starts_with('-'));
            }
            line.take_flag(&word, name, value)?;
        }
        Ok(line)
    }

    /// What is no flag: a page to open, or a flag with one dash, which the table of refused flags judges.
    fn take_word(&mut self, word: String) {
        if word == "-h" {
            self.errand = Errand::Help;
        } else if word.starts_with('-') {
            self.passed.push(word);
        } else {
            self.addresses.push(word);
        }
    }

    fn take_flag(&mut self, word: &str, name: &str, value: Option<String>) -> Result<(), Failure> {
        let given = value.clone().filter(|value| !value.is_empty());
        match name {
            "version" | "product-version" => self.errand = Errand::Version,
            "explain" => self.errand = Errand::Explain,
            "help" => self.errand = Errand::Help,
            "remote-debugging-pipe" => {
                if given.is_some_and(|form| !form.eq_ignore_ascii_case("json")) {
                    return Err(bad_flag(word, "only JSON is spoken on the pipe"));
                }
                self.pipe = true;
            }
            "remote-debugging-port" | "remote-debug-port" => {
                let port = given.and_then(|port| port.parse().ok());
                self.port = Some(port.ok_or_else(|| bad_flag(word, "it needs a port from 0 to 65535"))?);
            }
            "tabwire-remote-debugging-port" => {
                let port = given.and_then(|port| port.parse().ok()).filter(|port| *port != 0);
                self.own_port = Some(port.ok_or_else(|| bad_flag(word, "it needs a port from 1 to 65535"))?);
            }
            "user-data-dir" | "userDataDir" => self.profile = given.map(PathBuf::from),
            "headless" => self.headless = true,
            "no-startup-window" => self.windowless = true,
            "window-size" => match given.as_deref().and_then(parse_size) {
                Some(size) => self.window = Some(size),
                None => return Err(bad_flag(word, "it needs a width and a height, as in 1280,800")),
            },
            "proxy-server" => self.proxy = given,
            "remote-debugging-address" | "remote-debug-address" => self.drop_flag(word, LOOPBACK),
            "remote-allow-origins" => self.drop_flag(word, ORIGINS),
            "remote-debugging-io-pipes" => self.drop_flag(word, KEPT),
            "no-sandbox" | "disable-setuid-sandbox" => self.drop_flag(word, SANDBOX),
            _ => self.passed.push(word.to_owned()),
        }
        Ok(())
    }

    fn drop_flag(&mut self, word: &str, why: &'static str) {
        self.dropped.push((word.to_owned(), why));
    }
}

fn parse_size(text: &str) -> Option<(u16, u16)> {
    let (width, height) = text.split_once([',', 'x'])?;
    Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
}

fn bad_flag(word: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("`{word}` cannot be used: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> LauncherLine {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        LauncherLine::parse(&words).unwrap()
    }

    #[test]
    fn a_launchers_line_is_taken_apart() {
        let line = parse(&[
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
        assert!(line.pipe && line.headless && line.windowless && line.errand == Errand::Run);
        assert_eq!(line.profile, Some(PathBuf::from("/tmp/a b")));
        assert_eq!(line.window, Some((800, 600)));
        assert_eq!(line.proxy.as_deref(), Some("127.0.0.1:1"));
        assert_eq!(line.passed, ["--disable-features=Translate", "--lang=de"]);
        assert_eq!(line.addresses, ["about:blank"]);
        assert_eq!(line.dropped, [("--no-sandbox".to_owned(), SANDBOX)]);
    }

    #[test]
    fn values_come_behind_an_equals_sign_or_as_the_next_argument() {
        for words in [
            &["--user-data-dir=/p", "--remote-debugging-port=9222"][..],
            &["--user-data-dir", "/p", "--remote-debugging-port", "9222"],
            &["--userDataDir=/p", "--remote-debug-port", "9222"],
        ] {
            let line = parse(words);
            assert_eq!((line.profile, line.port), (Some(PathBuf::from("/p")), Some(9222)), "{words:?}");
            assert!(line.addresses.is_empty() && line.passed.is_empty(), "{words:?}");
        }
        // A value that is a flag is none.
        let line = parse(&["--user-data-dir", "--headless"]);
        assert!(line.profile.is_none() && line.headless);
    }

    #[test]
    fn an_address_to_listen_on_is_dropped_and_told() {
        let line =
            parse(&["--remote-debugging-port=0", "--remote-debugging-address", "0.0.0.0", "--lang=de"]);
        assert_eq!((line.port, line.passed.as_slice()), (Some(0), &["--lang=de".to_owned()][..]));
        assert_eq!(line.dropped, [("--remote-debugging-address".to_owned(), LOOPBACK)]);
        assert!(line.addresses.is_empty());
    }

    #[test]
    fn values_that_cannot_be_meant_are_refused() {
        for bad in ["--remote-debugging-port=x", "--remote-debugging-port", "--remote-debugging-port=70000"] {
            assert!(LauncherLine::parse(&[bad.into()]).is_err(), "{bad}");
        }
        for bad in ["--window-size=big", "--remote-debugging-pipe=cbor"] {
            assert!(LauncherLine::parse(&[bad.into()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_version_is_asked_for_in_any_company() {
        assert_eq!(parse(&["--headless", "--version"]).errand, Errand::Version);
        assert_eq!(parse(&["--headless", "-h"]).errand, Errand::Help);
        assert_eq!(parse(&["--help"]).errand, Errand::Help);
        assert_eq!(parse(&["--product-version"]).errand, Errand::Version);
        assert_eq!(parse(&["--explain", "--remote-debugging-pipe"]).errand, Errand::Explain);
    }

    #[test]
    fn what_is_not_known_is_passed_on_in_its_order() {
        let line = parse(&["-lang=de", "--mute-audio", "http://a.test/", "--blink-settings=a=b", "data:,"]);
        assert_eq!(line.passed, ["-lang=de", "--mute-audio", "--blink-settings=a=b"]);
        assert_eq!(line.addresses, ["http://a.test/", "data:,"]);
    }
}
