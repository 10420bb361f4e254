//! A file that is read, replaced, copied or removed without following a link out of its base directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use tabwire_api::{ErrorCode, Failure};

/// Largest file that is read.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Backups of one file that are kept beside it.
const COPIES: usize = 100;

/// Opens a directory without following a link to it.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Creates a file; fails if anything exists at the path.
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Which links in the path of a file are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Those that stay inside the base directory: a repository may ship links.
    Inside,
    /// All: the base directory is the user's own, and so are its links.
    Anywhere,
}

/// A file that may or may not exist.
#[derive(Debug)]
pub(crate) struct ContainedFile {
    /// An existing directory without links.
    anchor: PathBuf,
    /// The directories from there to the file.
    folders: Vec<OsString>,
    name: OsString,
}

impl ContainedFile {
    /// Resolves the path of a file below a base directory.
    ///
    /// # Errors
    /// When a link leads out of the base directory, or nowhere.
    pub(crate) fn locate(base: &Path, file: &Path, links: Links) -> Result<Self, Failure> {
        let real_base = base.canonicalize().map_err(|error| unusable(base, &error))?;
        let (anchor, rest) = resolve(file).map_err(|error| unusable(file, &error))?;
        let real = anchor.join(&rest);
        let anchor = match (real.strip_prefix(&real_base), links) {
            (Ok(_), Links::Inside) => real_base,
            (Err(_), Links::Inside) => return Err(leads_out(file, &real_base)),
            (_, Links::Anywhere) if rest.as_os_str().is_empty() => {
                anchor.parent().unwrap_or(Path::new("/")).to_owned()
            }
            (_, Links::Anywhere) => anchor,
        };
        let below = real.strip_prefix(&anchor).map_err(|_| leads_out(file, &anchor))?;
        let mut folders: Vec<OsString> = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(name) => folders.push(name.to_owned()),
                _ => return Err(leads_out(file, &anchor)),
            }
        }
        let name = folders.pop().ok_or_else(|| unusable(file, &Errno::ISDIR.into()))?;
        Ok(Self { anchor, folders, name })
    }

    /// The path, with links resolved.
    pub(crate) fn path(&self) -> PathBuf {
        self.folders.iter().fold(self.anchor.clone(), |path, folder| path.join(folder)).join(&self.name)
    }

    /// Its text; `None` when it does not exist.
    pub(crate) fn read(&self) -> io::Result<Option<String>> {
        let read = self.directory(false).and_then(|directory| read_file(&directory, &self.name));
        match read {
            Ok((text, _)) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces its text in one step. It keeps its mode; a new file gets `new_mode`, less the umask.
    pub(crate) fn replace(&self, text: &str, new_mode: Mode) -> io::Result<()> {
        let directory = self.directory(true)?;
        let mode = match rustix::fs::statat(&directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
                Some(Mode::from_raw_mode(found.st_mode & 0o7777))
            }
            // The file was replaced by something else after `locate`.
            Ok(_) => return Err(Errno::LOOP.into()),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let mut beside = OsString::from(".");
        beside.push(&self.name);
        beside.push(format!(".{}.new", std::process::id()));
        write_new(&directory, &beside, text, new_mode, mode)?;
        let renamed = rustix::fs::renameat(&directory, &beside, &directory, &self.name);
        if renamed.is_err() {
            let _ = rustix::fs::unlinkat(&directory, &beside, AtFlags::empty());
        }
        // A directory that cannot be synced is no reason to fail.
        let _ = rustix::fs::fsync(&directory);
        Ok(renamed?)
    }

    /// Copies it under the first free name beside it; returns the copy's path.
    pub(crate) fn keep_copy(&self, ending: &str) -> io::Result<PathBuf> {
        let directory = self.directory(false)?;
        let (text, mode) = read_file(&directory, &self.name)?;
        for number in 1..=COPIES {
            let mut name = self.name.clone();
            name.push(format!(".{ending}"));
            if number > 1 {
                name.push(format!("-{number}"));
            }
            match write_new(&directory, &name, &text, Mode::RUSR | Mode::WUSR, Some(mode)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|()| self.path().with_file_name(name)),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Removes it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let directory = self.directory(false)?;
        Ok(rustix::fs::unlinkat(&directory, &self.name, AtFlags::empty())?)
    }

    /// Opens its directory component by component, so that a link that was put there meanwhile is not
    /// followed.
    fn directory(&self, make: bool) -> io::Result<OwnedFd> {
        let mut directory = rustix::fs::open(&self.anchor, DIRECTORY, Mode::empty())?;
        for folder in &self.folders {
            let opened = match rustix::fs::openat(&directory, folder, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    let usual = Mode::RWXU | Mode::RWXG | Mode::RWXO;
                    match rustix::fs::mkdirat(&directory, folder, usual) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                    rustix::fs::openat(&directory, folder, DIRECTORY, Mode::empty())
                }
                opened => opened,
            };
            directory = opened?;
        }
        Ok(directory)
    }
}

/// The real path of the existing part, and the rest, which has no links and no dots.
fn resolve(file: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let whole = std::path::absolute(file)?;
    let existing = whole.ancestors().find(|place| place.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("/"));
    // A dangling link exists and cannot be resolved.
    let real = existing.canonicalize()?;
    let rest = whole.strip_prefix(existing).unwrap_or(Path::new(""));
    Ok((real, rest.to_owned()))
}

fn read_file(directory: &OwnedFd, name: &OsStr) -> io::Result<(String, Mode)> {
    // Without NONBLOCK, opening a fifo would block.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(directory.as_fd(), name, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL.into());
    }
    let mut text = String::new();
    let read = File::from(opened).take(FILE_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > FILE_BYTES {
        return Err(Errno::FBIG.into());
    }
    Ok((text, Mode::from_raw_mode(found.st_mode & 0o7777)))
}

/// Writes a new file; removes an incomplete one.
fn write_new(
    directory: &OwnedFd,
    name: &OsStr,
    text: &str,
    new_mode: Mode,
    mode: Option<Mode>,
) -> io::Result<()> {
    let made = rustix::fs::openat(directory.as_fd(), name, NEW_FILE, new_mode)?;
    let mut file = File::from(made);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| match mode {
        Some(mode) => Ok(rustix::fs::fchmod(&file, mode)?),
        None => Ok(()),
    });
    if written.is_err() {
        let _ = rustix::fs::unlinkat(directory.as_fd(), name, AtFlags::empty());
    }
    written
}

fn leads_out(file: &Path, base: &Path) -> Failure {
    let message = format!("{} is outside of {}: a link leads there.", file.display(), base.display());
    Failure::new(ErrorCode::PolicyDenied, message)
        .with_remedy("Nothing was changed. Replace the link by a file or directory.")
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("{} cannot be used: {error}.", path.display()))
        .with_remedy("Nothing was changed. Check the path, its links and its permissions.")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const NEW: Mode = Mode::RUSR.union(Mode::WUSR);

    fn locate(base: &Path, file: &str, links: Links) -> Result<ContainedFile, Failure> {
        ContainedFile::locate(base, &base.join(file), links)
    }

    #[test]
    fn m2_links_out_of_the_base_are_refused_others_followed() {
        let home = tempfile::tempdir().expect("a directory");
        let (root, outside) = (home.path().join("project"), home.path().join("outside"));
        fs::create_dir_all(root.join("real")).expect("a directory");
        fs::create_dir(&outside).expect("a directory");
        fs::write(outside.join("precious"), "precious").expect("written");
        symlink(&outside, root.join("out")).expect("a link");
        symlink("../outside/precious", root.join("linked.json")).expect("a link");
        symlink("real", root.join("in")).expect("a link");
        symlink("/nowhere/at/all", root.join("dangling")).expect("a link");
        for file in ["out/new.json", "out/deep/new.json", "linked.json", "dangling", "dangling/x", "../x"] {
            let refused = locate(&root, file, Links::Inside);
            assert!(refused.is_err(), "{file}: {refused:?}");
        }
        let inside = locate(&root, "in/deep/new.json", Links::Inside).expect("inside");
        inside.replace("new", NEW).expect("written");
        assert_eq!(fs::read_to_string(root.join("real/deep/new.json")).expect("there"), "new");
        let own = locate(&root, "linked.json", Links::Anywhere).expect("the user's own link");
        own.replace("changed", NEW).expect("written");
        assert!(root.join("linked.json").is_symlink(), "the link stays");
        assert_eq!(fs::read_to_string(outside.join("precious")).expect("there"), "changed");
    }

    #[test]
    fn m2_a_link_created_after_locate_is_not_followed() {
        let home = tempfile::tempdir().expect("a directory");
        let (root, outside) = (home.path().join("project"), home.path().join("outside"));
        fs::create_dir_all(root.join("folder")).expect("a directory");
        fs::create_dir(&outside).expect("a directory");
        let file = locate(&root, "folder/a.json", Links::Inside).expect("inside");
        let plain = locate(&root, "b.json", Links::Inside).expect("inside");
        fs::remove_dir(root.join("folder")).expect("removed");
        symlink(&outside, root.join("folder")).expect("a link");
        symlink(outside.join("b.json"), root.join("b.json")).expect("a link");
        assert!(file.replace("x", NEW).is_err() && plain.replace("x", NEW).is_err());
        assert!(plain.read().is_err());
        assert_eq!(fs::read_dir(&outside).expect("there").count(), 0);
    }

    #[test]
    fn m2_copies_are_new_files_and_modes_are_kept() {
        let home = tempfile::tempdir().expect("a directory");
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").expect("written");
        let root = home.path().join("project");
        fs::create_dir(&root).expect("a directory");
        fs::write(root.join("a.json"), "before").expect("written");
        fs::set_permissions(root.join("a.json"), fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink(&victim, root.join("a.json.copy")).expect("a link");
        let file = locate(&root, "a.json", Links::Inside).expect("inside");
        let copy = file.keep_copy("copy").expect("kept");
        file.replace("after", NEW).expect("written");
        assert_eq!(fs::read_to_string(&victim).expect("there"), "precious");
        assert_eq!(fs::read_to_string(&copy).expect("there"), "before");
        assert!(copy.ends_with("a.json.copy-2"), "{}", copy.display());
        for path in [root.join("a.json"), copy] {
            let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
            assert_eq!(mode, 0o640, "{}", path.display());
        }
        assert_eq!(file.read().expect("readable").as_deref(), Some("after"));
        file.remove().expect("removed");
        assert_eq!(file.read().expect("nothing"), None);
    }
}
