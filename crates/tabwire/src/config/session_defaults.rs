//! The session options that files and variables set.

use std::path::PathBuf;

use tabwire_api::Failure;
use tabwire_api::api::{Isolation, PolicyProfile, SessionOptions};

use super::configuration::Configuration;
use super::setting::Key;
use crate::cli::session_flags::{find_upstream, read_capabilities, read_headers};

impl Configuration {
    /// The session options that files and variables set.
    ///
    /// # Errors
    /// When a file of headers cannot be read.
    pub(crate) fn session_defaults(&self) -> Result<SessionOptions, Failure> {
        let text = |key: Key| self.text(key).map(|set| set.value.to_owned());
        let switch = |key: Key| self.switch(key).map(|set| set.value);
        let list = |key: Key| self.list(key).map(|set| set.value.to_vec()).unwrap_or_default();
        let size = |key: Key| self.size(key).map(|set| set.value);
        let shared = SessionOptions {
            single_client: switch(Key::SingleClient),
            save_state: switch(Key::SaveState),
            trail: switch(Key::Trail),
            state_passphrase_file: text(Key::StatePassphraseFile).map(PathBuf::from),
            viewport: size(Key::Viewport),
            policy: text(Key::Policy).as_deref().and_then(PolicyProfile::find),
            isolation: text(Key::Isolation).as_deref().and_then(Isolation::find),
            ..SessionOptions::default()
        };
        // Attaching and launching exclude each other.
        let upstream = text(Key::Upstream).as_deref().and_then(find_upstream);
        let own = upstream.clone().filter(|way| way == SessionOptions::EXTENSION);
        if let Some(cdp) = text(Key::Cdp).or(own) {
            let headers = read_headers(list(Key::CdpHeaders))?;
            return Ok(SessionOptions { cdp: Some(cdp), headers, ..shared });
        }
        if let Some(grid) = text(Key::Grid) {
            let headers = read_headers(list(Key::CdpHeaders))?;
            let file = text(Key::Capabilities).map(PathBuf::from);
            let capabilities = file.as_deref().map(read_capabilities).transpose()?;
            return Ok(SessionOptions { grid: Some(grid), capabilities, headers, ..shared });
        }
        if let Some(provider) = text(Key::Provider) {
            return Ok(SessionOptions { provider: Some(provider), ..shared });
        }
        Ok(SessionOptions {
            cdp: upstream.filter(|way| way != SessionOptions::LAUNCH),
            browser: text(Key::Browser),
            profile: text(Key::Profile),
            profile_extensions: switch(Key::ProfileExtensions),
            headed: switch(Key::Headed),
            proxy: text(Key::Proxy),
            window: size(Key::Window),
            hide_automation: switch(Key::HideAutomation),
            allow_dangerous_arguments: switch(Key::AllowDangerousBrowserArgs),
            browser_arguments: list(Key::BrowserArgs),
            ..shared
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origin;
    use crate::config::value::Value;

    fn configured(set: &[(Key, &str)]) -> Configuration {
        let mut configuration = Configuration::without_files();
        for (key, text) in set {
            let value = Value::from_text(key.setting().kind, text).expect("valid");
            configuration.put(*key, value, Origin::BuiltIn);
        }
        configuration
    }

    #[test]
    fn only_set_options_are_passed_on() {
        let configuration = configured(&[
            (Key::Browser, "chrome"),
            (Key::Headed, "true"),
            (Key::Window, "800x600"),
            (Key::BrowserArgs, "--lang=de"),
            (Key::Isolation, "context"),
        ]);
        let options = configuration.session_defaults().expect("readable");
        assert_eq!(options.browser.as_deref(), Some("chrome"));
        assert_eq!((options.headed, options.window), (Some(true), Some((800, 600))));
        assert_eq!(options.browser_arguments, ["--lang=de"]);
        assert_eq!((options.isolation, options.save_state), (Some(Isolation::Context), None));
        assert!(configured(&[]).session_defaults().expect("readable").is_empty());
    }

    #[test]
    fn a_policy_is_passed_on_with_other_options() {
        for (text, profile) in [("open", PolicyProfile::Open), ("guarded", PolicyProfile::Guarded)] {
            let options = configured(&[(Key::Policy, text), (Key::Cdp, "9222")]).session_defaults();
            assert_eq!(options.expect("readable").policy, Some(profile));
        }
    }

    #[test]
    fn the_upstream_is_passed_on_unless_cdp_is_set() {
        for (text, expected) in
            [("launch", None), ("auto", Some(SessionOptions::AUTO)), ("extension", Some("extension"))]
        {
            let options = configured(&[(Key::Upstream, text)]).session_defaults().expect("readable");
            assert_eq!(options.cdp.as_deref(), expected);
        }
        let both = configured(&[(Key::Upstream, "auto"), (Key::Cdp, "9222")]).session_defaults();
        assert_eq!(both.expect("readable").cdp.as_deref(), Some("9222"));
    }

    #[test]
    fn attaching_and_launching_exclude_each_other() {
        let configuration =
            configured(&[(Key::Cdp, "9222"), (Key::CdpHeaders, "A: b"), (Key::Headed, "true")]);
        let attached = configuration.session_defaults().expect("readable");
        assert_eq!((attached.cdp.as_deref(), attached.headed), (Some("9222"), None));
        assert_eq!(attached.headers, ["A: b"]);
    }
}
