//! Session options: requested ones, the ones in force, and the differences.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::PolicyProfile;

/// How a session shares a browser with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// A separate browser.
    #[default]
    Own,
    /// Separate cookies, in a browser that sessions of the same project share.
    Context,
    /// Shared cookies in a shared browser. Only the tabs are separate.
    Shared,
}

impl Isolation {
    /// Its name in options.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Context => "context",
            Self::Shared => "shared",
        }
    }

    /// Parses a name.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        [Self::Own, Self::Context, Self::Shared].into_iter().find(|one| one.as_str() == word)
    }
}

/// How a session gets its browser. By default it launches a headless browser with a temporary profile. Options that
/// are not set were not requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionOptions {
    /// The browser: a kind, a channel or an executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// With a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headed: Option<bool>,
    /// A profile's name, or a directory when it has a slash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Load the extensions and native messaging hosts of a profile directory that Tabwire did not create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile_extensions: Option<bool>,
    /// Attach to this browser instead of launching one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp: Option<String>,
    /// Rent a browser from the Selenium Grid at this URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<String>,
    /// The capabilities that the Grid is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<serde_json::Value>,
    /// Rent a browser from this provider, by its recipe in the user's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How long to wait for a rented browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rent_wait_seconds: Option<u64>,
    /// Headers for a remote browser, `Name: value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// More flags for the browser.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub browser_arguments: Vec<String>,
    /// Allow flags that weaken the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_dangerous_arguments: Option<bool>,
    /// A proxy for all traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Serve one CDP client at a time; a second one is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_client: Option<bool>,
    /// Window width and height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<(u16, u16)>,
    /// Width and height of the viewport, independent of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<(u16, u16)>,
    /// How it shares a browser with other sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Save cookies and local storage regularly, and restore them after a restart of the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save_state: Option<bool>,
    /// A file whose first line is the passphrase that encrypts the saved state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_passphrase_file: Option<PathBuf>,
    /// Keep a screenshot of the page after every action, for the dashboard and exports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trail: Option<bool>,
    /// The policy profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyProfile>,
    /// Hide from pages that the browser is automated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide_automation: Option<bool>,
    /// The display of the process that requests the session, for a browser with a window. Only the command line sets
    /// it, from its own environment.
    #[serde(skip_serializing_if = "DisplayVariables::is_empty")]
    pub display: DisplayVariables,
}

/// The variables that name a display.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisplayVariables {
    /// `DISPLAY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// `WAYLAND_DISPLAY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wayland_display: Option<String>,
    /// `XAUTHORITY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xauthority: Option<String>,
}

impl DisplayVariables {
    /// Whether no display is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.display.is_none() && self.wayland_display.is_none()
    }

    /// Reads them with `find`, which returns the value of a variable.
    #[must_use]
    pub fn read(find: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| find(name).filter(|value| !value.is_empty());
        Self {
            display: find("DISPLAY"),
            wayland_display: find("WAYLAND_DISPLAY"),
            xauthority: find("XAUTHORITY"),
        }
    }

    /// The names and values that are set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("DISPLAY", &self.display),
            ("WAYLAND_DISPLAY", &self.wayland_display),
            ("XAUTHORITY", &self.xauthority),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

/// One option whose value in force differs from the requested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The option as the command line names it.
    pub option: &'static str,
    /// The value in force.
    pub running: String,
    /// The requested value.
    pub asked: String,
}

impl SessionOptions {
    /// The `attach` value for the user's own browser. `extension:NAME` when there are several.
    pub const EXTENSION: &'static str = "extension";

    /// The `attach` value for the user's own browser if it is connected, else a launched one.
    pub const AUTO: &'static str = "extension?";

    /// The `attach` value for a launched browser where the configuration has another default.
    pub const LAUNCH: &'static str = "launch";

    /// Whether no option is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// With a window.
    #[must_use]
    pub fn is_headed(&self) -> bool {
        self.headed.unwrap_or(false)
    }

    /// How it shares a browser.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.isolation.unwrap_or_default()
    }

    /// The policy profile. Default: `guarded` for the user's own browser, else the general default.
    #[must_use]
    pub fn policy(&self) -> PolicyProfile {
        let usual =
            if self.extension().is_some() { PolicyProfile::Guarded } else { PolicyProfile::default() };
        self.policy.unwrap_or(usual)
    }

    /// Whether the session uses the user's own browser through the extension, and the name of that browser if given.
    #[must_use]
    pub fn extension(&self) -> Option<Option<&str>> {
        let rest = self.cdp.as_deref()?.strip_prefix(Self::EXTENSION)?;
        if rest.is_empty() { Some(None) } else { rest.strip_prefix(':').map(Some) }
    }

    /// Whether the session uses the user's own browser if it is connected, else a launched one.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        self.cdp.as_deref() == Some(Self::AUTO)
    }

    /// The browser to attach to; `None` if one is launched or the choice is still open.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.cdp.as_deref().filter(|cdp| ![Self::AUTO, Self::LAUNCH].contains(cdp))
    }

    /// Whether a Grid or a provider creates the browser.
    #[must_use]
    pub const fn is_rented(&self) -> bool {
        self.grid.is_some() || self.provider.is_some()
    }

    /// Whether the browser is not launched here.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.address().is_some() || self.is_rented()
    }

    /// Whether a session that runs with these options got its browser in the requested way.
    fn matches_attach(&self, running: &Self) -> bool {
        match self.cdp.as_deref() {
            Some(Self::AUTO) => !running.is_remote() || running.extension().is_some(),
            Some(Self::LAUNCH) => !running.is_remote(),
            // The request names no browser, so any extension matches.
            Some(Self::EXTENSION) => running.extension().is_some(),
            Some(_) => self.cdp == running.cdp,
            None => true,
        }
    }

    /// These options, with unset ones taken from `others`.
    #[must_use]
    pub fn or(self, others: &Self) -> Self {
        let list = |own: Vec<String>, other: &Vec<String>| if own.is_empty() { other.clone() } else { own };
        // Attaching and launching exclude each other: launch options are not added to an attached session, nor the
        // reverse.
        let attaches = self.is_remote();
        let launches = self.profile.is_some() || self.browser.is_some() || self.headed.is_some();
        // One way to get a browser excludes the others.
        let chooses = launches || self.cdp.is_some() || self.is_rented();
        // Headers are credentials: those of one server are not sent to another one.
        let same_server = self.cdp.as_ref().is_none_or(|own| others.cdp.as_ref() == Some(own))
            && self.grid.as_ref().is_none_or(|own| others.grid.as_ref() == Some(own))
            && self.provider.is_none();
        let rent = |other: &Option<String>| other.clone().filter(|_| !chooses);
        let launch =
            |own: Option<String>, other: &Option<String>| own.or_else(|| other.clone().filter(|_| !attaches));
        Self {
            browser: launch(self.browser, &others.browser),
            headed: self.headed.or(others.headed.filter(|_| !attaches)),
            profile: launch(self.profile, &others.profile),
            profile_extensions: self.profile_extensions.or(others.profile_extensions),
            cdp: self.cdp.or_else(|| others.cdp.clone().filter(|_| !chooses)),
            capabilities: self.capabilities.or_else(|| {
                let same = self.grid.is_none() || self.grid == others.grid;
                others.capabilities.clone().filter(|_| same && (!chooses || self.grid.is_some()))
            }),
            rent_wait_seconds: self.rent_wait_seconds.or(others.rent_wait_seconds),
            grid: self.grid.or_else(|| rent(&others.grid)),
            provider: self.provider.or_else(|| rent(&others.provider)),
            headers: if same_server { list(self.headers, &others.headers) } else { self.headers },
            browser_arguments: list(self.browser_arguments, &others.browser_arguments),
            allow_dangerous_arguments: self.allow_dangerous_arguments.or(others.allow_dangerous_arguments),
            proxy: launch(self.proxy, &others.proxy),
            single_client: self.single_client.or(others.single_client),
            window: self.window.or(others.window),
            viewport: self.viewport.or(others.viewport),
            isolation: self.isolation.or(others.isolation),
            save_state: self.save_state.or(others.save_state),
            state_passphrase_file: self
                .state_passphrase_file
                .or_else(|| others.state_passphrase_file.clone()),
            trail: self.trail.or(others.trail),
            policy: self.policy.or(others.policy),
            hide_automation: self.hide_automation.or(others.hide_automation.filter(|_| !attaches)),
            display: if self.display.is_empty() { others.display.clone() } else { self.display },
        }
    }

    /// The options of rented browsers that differ. URLs and capabilities can hold a credential, so they are masked.
    fn rent_differences(&self, running: &Self) -> Vec<Difference> {
        let none = || "none".to_owned();
        let grid = self.grid.as_ref().filter(|_| self.grid != running.grid).map(|url| Difference {
            option: "--grid",
            running: running.grid.as_deref().map_or_else(none, mask_url),
            asked: format!("{} (another one)", mask_url(url)),
        });
        let capabilities = self.capabilities.as_ref().filter(|_| self.capabilities != running.capabilities);
        let capabilities = capabilities.map(|_| Difference {
            option: "--capabilities",
            running: "as before".to_owned(),
            asked: "others".to_owned(),
        });
        let provider = self.provider.clone().map(|asked| Difference {
            option: "--provider",
            running: running.provider.clone().unwrap_or_else(none),
            asked,
        });
        [grid, capabilities, provider].into_iter().flatten().collect()
    }

    /// The options that differ in a running session.
    #[must_use]
    pub fn differences(&self, running: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut note = |option, running: String, asked: Option<String>| {
            if let Some(asked) = asked.filter(|asked| *asked != running) {
                found.push(Difference { option, running, asked });
            }
        };
        let word = |flag: Option<bool>| if flag.unwrap_or(false) { "yes" } else { "no" }.to_owned();
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let size = |value: Option<(u16, u16)>| {
            value
                .map_or_else(|| "the browser's own".to_owned(), |(width, height)| format!("{width}x{height}"))
        };
        let list = |values: &[String]| values.join(" ");
        let given = |values: &[String]| (!values.is_empty()).then(|| values.join(" "));
        // A header can be a credential, so its value is not reported.
        let secret =
            |values: &[String]| if values == running.headers { "as before" } else { "others" }.to_owned();
        let path = |value: &Option<PathBuf>| value.as_ref().map(|path| path.display().to_string());
        note("--browser", text(&running.browser), self.browser.clone());
        note("--headed", word(running.headed), self.headed.map(|flag| word(Some(flag))));
        note("--profile", text(&running.profile), self.profile.clone());
        note(
            "--profile-extensions",
            word(running.profile_extensions),
            self.profile_extensions.map(|flag| word(Some(flag))),
        );
        let way = self.cdp.clone().filter(|_| !self.matches_attach(running));
        note("--cdp", text(&running.cdp), way);
        for Difference { option, running, asked } in self.rent_differences(running) {
            note(option, running, Some(asked));
        }
        note("--cdp-header", secret(&running.headers), given(&self.headers).map(|_| secret(&self.headers)));
        note("--browser-arg", list(&running.browser_arguments), given(&self.browser_arguments));
        note(
            "--allow-dangerous-browser-args",
            word(running.allow_dangerous_arguments),
            self.allow_dangerous_arguments.map(|flag| word(Some(flag))),
        );
        note("--proxy", text(&running.proxy), self.proxy.clone());
        note("--single-client", word(running.single_client), self.single_client.map(|flag| word(Some(flag))));
        note("--window", size(running.window), self.window.map(|given| size(Some(given))));
        note("--viewport", size(running.viewport), self.viewport.map(|given| size(Some(given))));
        let isolation = self.isolation.map(|one| one.as_str().to_owned());
        note("--isolation", running.isolation().as_str().to_owned(), isolation);
        note("--save-state", word(running.save_state), self.save_state.map(|flag| word(Some(flag))));
        let passphrase = path(&running.state_passphrase_file).unwrap_or_else(|| "none".to_owned());
        note("--state-passphrase-file", passphrase, path(&self.state_passphrase_file));
        note("--trail", word(running.trail), self.trail.map(|flag| word(Some(flag))));
        note(
            "--hide-automation",
            word(running.hide_automation),
            self.hide_automation.map(|flag| word(Some(flag))),
        );
        // A stricter policy than the session's applies to the request itself and needs no other browser.
        let widens = self.policy.filter(|asked| asked.stricter(running.policy()) != *asked);
        note("--policy", running.policy().as_str().to_owned(), widens.map(|one| one.as_str().to_owned()));
        found
    }
}

/// Scheme, host and port of a URL.
fn mask_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::{Isolation, PolicyProfile, SessionOptions};

    fn options() -> SessionOptions {
        SessionOptions { headed: Some(true), profile: Some("work".to_owned()), ..SessionOptions::default() }
    }

    #[test]
    fn unset_options_never_differ() {
        assert_eq!(SessionOptions::default().differences(&options()), []);
        let same = SessionOptions { headed: Some(false), ..SessionOptions::default() };
        assert_eq!(same.differences(&SessionOptions::default()), []);
    }

    #[test]
    fn every_difference_has_both_values() {
        let asked = SessionOptions {
            headed: Some(false),
            profile: Some("play".to_owned()),
            isolation: Some(Isolation::Context),
            window: Some((800, 600)),
            ..SessionOptions::default()
        };
        let reported: Vec<_> = asked
            .differences(&options())
            .into_iter()
            .map(|one| format!("{} {} {}", one.option, one.running, one.asked))
            .collect();
        assert_eq!(
            reported,
            [
                "--headed yes no",
                "--profile work play",
                "--window the browser's own 800x600",
                "--isolation own context"
            ]
        );
    }

    #[test]
    fn own_browser_is_guarded_by_default() {
        let of = |cdp: &str| SessionOptions { cdp: Some(cdp.to_owned()), ..SessionOptions::default() };
        assert_eq!(of("extension").extension(), Some(None));
        assert_eq!(of("extension:work").extension(), Some(Some("work")));
        assert_eq!(of("extensions").extension(), None);
        assert_eq!(of("9222").extension(), None);
        assert_eq!(of("extension").policy(), PolicyProfile::Guarded);
        assert_eq!(of("9222").policy(), PolicyProfile::Open);
        let open = SessionOptions { policy: Some(PolicyProfile::Open), ..of("extension") };
        assert_eq!(open.policy(), PolicyProfile::Open);
    }

    #[test]
    fn open_attach_choices_match_every_possible_result() {
        let of = |cdp: &str| SessionOptions { cdp: Some(cdp.to_owned()), ..SessionOptions::default() };
        let differs = |asked: &str, running: &SessionOptions| !of(asked).differences(running).is_empty();
        let launched = SessionOptions::default();
        for (asked, running, expected) in [
            (SessionOptions::AUTO, &of("extension:ab"), false),
            (SessionOptions::AUTO, &launched, false),
            (SessionOptions::AUTO, &of(SessionOptions::LAUNCH), false),
            (SessionOptions::AUTO, &of("9222"), true),
            (SessionOptions::LAUNCH, &launched, false),
            (SessionOptions::LAUNCH, &of("extension:ab"), true),
            ("extension", &of("extension:ab"), false),
            ("extension", &launched, true),
            ("extension:cd", &of("extension:ab"), true),
        ] {
            assert_eq!(differs(asked, running), expected, "{asked} {running:?}");
        }
        let merged = of(SessionOptions::AUTO).or(&options());
        assert_eq!(merged.profile.as_deref(), Some("work"), "it may come to a launch");
    }

    #[test]
    fn header_values_are_not_reported() {
        let asked = SessionOptions { headers: vec!["A: canary".to_owned()], ..SessionOptions::default() };
        let reported = format!("{:?}", asked.differences(&SessionOptions::default()));
        assert!(reported.contains("--cdp-header") && !reported.contains("canary"), "{reported}");
    }

    #[test]
    fn ways_to_a_browser_exclude_each_other_and_headers_stay_with_theirs() {
        let text = |text: &str| Some(text.to_owned());
        let configured = SessionOptions {
            grid: text("http://a:4444"),
            capabilities: Some(serde_json::json!({"browserName": "chrome"})),
            headers: vec!["Authorization: canary".to_owned()],
            ..SessionOptions::default()
        };
        assert_eq!(SessionOptions::default().or(&configured), configured);
        let same = SessionOptions { grid: configured.grid.clone(), ..SessionOptions::default() };
        assert_eq!(same.or(&configured), configured);
        for chosen in [
            SessionOptions { grid: text("http://b:4444"), ..SessionOptions::default() },
            SessionOptions { provider: text("fleet"), ..SessionOptions::default() },
            SessionOptions { cdp: text("9222"), ..SessionOptions::default() },
        ] {
            assert_eq!(chosen.clone().or(&configured), chosen);
            let differences = format!("{:?}", chosen.differences(&configured));
            assert!(differences.len() > 2 && !differences.contains("canary"), "{differences}");
        }
        let launched = SessionOptions { profile: text("work"), ..SessionOptions::default() }.or(&configured);
        assert!(!launched.is_remote() && launched.capabilities.is_none(), "{launched:?}");
        let masked = SessionOptions { grid: text("http://me:canary@c:1/x"), ..SessionOptions::default() };
        assert!(!format!("{:?}", masked.differences(&configured)).contains("canary"));
    }

    #[test]
    fn attached_session_gets_no_launch_options_from_defaults() {
        let attached = SessionOptions { cdp: Some("9222".to_owned()), ..SessionOptions::default() };
        let merged = attached.clone().or(&options());
        assert_eq!(merged, attached);
        assert_eq!(options().or(&attached), options());
        assert_eq!(SessionOptions::default().or(&options()), options());
    }
}
