//! Clearing what dead browsers left: descriptors, sockets, throw-away profiles, downloads nobody placed.

use tabwire_browser::{BrowserDescriptor, BrowserError, Swept, sweep};
use tabwire_wire::BrowserId;

use crate::paths::Paths;

/// Sweeps once; what belongs to a browser that lives is left alone.
pub(crate) fn sweep_all(paths: &Paths) -> Result<Swept, BrowserError> {
    let swept = sweep(&paths.runtime)?;
    drop_stale_staging(paths);
    Ok(swept)
}

/// A browser has its descriptor before it gets a staging directory, and loses it when it is swept.
fn drop_stale_staging(paths: &Paths) {
    let browsers = paths.runtime.join("browsers");
    for entry in std::fs::read_dir(paths.staging()).into_iter().flatten().flatten() {
        let id = BrowserId::new(&entry.file_name().to_string_lossy());
        if !BrowserDescriptor::file(&browsers, &id).exists() {
            // Something unexpected in the way is not worth failing for.
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
