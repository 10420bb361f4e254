//! Table: the names of browsers, and the directories in which each looks for native messaging hosts.

use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure, Remedy, Step};
use tabwire_extension::package::NATIVE_HOST;

/// Names, then the data directory below the configuration directory (Linux) and below Application Support
/// (macOS).
const PLACES: [(&str, &str, &str); 7] = [
    ("chrome", "google-chrome", "Google/Chrome"),
    ("chrome-beta", "google-chrome-beta", "Google/Chrome Beta"),
    ("chrome-unstable", "google-chrome-unstable", "Google/Chrome Dev"),
    ("chromium", "chromium", "Chromium"),
    ("edge", "microsoft-edge", "Microsoft Edge"),
    ("brave", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser"),
    ("vivaldi", "vivaldi", "Vivaldi"),
];

/// The directory below a browser's data directory with the registrations of hosts.
const FOLDER: &str = "NativeMessagingHosts";

/// The registration file of our host below a browser's data directory.
pub(crate) fn host_file(data: &Path) -> PathBuf {
    data.join(FOLDER).join(format!("{NATIVE_HOST}.json"))
}

/// The data directories of the named browsers; without names, of every browser found.
pub(crate) fn data_folders(
    named: &[String],
    home: Option<&Path>,
    config_home: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let known = |(_, linux, mac): &(&str, &str, &str)| {
        if cfg!(target_os = "macos") {
            home.map(|home| home.join("Library/Application Support").join(mac))
        } else {
            config_home
                .map(Path::to_owned)
                .or_else(|| home.map(|home| home.join(".config")))
                .map(|config| config.join(linux))
        }
    };
    if named.is_empty() {
        let there: Vec<PathBuf> = PLACES.iter().filter_map(known).filter(|data| data.is_dir()).collect();
        return if there.is_empty() { Err(none_there()) } else { Ok(there) };
    }
    let mut folders = Vec::new();
    for name in named {
        if name.contains('/') {
            folders.push(std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name)));
            continue;
        }
        let place = PLACES.iter().find(|(known, ..)| known == name).ok_or_else(|| unknown(name))?;
        folders.push(known(place).ok_or_else(none_there)?);
    }
    Ok(folders)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = PLACES.iter().map(|(name, ..)| *name).collect();
    Failure::new(ErrorCode::BadArgs, format!("Unknown browser `{name}`.")).with_remedy(format!(
        "Use one of {}, or the browser's data directory (with a slash).",
        names.join(", ")
    ))
}

fn none_there() -> Failure {
    Failure::new(ErrorCode::NoBackend, "No browser's data directory was found.").with_remedy(Remedy::new(
        "Name one: {}, or pass its data directory.",
        [Step::command("tabwire extension install --browser chrome")],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_found_by_name_directory_or_data() {
        let home = Path::new("/nonexistent-home");
        let of = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            data_folders(&named, Some(home), Some(&home.join("config")))
        };
        assert!(of(&[]).is_err(), "no browser has data");
        assert_eq!(of(&["/data/profile"]).expect("a folder"), [PathBuf::from("/data/profile")]);
        assert!(of(&["netscape"]).is_err());
        let chromium = of(&["chromium"]).expect("known");
        assert!(
            chromium[0].starts_with(home)
                && chromium[0].to_string_lossy().to_lowercase().contains("chromium")
        );
        assert!(host_file(&chromium[0]).ends_with("NativeMessagingHosts/dev.tabwire.host.json"));
    }
}
