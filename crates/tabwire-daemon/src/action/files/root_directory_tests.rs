//! Attacks on a root directory: traversal, links, devices, and links that are swapped while it is used.

use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;

fn errno(result: io::Result<impl Sized>) -> Errno {
    Errno::from_io_error(&result.err().expect("refused")).expect("a system error")
}

#[test]
fn t32_paths_are_compared_by_components() {
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
    open("inside/../plain").expect_err("`..` is resolved earlier");
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
fn t31_existing_files_and_links_are_not_overwritten() {
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
    let mode = |path: &str| {
        std::os::unix::fs::MetadataExt::mode(&home.path().join(path).metadata().unwrap()) & 0o777
    };
    assert_eq!((mode("new"), mode("new/deep/file")), (0o700, 0o600));
    let there = root.place(Path::new("there"), false).unwrap();
    assert_eq!(errno(place.move_to(&there)), Errno::EXIST);
    place.move_to(&place.beside("moved").unwrap()).unwrap();
    assert_eq!(std::fs::read_to_string(home.path().join("new/deep/moved")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(home.path().join("there")).unwrap(), "before");
}

/// A thread keeps swapping a directory and a file for links to the outside; no open follows them.
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
                // Replaces the directory with a link to the outside, then restores it.
                std::fs::rename(&sub, &aside).unwrap();
                symlink(&outside, &sub).unwrap();
                std::fs::remove_file(&sub).unwrap();
                std::fs::rename(&aside, &sub).unwrap();
                // Replaces the file with a link to the outside, then restores it.
                std::fs::rename(sub.join("file"), sub.join("kept")).unwrap();
                symlink(outside.join("file"), sub.join("file")).unwrap();
                std::fs::rename(sub.join("kept"), sub.join("file")).unwrap();
            }
        });
        let (mut read, mut number, start) = (0, 0, Instant::now());
        // On a busy machine the other thread can stand still while the file is away.
        while number < 8_000 || (read == 0 && start.elapsed() < Duration::from_secs(20)) {
            number += 1;
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
    let left: Vec<_> =
        std::fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["file"], "something was written outside");
}
