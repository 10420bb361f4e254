//! User agents: the `User-Agent` string and Chrome's user agent client hints.

use serde_json::{Value, json};

use crate::page::emulation::device::System;

/// A user agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UserAgent {
    /// The `User-Agent` string.
    pub(crate) text: String,
    /// The value of `navigator.platform`.
    platform: &'static str,
    /// The client hints; only for Chromium-based browsers.
    hints: Option<Value>,
}

/// Platforms: a word of the `User-Agent` string, `navigator.platform`, and name and version in the client hints. The
/// last one matches every string.
const PLATFORMS: &[(&str, &str, &str, &str)] = &[
    ("iPhone", "iPhone", "iOS", "18.5"),
    ("iPad", "iPad", "iOS", "18.5"),
    ("Android", "Linux armv81", "Android", "15.0.0"),
    ("Windows", "Win32", "Windows", "15.0.0"),
    ("CrOS", "Linux x86_64", "Chrome OS", "16000.0.0"),
    ("Macintosh", "MacIntel", "macOS", "15.0.0"),
    ("", "Linux x86_64", "Linux", "6.8.0"),
];

impl UserAgent {
    /// A user agent from a `User-Agent` string. A Chrome version in it adds the matching client hints.
    pub(crate) fn from_text(text: &str) -> Self {
        let platform = PLATFORMS.iter().find(|(mark, ..)| text.contains(mark)).unwrap_or(&PLATFORMS[0]);
        let (_, platform, name, version) = *platform;
        let chrome = version_after(text, "Chrome/");
        let is_mobile = text.contains("Mobile");
        let hints = chrome.map(|chrome| {
            let brand = match version_after(text, "Edg/") {
                Some(edge) => ("Microsoft Edge", edge),
                None => ("Google Chrome", chrome),
            };
            hints(chrome, brand, name, version, "", is_mobile)
        });
        Self { text: text.to_owned(), platform, hints }
    }

    /// The user agent of a device; `chrome` is the version of the running browser.
    pub(crate) fn of_device(system: System, chrome: &str) -> Option<Self> {
        let major = chrome.split('.').next().unwrap_or_default();
        let safari = |device: &str, version: &str| {
            let plain = version.replace('_', ".");
            Self::from_text(&format!(
                "Mozilla/5.0 ({device} {version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/{plain} Mobile/15E148 Safari/604.1"
            ))
        };
        // Chrome's reduced string: always Android 10 and model K. Client hints have the actual values.
        let android = |model: &str, version: &str, word: &str| {
            let text = format!(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/{major}.0.0.0 {word}Safari/537.36"
            );
            let version =
                if version.contains('.') { format!("{version}.0") } else { format!("{version}.0.0") };
            let brand = ("Google Chrome", chrome);
            let hints = hints(chrome, brand, "Android", &version, model, !word.is_empty());
            Self { hints: Some(hints), ..Self::from_text(&text) }
        };
        match system {
            System::Iphone(version) => Some(safari("iPhone; CPU iPhone OS", version)),
            System::Ipad(version) => Some(safari("iPad; CPU OS", version)),
            System::AndroidPhone(model, version) => Some(android(model, version, "Mobile ")),
            System::AndroidTablet(model, version) => Some(android(model, version, "")),
            System::Desktop => None,
        }
    }

    /// The parameters of `Emulation.setUserAgentOverride`.
    pub(crate) fn to_params(&self) -> Value {
        let mut params = json!({"userAgent": self.text, "platform": self.platform});
        if let Some(hints) = &self.hints {
            params["userAgentMetadata"] = hints.clone();
        }
        params
    }
}

fn version_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let after = text.split_once(word)?.1;
    let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(after.len());
    Some(&after[..end]).filter(|version| !version.is_empty())
}

fn hints(
    chrome: &str,
    brand: (&str, &str),
    platform: &str,
    version: &str,
    model: &str,
    mobile: bool,
) -> Value {
    let major = |version: &str| version.split('.').next().unwrap_or_default().to_owned();
    let list = |short: bool| -> Value {
        [("Not/A)Brand", "99.0.0.0"), ("Chromium", chrome), brand]
            .iter()
            .map(|(brand, version)| {
                let version = if short { major(version) } else { (*version).to_owned() };
                json!({"brand": brand, "version": version})
            })
            .collect()
    };
    let (architecture, bitness) = if mobile || platform == "Android" { ("", "") } else { ("x86", "64") };
    json!({
        "brands": list(true), "fullVersionList": list(false), "platform": platform, "platformVersion": version,
        "architecture": architecture, "bitness": bitness, "model": model, "mobile": mobile, "wow64": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chromium_user_agents_have_client_hints() {
        let safari = UserAgent::of_device(System::Iphone("18_5"), "156.0.1.2").expect("a browser");
        assert!(safari.text.contains("iPhone OS 18_5") && safari.text.contains("Version/18.5"), "{safari:?}");
        assert_eq!((safari.platform, &safari.hints), ("iPhone", &None));
        assert_eq!(
            UserAgent::from_text("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0").hints,
            None
        );
        let pixel =
            UserAgent::of_device(System::AndroidPhone("Pixel 9", "15"), "156.0.1.2").expect("a browser");
        let hints = pixel.hints.expect("hints");
        assert_eq!((&hints["model"], &hints["mobile"]), (&json!("Pixel 9"), &json!(true)));
        assert_eq!(hints["brands"][1], json!({"brand": "Chromium", "version": "156"}));
        let edge = UserAgent::from_text(
            "Mozilla/5.0 (Windows NT 10.0) Chrome/130.0.0.0 Safari/537.36 Edg/131.0.1.0",
        );
        let hints = edge.hints.expect("hints");
        assert_eq!(hints["brands"][2], json!({"brand": "Microsoft Edge", "version": "131"}));
        assert_eq!((edge.platform, &hints["platform"]), ("Win32", &json!("Windows")));
    }
}
