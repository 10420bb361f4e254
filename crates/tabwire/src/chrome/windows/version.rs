//! The version of a Chrome of Windows, read from where it is installed: beside its program is a directory that is
//! called as its version. So no program of Windows has to be started to answer a launcher that only asks.

use std::path::{Path, PathBuf};

use tabwire_wire::{ErrorCode, Failure};

use super::windows_path::{PROGRAM_FILES, to_mount};

/// The version line of the browser that would be used.
///
/// # Errors
/// When no such program is found.
pub(crate) fn find_version(program: Option<&str>) -> Result<String, Failure> {
    let named = program.and_then(to_mount).map(PathBuf::from);
    let places: Vec<PathBuf> = match named.as_deref().and_then(Path::parent) {
        Some(place) => vec![place.to_owned()],
        None => PROGRAM_FILES.iter().map(PathBuf::from).collect(),
    };
    let found = places.iter().find_map(|place| newest_in(place));
    found.map(|version| format!("Google Chrome {version}")).ok_or_else(|| {
        Failure::new(ErrorCode::LaunchFailed, "No Chrome of Windows was found.")
            .with_hint(r"Set TABWIRE_CHROME_EXECUTABLE to its program, such as C:\x\chrome.exe.")
    })
}

/// The highest version that a directory holds.
fn newest_in(place: &Path) -> Option<String> {
    let parts = |name: &str| -> Option<Vec<u32>> {
        let parts: Vec<u32> = name.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        (parts.len() == 4).then_some(parts)
    };
    let names = std::fs::read_dir(place).ok()?.filter_map(Result::ok);
    let versions = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((parts(&name)?, name))
    });
    versions.max().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_directory_beside_the_program_is_its_version() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(newest_in(place.path()), None);
        for name in ["9.0.0.1", "156.0.8078.79", "156.0.8078.9", "SetupMetrics", "1.2.3"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        assert_eq!(newest_in(place.path()).as_deref(), Some("156.0.8078.79"));
    }

    #[test]
    fn a_program_that_is_not_there_is_told_with_what_to_do() {
        let failure = find_version(Some(r"Q:\nowhere\chrome.exe")).unwrap_err();
        assert!(failure.hint.is_some(), "{failure:?}");
    }
}
