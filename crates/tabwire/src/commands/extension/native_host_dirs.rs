//! Where browsers look for native hosts: a table, and what people call the browsers in it.

use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure};
use tabwire_extension::package::NATIVE_HOST;

/// Names, and the folder of the browser's data below the configuration home, and below macOS's application support.
const PLACES: [(&str, &str, &str); 7] = [
    ("chrome", "google-chrome", "Google/Chrome"),
    ("chrome-beta", "google-chrome-beta", "Google/Chrome Beta"),
    ("chrome-unstable", "google-chrome-unstable", "Google/Chrome Dev"),
    ("chromium", "chromium", "Chromium"),
    ("edge", "microsoft-edge", "Microsoft Edge"),
    ("brave", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser"),
    ("vivaldi", "vivaldi", "Vivaldi"),
];

/// The folder below a browser's data that hosts are registered in.
const FOLDER: &str = "NativeMessagingHosts";

/// The file a host is registered with, in a browser's data folder.
pub(crate) fn host_file(data: &Path) -> PathBuf {
    data.join(FOLDER).join(format!("{NATIVE_HOST}.json"))
}

/// The data folders of the browsers that are named; of all that are there when none is.
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
    Failure::new(ErrorCode::BadArgs, format!("`{name}` is no browser that is known here."))
        .with_remedy(format!("Known are {}; or give its data directory, with a slash.", names.join(", ")))
}

fn none_there() -> Failure {
    Failure::new(ErrorCode::NoBackend, "No browser has left its data in the home directory.")
        .with_remedy("Name one: `tabwire extension install --browser chrome`, or give its data directory.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_found_by_name_by_directory_and_by_their_traces() {
        let home = Path::new("/nonexistent-home");
        let of = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            data_folders(&named, Some(home), Some(&home.join("config")))
        };
        assert!(of(&[]).is_err(), "there are no traces");
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
