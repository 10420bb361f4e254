//! Flags that launchers such as Playwright and Puppeteer pass to every browser.

use crate::error::BrowserError;

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

/// Schemes of URLs that a browser may open at its start.
const SCHEMES: &[&str] = &["http", "https", "about", "data", "blob"];

/// Whether launchers always pass this argument, with a value that has no further effect than theirs.
pub(crate) fn is_usual(argument: &str) -> bool {
    let Some(bare) = argument.strip_prefix("--").filter(|_| !argument.contains('\0')) else { return false };
    let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
    let takes_down_a_wall = name == "disable-features"
        && value.split(',').any(|feature| {
            let feature = feature.split(['<', ':']).next().unwrap_or_default().trim_start_matches('*');
            WALLS.iter().any(|wall| wall.eq_ignore_ascii_case(feature))
        });
    USUAL.contains(&name) && !takes_down_a_wall
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
    use super::{check_address, is_usual};

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
