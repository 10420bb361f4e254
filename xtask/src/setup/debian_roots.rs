//! Root directories of Debian releases: one in which full runs start the released program, and one in which they run the
//! steps of the Dockerfile.

use super::report;
use crate::error::Error;
use crate::repository::Repository;
use crate::step::{Step, find_output, succeeds};

/// The Dockerfile, which names the packages that the image gets.
const DOCKERFILE: &str = "packaging/docker/Dockerfile";

/// A root directory, made with debootstrap.
struct Root {
    what: &'static str,
    suite: &'static str,
    /// Where it is made; the tests look there.
    folder: &'static str,
    /// Whether the packages of the Dockerfile are downloaded into it, so that its steps need no network.
    is_image: bool,
}

const ROOTS: [Root; 2] = [
    // With glibc 2.31: the oldest that Debian still serves beside the current ones.
    Root { what: "older Debian", suite: "bullseye", folder: "target/older-debian", is_image: false },
    Root { what: "base of the image", suite: "trixie", folder: "target/image-base", is_image: true },
];

/// Makes the directories, where this is Debian and root.
pub(crate) fn provide(repository: &Repository) -> Result<(), Error> {
    ROOTS.iter().try_for_each(|root| provide_root(repository, root))
}

fn provide_root(repository: &Repository, made: &Root) -> Result<(), Error> {
    let folder = repository.path(made.folder);
    if folder.exists() {
        return Ok(());
    }
    let root = repository.root();
    let is_root = find_output("id", &["-u"], root).is_some_and(|id| id.trim() == "0");
    let sources = find_output("apt-get", &["indextargets", "--format", "$(REPO_URI)"], root);
    let Some(mirror) = sources.as_deref().and_then(|text| text.lines().next()).filter(|_| is_root) else {
        report(made.what, "skipped: it needs root and Debian's packages");
        return Ok(());
    };
    if !succeeds("debootstrap", &["--version"]) {
        let arguments = ["install", "-y", "-q", "--no-install-recommends", "debootstrap"];
        Step::new(made.what, "apt-get", &arguments)
            .with_variable("DEBIAN_FRONTEND", "noninteractive")
            .run(root)?;
    }
    // A name of its own until it is complete.
    let unfinished = repository.path(&format!("{}.part", made.folder));
    let _ = std::fs::remove_dir_all(&unfinished);
    let target = unfinished.display().to_string();
    Step::new(made.what, "debootstrap", &["--variant=minbase", made.suite, &target, mirror]).run(root)?;
    if made.is_image {
        download(repository, made.what, &target)?;
    }
    std::fs::rename(&unfinished, &folder).map_err(|source| Error::file(&folder, source))
}

/// Downloads the packages of the Dockerfile into the cache of the root directory's apt.
fn download(repository: &Repository, what: &str, target: &str) -> Result<(), Error> {
    let text = repository.read(DOCKERFILE)?;
    let names = image_packages(&text);
    let apt = |arguments: &[&str]| {
        let step = Step::new(what, "chroot", &[&[target, "apt-get", "-q"], arguments].concat());
        step.with_variable("DEBIAN_FRONTEND", "noninteractive").run(repository.root())
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends", "--download-only"], &names[..]].concat())
}

/// The Debian packages that the Dockerfile installs, without the one that is copied into the image.
fn image_packages(dockerfile: &str) -> Vec<&str> {
    let line = dockerfile.split("apt-get install").nth(1).and_then(|rest| rest.lines().next());
    let words = line.unwrap_or_default().split_whitespace();
    words.filter(|word| !word.starts_with(['-', '/', '\\'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_the_image_are_read_from_the_dockerfile() {
        let text = Repository::find().read(DOCKERFILE).unwrap();
        let names = image_packages(&text);
        assert!(names.contains(&"chromium") && names.contains(&"tini"), "{names:?}");
        assert!(names.iter().all(|name| name.bytes().all(|one| one.is_ascii_lowercase() || one == b'-')));
    }
}
