//! How a session gets its browser, completed with what is set. What a flag says is never changed.

use tabwire_wire::Failure;
use tabwire_wire::api::SessionOptions;

use super::configuration::Configuration;
use super::setting::Key;
use crate::cli::read_headers;

impl Configuration {
    /// Fills in what flags leave open.
    ///
    /// A flag that launches a browser also decides against attaching to one, and the other way round.
    pub(crate) fn complete(&self, flags: SessionOptions) -> Result<SessionOptions, Failure> {
        let text = |key: Key| self.text(key).map(|set| set.value.to_owned());
        let is_on = |key: Key| self.switch(key).is_some_and(|set| set.value);
        let list = |key: Key| self.list(key).map(|set| set.value.to_vec()).unwrap_or_default();
        let launches = flags.browser.is_some() || flags.headed || flags.profile.is_some();
        let mut options = flags;
        if options.cdp.is_none() && !launches {
            options.cdp = text(Key::Cdp);
        }
        if options.cdp.is_some() {
            if options.headers.is_empty() {
                options.headers = read_headers(list(Key::CdpHeaders))?;
            }
        } else {
            options.browser = options.browser.or_else(|| text(Key::Browser));
            options.profile = options.profile.or_else(|| text(Key::Profile));
            options.headed |= is_on(Key::Headed);
            options.proxy = options.proxy.or_else(|| text(Key::Proxy));
            options.window = options.window.or_else(|| self.size(Key::Window).map(|set| set.value));
            options.allow_dangerous_arguments |= is_on(Key::AllowDangerousBrowserArgs);
            if options.browser_arguments.is_empty() {
                options.browser_arguments = list(Key::BrowserArgs);
            }
        }
        options.single_client |= is_on(Key::SingleClient);
        Ok(options)
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
    fn flags_win_and_the_rest_is_filled_in() {
        let configuration = configured(&[
            (Key::Browser, "chrome"),
            (Key::Headed, "true"),
            (Key::Window, "800x600"),
            (Key::BrowserArgs, "--lang=de"),
        ]);
        let flags = SessionOptions { browser: Some("edge".to_owned()), ..SessionOptions::default() };
        let options = configuration.complete(flags).expect("complete");
        assert_eq!(options.browser.as_deref(), Some("edge"));
        assert_eq!((options.headed, options.window), (true, Some((800, 600))));
        assert_eq!(options.browser_arguments, ["--lang=de"]);
    }

    #[test]
    fn attaching_and_launching_exclude_each_other() {
        let configuration =
            configured(&[(Key::Cdp, "9222"), (Key::CdpHeaders, "A: b"), (Key::Headed, "true")]);
        let attached = configuration.complete(SessionOptions::default()).expect("complete");
        assert_eq!((attached.cdp.as_deref(), attached.headed), (Some("9222"), false));
        assert_eq!(attached.headers, ["A: b"]);
        let flags = SessionOptions { profile: Some("work".to_owned()), ..SessionOptions::default() };
        let launched = configuration.complete(flags).expect("complete");
        assert_eq!((launched.cdp, launched.headed), (None, true));
        assert!(launched.headers.is_empty());
        let configuration = configured(&[(Key::Browser, "chrome"), (Key::Profile, "work")]);
        let flags = SessionOptions { cdp: Some("9222".to_owned()), ..SessionOptions::default() };
        let attached = configuration.complete(flags).expect("complete");
        assert_eq!((attached.browser, attached.profile), (None, None));
    }
}
