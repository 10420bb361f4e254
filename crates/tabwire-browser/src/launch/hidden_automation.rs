//! Flags that hide from pages that a browser is automated: `navigator.webdriver`, and the name of the headless mode in
//! the user agent.

use serde::{Deserialize, Serialize};

use crate::error::BrowserError;
use crate::launch::spec::Display;

/// The platform in Chromium's user agent, which is the same on every version of a system.
#[cfg(target_os = "macos")]
const PLATFORM: &str = "Macintosh; Intel Mac OS X 10_15_7";
#[cfg(not(target_os = "macos"))]
const PLATFORM: &str = "X11; Linux x86_64";

/// How a browser appears whose automation is hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenAutomation {
    /// The major version in its user agent.
    major: u32,
}

impl HiddenAutomation {
    /// From the line that the browser prints for `--version`.
    ///
    /// # Errors
    /// When the line has no version.
    pub fn of_version(line: &str) -> Result<Self, BrowserError> {
        let numbers = line.split_whitespace().filter_map(|word| word.split_once('.'));
        let major = numbers.filter_map(|(major, _)| major.parse().ok()).next();
        major.map(|major| Self { major }).ok_or(BrowserError::OptionRefused {
            name: "hide-automation".to_owned(),
            reason: "the browser did not report its version",
            can_be_allowed: false,
        })
    }

    /// The flags. A browser with a window has an ordinary user agent.
    pub(crate) fn arguments(&self, display: Display) -> impl Iterator<Item = String> {
        let agent = format!(
            "--user-agent=Mozilla/5.0 ({PLATFORM}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36",
            self.major
        );
        let agent = (display == Display::Headless).then_some(agent);
        std::iter::once("--disable-blink-features=AutomationControlled".to_owned()).chain(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_has_the_browsers_major_version_and_no_headless() {
        let hidden = HiddenAutomation::of_version("Chromium 156.0.8078.79 built on Debian 12.1").unwrap();
        let flags: Vec<String> = hidden.arguments(Display::Headless).collect();
        assert!(flags[1].contains(" Chrome/156.0.0.0 ") && !flags[1].contains("Headless"), "{flags:?}");
        assert_eq!(hidden.arguments(Display::Headed).count(), 1);
        assert!(HiddenAutomation::of_version("no version").is_err());
    }
}
