//! Preferences of a temporary profile: autofill and the password manager are off. Saved values would be deleted with
//! the profile, their bubbles cover the page, and form prediction takes longer than filling the form.

use std::path::Path;

use crate::error::BrowserError;
use crate::files::private_dir::PrivateDir;

const PREFERENCES: &str = concat!(
    r#"{"autofill":{"enabled":false,"profile_enabled":false,"credit_card_enabled":false},"#,
    r#""credentials_enable_service":false,"profile":{"password_manager_enabled":false}}"#
);

/// Added for a browser that must not prefetch: turns off prefetching, also when pages request it.
const RESERVED: &str = r#","net":{"network_prediction_options":2}}"#;

/// Writes the preferences into a profile that no browser has used yet.
pub(crate) fn write(profile: &Path, reserved: bool) -> Result<(), BrowserError> {
    let directory = PrivateDir::create(&profile.join("Default"))?;
    let path = directory.path().join("Preferences");
    std::fs::write(&path, preferences(reserved)).map_err(|error| BrowserError::system("write", &path, error))
}

fn preferences(reserved: bool) -> String {
    if reserved { PREFERENCES.replacen("}}", &format!("}}{RESERVED}"), 1) } else { PREFERENCES.to_owned() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn preferences_are_valid_json() {
        for reserved in [false, true] {
            let parsed: serde_json::Value = serde_json::from_str(&super::preferences(reserved)).unwrap();
            assert_eq!(parsed["autofill"]["enabled"], false);
            assert_eq!(parsed["profile"]["password_manager_enabled"], false);
            assert_eq!(parsed["net"]["network_prediction_options"] == 2, reserved);
        }
    }
}
