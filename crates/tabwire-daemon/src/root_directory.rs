//! A directory that files may be read from and written to, and nothing outside it.
//!
//! Everything below it is opened one component after the other, relative to an open directory and without following
//! links, so that neither a link nor a swap of one leads out of it. Knows nothing of names or of who asks.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Opens a directory without following a link to it.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory and where it is.
#[derive(Debug)]
pub(crate) struct RootDirectory {
    /// As it was declared.
    declared: PathBuf,
    /// Without links.
    real: PathBuf,
    descriptor: OwnedFd,
}

/// A place below a root: an open directory and a name in it.
#[derive(Debug)]
pub(crate) struct Place {
    directory: OwnedFd,
    path: PathBuf,
    name: std::ffi::OsString,
}

impl RootDirectory {
    /// Opens a declared directory. Links on the way to it are its owner's business.
    pub(crate) fn open(declared: &Path) -> io::Result<Self> {
        let real = declared.canonicalize()?;
        let descriptor = rustix::fs::open(&real, DIRECTORY, Mode::empty())?;
        Ok(Self { declared: declared.to_owned(), real, descriptor })
    }

    /// Where it is, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.real
    }

    /// The part of a whole path that is below this directory, compared by components; none when it is elsewhere.
    pub(crate) fn find_below(&self, path: &Path) -> Option<PathBuf> {
        let path = without_dots(path)?;
        let roots = [&self.declared, &self.real];
        roots.into_iter().find_map(|root| path.strip_prefix(root).ok()).map(Path::to_owned)
    }

    /// Goes to the directory that holds a path, making missing ones when asked to.
    pub(crate) fn place(&self, below: &Path, make: bool) -> io::Result<Place> {
        let mut path = self.real.clone();
        let mut directory = self.descriptor.try_clone()?;
        let mut names = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                    return Err(Errno::XDEV.into());
                }
            }
        }
        let name = names.pop().ok_or(Errno::ISDIR)?.to_owned();
        for parent in names {
            directory = enter(directory.as_fd(), parent, make)?;
            path.push(parent);
        }
        Ok(Place { directory, path, name })
    }
}

/// Opens a directory inside another; what is there must be one, not a link to one.
fn enter(directory: BorrowedFd<'_>, name: &OsStr, make: bool) -> io::Result<OwnedFd> {
    match rustix::fs::openat(directory, name, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) if make => {
            match rustix::fs::mkdirat(directory, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            Ok(rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// A whole path without `.` and `..`; none when it is relative or leads above the top.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean.is_absolute().then_some(clean)
}

impl Place {
    /// The whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.join(&self.name)
    }

    /// The same directory with another name in it.
    pub(crate) fn beside(&self, name: &str) -> io::Result<Self> {
        Ok(Self { directory: self.directory.try_clone()?, path: self.path.clone(), name: name.into() })
    }

    /// Its name in its directory.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Whether anything of that name is there.
    pub(crate) fn is_taken(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether a directory of that name is there, not a link to one.
    pub(crate) fn is_directory(&self) -> bool {
        rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Makes a new file that only we can read; fails when anything of that name is there, a link too.
    pub(crate) fn create(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.directory, &self.name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(made))
    }

    /// Opens a plain file for reading: no link, no directory, no device, nothing that waits for a writer.
    pub(crate) fn open(&self) -> io::Result<File> {
        // Looked at first: opening some devices does something already.
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        check_plain(found.st_mode)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?;
        check_plain(rustix::fs::fstat(&opened)?.st_mode)?;
        Ok(File::from(opened))
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        // Gone already is as good.
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }

    /// Moves this file to another place of the same file system; fails when anything is there.
    pub(crate) fn move_to(&self, to: &Self) -> io::Result<()> {
        // A link first: like a move that never replaces, on every system.
        to.link_from(self.directory.as_fd(), &self.name, AtFlags::empty())?;
        self.remove();
        Ok(())
    }

    /// Gives a file a second name here; fails when anything of that name is there.
    pub(crate) fn link_from(
        &self,
        directory: BorrowedFd<'_>,
        name: impl rustix::path::Arg,
        flags: AtFlags,
    ) -> io::Result<()> {
        Ok(rustix::fs::linkat(directory, name, &self.directory, &self.name, flags)?)
    }
}

fn check_plain(mode: rustix::fs::RawMode) -> io::Result<()> {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Errno::LOOP.into()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Err(Errno::NODEV.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn errno(result: io::Result<impl Sized>) -> Errno {
        Errno::from_io_error(&result.err().expect("refused")).expect("the system's word")
    }

    #[test]
    fn t32_only_what_is_below_by_components_is_below() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("root")).unwrap();
        std::fs::create_dir(home.path().join("root-other")).unwrap();
        symlink("root", home.path().join("alias")).unwrap();
        let root = RootDirectory::open(&home.path().join("alias")).unwrap();
        let below = |path: &str| root.find_below(&home.path().join(path));
        assert_eq!(below("alias/a/b"), Some("a/b".into()));
        assert_eq!(below("root/a"), Some("a".into()));
        assert_eq!(below("root/x/../a"), Some("a".into()));
        for outside in ["root-other/a", "rootx", "alias/../root-other/a", "root/../../a", "a"] {
            assert_eq!(below(outside), None, "{outside}");
        }
        assert_eq!(root.find_below(Path::new("relative/a")), None);
        assert_eq!(root.find_below(Path::new("/../..")), None);
        assert_eq!(errno(root.place(Path::new("../a"), true)), Errno::XDEV);
        assert_eq!(errno(root.place(Path::new("/etc/passwd"), true)), Errno::XDEV);
        assert_eq!(errno(root.place(Path::new(""), true)), Errno::ISDIR);
    }

    #[test]
    fn t30_links_devices_and_directories_are_not_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path();
        std::fs::write(path.join("plain"), "plain").unwrap();
        std::fs::create_dir(path.join("inside")).unwrap();
        symlink("/etc/passwd", path.join("link")).unwrap();
        symlink("/etc", path.join("away")).unwrap();
        symlink("plain", path.join("near")).unwrap();
        let root = RootDirectory::open(path).unwrap();
        #[cfg(target_os = "linux")]
        rustix::fs::mknodat(&root.descriptor, "fifo", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let open = |below: &str| root.place(Path::new(below), false).and_then(|place| place.open());
        let mut text = String::new();
        open("inside/../plain").err().expect("dots were taken out before");
        open("./plain").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "plain");
        assert_eq!(errno(open("link")), Errno::LOOP);
        assert_eq!(errno(open("near")), Errno::LOOP);
        assert!(matches!(errno(open("away/passwd")), Errno::LOOP | Errno::NOTDIR));
        assert_eq!(errno(open("inside")), Errno::ISDIR);
        #[cfg(target_os = "linux")]
        assert_eq!(errno(open("fifo")), Errno::NODEV);
        assert_eq!(errno(open("missing")), Errno::NOENT);
        let devices = RootDirectory::open(Path::new("/dev")).unwrap();
        assert_eq!(errno(devices.place(Path::new("null"), false).unwrap().open()), Errno::NODEV);
    }

    #[test]
    fn t31_nothing_that_is_there_is_written_over() {
        let home = tempfile::tempdir().unwrap();
        let root = RootDirectory::open(home.path()).unwrap();
        std::fs::write(home.path().join("there"), "before").unwrap();
        symlink("/tmp/t31-elsewhere", home.path().join("dangling")).unwrap();
        for name in ["there", "dangling"] {
            let place = root.place(Path::new(name), true).unwrap();
            assert_eq!(errno(place.create()), Errno::EXIST, "{name}");
        }
        let place = root.place(Path::new("new/deep/file"), true).unwrap();
        place.create().unwrap().write_all(b"new").unwrap();
        let mode = |path: &str| std::os::unix::fs::MetadataExt::mode(&home.path().join(path).metadata().unwrap()) & 0o777;
        assert_eq!((mode("new"), mode("new/deep/file")), (0o700, 0o600));
        let there = root.place(Path::new("there"), false).unwrap();
        assert_eq!(errno(place.move_to(&there)), Errno::EXIST);
        place.move_to(&place.beside("moved").unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(home.path().join("new/deep/moved")).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(home.path().join("there")).unwrap(), "before");
    }

    /// Somebody swaps a directory and a file for links to outside again and again; not one open follows them.
    #[test]
    fn t32_swapping_links_never_leads_outside() {
        let home = tempfile::tempdir().unwrap();
        let (inside, outside) = (home.path().join("root"), home.path().join("outside"));
        for directory in [&inside, &outside, &inside.join("sub")] {
            std::fs::create_dir(directory).unwrap();
        }
        for (directory, word) in [(&inside.join("sub"), "inside"), (&outside, "SECRET")] {
            std::fs::write(directory.join("file"), word).unwrap();
        }
        let root = RootDirectory::open(&inside).unwrap();
        let done = AtomicBool::new(false);
        let (sub, aside) = (inside.join("sub"), inside.join("aside"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // The directory for a link to outside, and back.
                    std::fs::rename(&sub, &aside).unwrap();
                    symlink(&outside, &sub).unwrap();
                    std::fs::remove_file(&sub).unwrap();
                    std::fs::rename(&aside, &sub).unwrap();
                    // The file for a link to outside, and back.
                    std::fs::rename(sub.join("file"), sub.join("kept")).unwrap();
                    symlink(outside.join("file"), sub.join("file")).unwrap();
                    std::fs::rename(sub.join("kept"), sub.join("file")).unwrap();
                }
            });
            let mut read = 0;
            for number in 0..20_000 {
                if let Ok(mut file) = root.place(Path::new("sub/file"), false).and_then(|place| place.open()) {
                    let mut text = String::new();
                    file.read_to_string(&mut text).unwrap();
                    assert_eq!(text, "inside");
                    read += 1;
                }
                let below = PathBuf::from(format!("sub/new-{}", number % 50));
                if let Ok(place) = root.place(&below, false)
                    && let Ok(mut made) = place.create()
                {
                    made.write_all(b"x").unwrap();
                    place.remove();
                }
            }
            done.store(true, Ordering::Relaxed);
            assert!(read > 0, "the file was never there");
        });
        let left: Vec<_> = std::fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["file"], "something was written outside");
    }
}
