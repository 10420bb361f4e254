//! Flags that launchers such as Playwright and Puppeteer pass to every browser.

use crate::error::BrowserError;
use crate::launch::flag::{RUNS_PROGRAMS, check_argument};

/// Flags that launchers pass on every start. Users may not pass them without `allow_dangerous`, because they can weaken
/// the browser. From a launcher they are accepted, because no launcher would work otherwise.
const USUAL: &[&str] = &[
    "disable-features",
    "enable-features",
    "disable-blink-features",
    "enable-blink-features",
    "disable-client-side-phishing-detection",
    "unsafely-disable-devtools-self-xss-warnings",
    "enable-unsafe-extension-debugging",
    "proxy-bypass-list",
    "disk-cache-dir",
    "crash-dumps-dir",
];

/// Features that isolate sites and processes. Launchers do not turn them off, so doing so is refused.
const WALLS: &[&str] = &[
    "IsolateOrigins",
    "site-per-process",
    "SitePerProcess",
    "StrictOriginIsolation",
    "NetworkServiceSandbox",
    "LocalNetworkAccessChecks",
    "BlockInsecurePrivateNetworkRequests",
];

const KEEPS_WALLS: &str = "it weakens the isolation of web sites";

/// Schemes of URLs that a browser may open at its start.
const SCHEMES: &[&str] = &["http", "https", "about", "data", "blob"];

/// Whether launchers always pass this argument, with a value that has no further effect than theirs.
pub(crate) fn is_usual(argument: &str) -> bool {
    let Some(bare) = argument.strip_prefix("--").filter(|_| !argument.contains('\0')) else { return false };
    let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
    let takes_down_a_wall = name == "disable-features" && value.split(',').any(is_wall);
    USUAL.contains(&name) && !takes_down_a_wall
}

/// A flag of a launcher: what the browser gets of it, and what it does not get, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortedFlag {
    /// The flag, or what is left of it.
    pub kept: Option<String>,
    /// The part that is dropped.
    pub dropped: Option<(String, &'static str)>,
}

/// Sorts a flag of a launcher. Flags that weaken the browser are dropped, because launchers pass them by habit and work
/// without them. Flags that run programs are kept, so that the launch refuses them.
#[must_use]
pub fn sort_launcher_flag(argument: &str) -> SortedFlag {
    let drop = |reason| SortedFlag { kept: None, dropped: Some((argument.to_owned(), reason)) };
    if argument == "--profile-directory=Default" {
        return drop("it is the profile that Tabwire uses");
    }
    if let Some(features) = argument.strip_prefix("--disable-features=").filter(|_| !argument.contains('\0'))
    {
        let (walls, rest): (Vec<&str>, Vec<&str>) = features.split(',').partition(|feature| is_wall(feature));
        let flag = |features: &[&str]| {
            (!features.is_empty()).then(|| format!("--disable-features={}", features.join(",")))
        };
        return SortedFlag { kept: flag(&rest), dropped: flag(&walls).map(|flag| (flag, KEEPS_WALLS)) };
    }
    match check_argument(argument, false) {
        Err(BrowserError::OptionRefused { reason, can_be_allowed: true, .. })
            if reason != RUNS_PROGRAMS && !is_usual(argument) =>
        {
            drop(reason)
        }
        _ => SortedFlag { kept: Some(argument.to_owned()), dropped: None },
    }
}

/// Whether a feature isolates sites or processes.
fn is_wall(feature: &str) -> bool {
    let feature = feature.split(['<', ':']).next().unwrap_or_default().trim_start_matches('*');
    WALLS.iter().any(|wall| wall.eq_ignore_ascii_case(feature))
}

/// Checks a URL that a browser is to open at its start.
///
/// # Errors
/// When it is a file, an internal page of the browser, or not a URL.
pub(crate) fn check_address(address: &str) -> Result<(), BrowserError> {
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if address.contains(':') && !address.contains('\0') && SCHEMES.contains(&scheme.as_str()) {
        return Ok(());
    }
    Err(BrowserError::OptionRefused {
        name: address.chars().take(200).collect(),
        reason: "only web page URLs are opened at the start",
        can_be_allowed: false,
    })
}

#[cfg(test)]
mod tests {
    use super::{check_address, is_usual, sort_launcher_flag};

    #[test]
    fn usual_launcher_flags_are_accepted_and_others_refused() {
        for usual in [
            "--disable-features=Translate,AcceptCHFrame,MediaRouter",
            "--enable-features=PdfOopif",
            "--disable-blink-features=AutomationControlled",
            "--proxy-bypass-list=<-loopback>",
            "--disk-cache-dir=/tmp/cache",
        ] {
            assert!(is_usual(usual), "{usual}");
        }
        for unusual in [
            "--disable-features=Translate,IsolateOrigins",
            "--disable-features=siteperprocess,SITEPERPROCESS",
            "--disable-features=IsolateOrigins<Trial",
            "--no-sandbox",
            "--renderer-cmd-prefix=xterm",
            "--load-extension=/tmp/x",
            "disable-features=Translate",
            "--disable-features=a\0--no-sandbox",
        ] {
            assert!(!is_usual(unusual), "{unusual}");
        }
    }

    #[test]
    fn p4_habitual_flags_are_dropped_and_those_that_run_programs_are_not() {
        for dropped in [
            "--profile-directory=Default",
            "--disable-web-security",
            "--disable-site-isolation-trials",
            "--ignore-certificate-errors",
            "--no-zygote",
            "--disable-features=IsolateOrigins,site-per-process",
        ] {
            let sorted = sort_launcher_flag(dropped);
            assert_eq!((sorted.kept, sorted.dropped.map(|(flag, _)| flag)), (None, Some(dropped.to_owned())));
        }
        for kept in [
            "--renderer-cmd-prefix=xterm",
            "--type=renderer",
            "--profile-directory=Other",
            "--disable-blink-features=AutomationControlled",
            "--lang=de",
            "--lang=de\0--no-sandbox",
        ] {
            let sorted = sort_launcher_flag(kept);
            assert_eq!((sorted.kept.as_deref(), sorted.dropped), (Some(kept), None));
        }
        let sorted = sort_launcher_flag("--disable-features=Translate,IsolateOrigins,MediaRouter");
        assert_eq!(sorted.kept.as_deref(), Some("--disable-features=Translate,MediaRouter"));
        assert_eq!(
            sorted.dropped.map(|(flag, _)| flag).as_deref(),
            Some("--disable-features=IsolateOrigins")
        );
    }

    #[test]
    fn only_web_urls_are_opened_at_the_start() {
        for fine in ["about:blank", "https://example.test/", "HTTP://a.test", "data:,"] {
            assert!(check_address(fine).is_ok(), "{fine}");
        }
        for bad in
            ["file:///etc/passwd", "chrome://settings", "example.test", "", "view-source:http://a.test"]
        {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
