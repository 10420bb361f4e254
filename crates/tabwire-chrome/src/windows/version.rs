//! The version of Chrome on Windows, without starting a Windows program: Chrome has a directory beside its program that
//! is named after its version.

use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure};

use super::windows_path::{PROGRAM_FILES, to_mount};

/// # Errors
/// When no such program is found.
pub(crate) fn find_version(program: Option<&str>) -> Result<String, Failure> {
    let named = program.and_then(to_mount).map(PathBuf::from);
    let directories: Vec<PathBuf> = match named.as_deref().and_then(Path::parent) {
        Some(directory) => vec![directory.to_owned()],
        None => PROGRAM_FILES.iter().map(PathBuf::from).collect(),
    };
    let found = directories.iter().find_map(|directory| newest_in(directory));
    found.map(|version| format!("Google Chrome {version}")).ok_or_else(|| {
        Failure::new(ErrorCode::LaunchFailed, "Chrome was not found on Windows.")
            .with_remedy(r"Set TABWIRE_CHROME_EXECUTABLE to its program, such as C:\x\chrome.exe.")
    })
}

/// The highest version among a directory's entries.
fn newest_in(directory: &Path) -> Option<String> {
    let parts = |name: &str| -> Option<Vec<u32>> {
        let parts: Vec<u32> = name.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        (parts.len() == 4).then_some(parts)
    };
    let names = std::fs::read_dir(directory).ok()?.filter_map(Result::ok);
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
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(newest_in(directory.path()), None);
        for name in ["9.0.0.1", "156.0.8078.79", "156.0.8078.9", "SetupMetrics", "1.2.3"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        assert_eq!(newest_in(directory.path()).as_deref(), Some("156.0.8078.79"));
    }

    #[test]
    fn a_missing_program_is_reported_with_a_remedy() {
        let failure = find_version(Some(r"Q:\nowhere\chrome.exe")).unwrap_err();
        assert!(failure.remedy.is_some(), "{failure:?}");
    }
}
