//! Removes the files of dead browsers: descriptors, sockets, temporary profiles and staged downloads.

use tabwire_api::BrowserId;
use tabwire_browser::{BrowserDescriptor, BrowserError, SweepReport, sweep};

use crate::paths::Paths;

/// Sweeps once. Files of live browsers are kept.
pub(crate) fn sweep_all(paths: &Paths) -> Result<SweepReport, BrowserError> {
    let swept = sweep(&paths.runtime)?;
    drop_stale_staging(paths);
    Ok(swept)
}

/// A browser gets its descriptor before its staging directory, and loses it when it is swept.
fn drop_stale_staging(paths: &Paths) {
    let browsers = paths.runtime.join("browsers");
    for entry in std::fs::read_dir(paths.staging()).into_iter().flatten().flatten() {
        let id = BrowserId::new(&entry.file_name().to_string_lossy());
        if !BrowserDescriptor::file(&browsers, &id).exists() {
            // A leftover directory is removed next time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_of_dead_browsers_go_and_those_of_others_stay() {
        let home = tempfile::tempdir().expect("a directory");
        let paths = Paths::below(home.path());
        for id in ["dead", "alive"] {
            std::fs::create_dir_all(paths.staging().join(id)).expect("made");
            std::fs::write(paths.staging().join(id).join("file"), "x").expect("written");
        }
        std::fs::create_dir_all(paths.runtime.join("browsers")).expect("made");
        let descriptor = BrowserDescriptor::file(&paths.runtime.join("browsers"), &BrowserId::new("alive"));
        std::fs::write(descriptor, "{}").expect("written");
        drop_stale_staging(&paths);
        assert!(!paths.staging().join("dead").exists() && paths.staging().join("alive/file").exists());
    }
}
