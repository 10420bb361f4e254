//! Finds the project of the working directory: the nearest parent directory with a project marker.

use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure, ProjectKey};

/// The project's own configuration.
pub(crate) const PROJECT_FILE: &str = "tabwire.toml";

/// Other files and directories that mark a project.
const MARKS: &[&str] = &[
    ".git",
    "playwright.config.ts",
    "playwright.config.js",
    "playwright.config.mjs",
    "playwright.config.cjs",
];

/// A project directory, which has its own sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Project {
    /// The directory, with all links resolved.
    pub(crate) root: PathBuf,
    /// The key of its sessions.
    pub(crate) key: ProjectKey,
    /// Whether it has a configuration file.
    pub(crate) has_file: bool,
}

impl Project {
    /// Finds the project of a directory: the nearest directory with a marker, itself included.
    ///
    /// A home directory and the root of the file system are projects only if they have a `tabwire.toml`: there, a
    /// `.git` is about dotfiles, and everything else would be in the same project.
    pub(crate) fn find(directory: &Path, home: Option<&Path>) -> Result<Option<Self>, Failure> {
        let real = directory.canonicalize().map_err(|error| {
            let message = format!("The working directory cannot be used: {error}.");
            Failure::new(ErrorCode::BadArgs, message)
                .with_remedy("Change to a directory that exists, or pass --global.")
        })?;
        let home = home.and_then(|home| home.canonicalize().ok());
        for place in real.ancestors() {
            let has_file = exists(&place.join(PROJECT_FILE));
            let is_shared = place.parent().is_none() || home.as_deref() == Some(place);
            if has_file || !is_shared && MARKS.iter().any(|mark| exists(&place.join(mark))) {
                return Ok(Some(Self { key: key_of(place), root: place.to_owned(), has_file }));
            }
        }
        Ok(None)
    }

    /// Finds the project of the working directory.
    pub(crate) fn find_here(home: Option<&Path>) -> Result<Option<Self>, Failure> {
        Self::find(Path::new("."), home)
    }

    /// Refuses a configuration file that links out of the project: it could make Tabwire read other files.
    ///
    /// # Errors
    /// When it is such a link, or leads nowhere.
    pub(crate) fn check_file(&self) -> Result<(), Failure> {
        let file = self.file();
        let is_inside = || file.canonicalize().is_ok_and(|real| real.starts_with(&self.root));
        if !file.is_symlink() || is_inside() {
            return Ok(());
        }
        let message = format!("{} is a link to a file outside of its project.", file.display());
        Err(Failure::new(ErrorCode::PolicyDenied, message)
            .with_remedy("Replace the link by a file, or pass --global to ignore the project."))
    }

    /// The path of its configuration file, which may not exist.
    pub(crate) fn file(&self) -> PathBuf {
        self.root.join(PROJECT_FILE)
    }
}

/// Whether the path exists; a dangling link counts, so that it is reported later.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Projects of the same name have different paths, so they get different keys.
fn key_of(root: &Path) -> ProjectKey {
    let digest = sha1_smol::Sha1::from(root.as_os_str().as_encoded_bytes()).digest().bytes();
    let fingerprint = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    ProjectKey::of_directory(&name, fingerprint)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn find(directory: &Path, home: &Path) -> Option<Project> {
        Project::find(directory, Some(home)).expect("a directory")
    }

    #[test]
    fn the_nearest_marked_directory_is_the_project() {
        let home = tempfile::tempdir().expect("a home");
        let real = home.path().canonicalize().expect("its path");
        let deep = home.path().join("work/shop/packages/front/src");
        fs::create_dir_all(&deep).expect("directories");
        assert_eq!(find(&deep, home.path()), None);

        for (mark, root) in [
            ("work/.git", "work"),
            ("work/shop/playwright.config.mjs", "work/shop"),
            ("work/shop/packages/tabwire.toml", "work/shop/packages"),
            ("work/shop/packages/front/.git", "work/shop/packages/front"),
        ] {
            fs::write(home.path().join(mark), "").expect("a mark; `.git` is a file in a worktree");
            let found = find(&deep, home.path()).expect("a project");
            assert_eq!(found.root, real.join(root), "{mark}");
            assert_eq!(found.has_file, mark.ends_with("toml"));
        }
        assert!(Project::find(&home.path().join("gone"), None).is_err());
    }

    #[test]
    fn a_home_directory_is_a_project_only_with_tabwire_toml() {
        let home = tempfile::tempdir().expect("a home");
        let inside = home.path().join("notes");
        fs::create_dir_all(&inside).expect("a directory");
        fs::create_dir(home.path().join(".git")).expect("dotfiles");
        assert_eq!(find(&inside, home.path()), None);
        let elsewhere = tempfile::tempdir().expect("another home");
        assert!(find(&inside, elsewhere.path()).is_some(), "another user's home is an ordinary directory");
        fs::write(home.path().join(PROJECT_FILE), "").expect("written");
        assert!(find(&inside, home.path()).is_some());
    }

    #[test]
    fn c3_a_configuration_link_must_stay_in_its_project() {
        let home = tempfile::tempdir().expect("a home");
        let root = home.path().join("shop");
        fs::create_dir_all(root.join("etc")).expect("a directory");
        fs::write(root.join("etc/tabwire.toml"), "").expect("written");
        fs::write(home.path().join("other.toml"), "").expect("written");
        for (target, may) in
            [("etc/tabwire.toml", true), ("../other.toml", false), ("/nowhere/at/all", false)]
        {
            symlink(target, root.join(PROJECT_FILE)).expect("a link");
            let project = find(&root, home.path()).expect("a project");
            assert_eq!(project.check_file().is_ok(), may, "{target}");
            fs::remove_file(root.join(PROJECT_FILE)).expect("removed");
        }
    }

    #[test]
    fn projects_with_equal_names_have_different_keys() {
        let home = tempfile::tempdir().expect("a home");
        for name in ["a/shop/.git", "b/shop/.git"] {
            fs::create_dir_all(home.path().join(name)).expect("a project");
        }
        symlink(home.path().join("a/shop"), home.path().join("link")).expect("a link");
        let key = |path: &str| find(&home.path().join(path), home.path()).expect("a project").key;
        assert!(key("a/shop").as_str().starts_with("shop-"));
        assert_ne!(key("a/shop"), key("b/shop"));
        assert_eq!(key("a/shop"), key("link"));
    }
}
