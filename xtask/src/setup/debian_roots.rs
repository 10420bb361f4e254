//! The root directory of an older Debian, in which full runs start the released program.

use super::report;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, find_output, succeeds};

/// Debian 11, with glibc 2.31: the oldest that Debian still serves beside the current ones.
const SUITE: &str = "bullseye";

/// Where it is made; the tests look there.
const FOLDER: &str = "target/older-debian";

/// Makes the directory with debootstrap, where this is Debian and root.
pub(crate) fn provide(repository: &Repository) -> Result<(), Error> {
    let folder = repository.path(FOLDER);
    if folder.exists() {
        return Ok(());
    }
    let root = repository.root();
    let is_root = find_output("id", &["-u"], root).is_some_and(|id| id.trim() == "0");
    let sources = find_output("apt-get", &["indextargets", "--format", "$(REPO_URI)"], root);
    let Some(mirror) = sources.as_deref().and_then(|text| text.lines().next()).filter(|_| is_root) else {
        report("older Debian", "skipped: it needs root and Debian's packages");
        return Ok(());
    };
    if !succeeds("debootstrap", &["--version"]) {
        let arguments = ["install", "-y", "-q", "--no-install-recommends", "debootstrap"];
        Step::new("older Debian", "apt-get", &arguments)
            .with_variable("DEBIAN_FRONTEND", "noninteractive")
            .run(root)?;
    }
    // A name of its own until it is complete.
    let unfinished = repository.path(&format!("{FOLDER}.part"));
    let _ = std::fs::remove_dir_all(&unfinished);
    let target = unfinished.display().to_string();
    Step::new("older Debian", "debootstrap", &["--variant=minbase", SUITE, &target, mirror]).run(root)?;
    std::fs::rename(&unfinished, &folder).map_err(|source| Error::file(&folder, source))
}
