//! The files that one request may read and write.

use std::os::unix::fs::symlink;

use super::*;

struct TestFiles {
    home: tempfile::TempDir,
    files: RequestFiles,
}

fn test_files() -> TestFiles {
    let home = tempfile::tempdir().unwrap();
    for directory in ["work", "other", "work/sub"] {
        std::fs::create_dir(home.path().join(directory)).unwrap();
    }
    std::fs::write(home.path().join("other/secret"), "secret").unwrap();
    std::fs::write(home.path().join("work/file.txt"), "mine").unwrap();
    symlink(home.path().join("other"), home.path().join("work/away")).unwrap();
    let dirs = Arc::new(OutputDirs::new(home.path().join("state")));
    let files = RequestFiles::below(&dirs, Vec::new(), Some(home.path().join("work"))).unwrap();
    TestFiles { home, files }
}

fn code(result: Result<impl Sized, Failure>) -> ErrorCode {
    result.err().expect("refused").code
}

#[test]
fn t30_only_regular_files_below_a_root_are_uploaded() {
    let TestFiles { home, files } = test_files();
    let offered = files.offer_upload(Path::new("file.txt")).unwrap();
    assert_eq!((offered.name.as_str(), offered.bytes), ("file.txt", 4));
    // Swapped after it was checked: the browser still reads what was checked.
    std::fs::remove_file(home.path().join("work/file.txt")).unwrap();
    symlink(home.path().join("other/secret"), home.path().join("work/file.txt")).unwrap();
    assert_eq!(std::fs::read_to_string(&offered.path).unwrap(), "mine");
    for refused in ["../other/secret", "away/secret", "file.txt", "/etc/passwd", "sub/../../other/secret"] {
        assert_eq!(code(files.offer_upload(Path::new(refused))), ErrorCode::PolicyDenied, "{refused}");
        assert_eq!(code(files.read(Path::new(refused))), ErrorCode::PolicyDenied, "{refused}");
    }
    assert_eq!(code(files.check_input(Path::new("/dev/zero"))), ErrorCode::PolicyDenied);
    let devices = RequestFiles::below(&files.dirs, vec!["/dev".into()], None).unwrap();
    assert_eq!(code(devices.check_input(Path::new("/dev/zero"))), ErrorCode::PolicyDenied);
    for missing in ["none", "sub", "a\nb"] {
        assert_eq!(code(files.check_input(Path::new(missing))), ErrorCode::BadArgs, "{missing}");
    }
    let without_roots = RequestFiles::own(&files.dirs);
    assert_eq!(code(without_roots.check_input(&home.path().join("work/sub"))), ErrorCode::PolicyDenied);
    assert_eq!(code(without_roots.check_input(Path::new("relative"))), ErrorCode::BadArgs);
    assert_eq!(code(RequestFiles::below(&files.dirs, vec!["a".into()], None)), ErrorCode::BadArgs);
}

#[test]
fn t31_new_files_stay_below_roots_and_replace_nothing() {
    let TestFiles { home, files } = test_files();
    let work = home.path().canonicalize().unwrap().join("work");
    let write =
        |wanted: Option<&str>| files.write(FileKind::Screenshot, wanted.map(Path::new), "page.png", b"x");
    let first = write(None).unwrap();
    assert!(first.ends_with("state/screenshots/page.png"), "{first:?}");
    assert!(write(None).unwrap().ends_with("state/screenshots/page-2.png"));
    assert_eq!(write(Some("new/shot.png")).unwrap(), work.join("new/shot.png"));
    assert_eq!(write(Some("sub")).unwrap(), work.join("sub/page.png"));
    assert_eq!(write(Some("sub/")).unwrap(), work.join("sub/page-2.png"));
    assert_eq!(write(Some(".")).unwrap(), work.join("page.png"));
    assert_eq!(code(write(Some("file.txt"))), ErrorCode::BadArgs);
    assert_eq!(code(files.check_output(Path::new("file.txt"))), ErrorCode::BadArgs);
    files.check_output(Path::new("fresh.txt")).unwrap();
    for refused in ["../out.png", "away/out.png", "/tmp/out.png", "away"] {
        let code = code(write(Some(refused)));
        assert!(matches!(code, ErrorCode::PolicyDenied | ErrorCode::BadArgs), "{refused}");
        assert_eq!(std::fs::read_dir(home.path().join("other")).unwrap().count(), 1, "{refused}");
    }
    assert_eq!(std::fs::read_to_string(home.path().join("work/file.txt")).unwrap(), "mine");
}

#[test]
fn t31_directories_stay_below_roots_and_replace_nothing() {
    let TestFiles { home, files } = test_files();
    let own = files.create_directory(FileKind::Capture, None, "a/b").unwrap();
    assert!(own.path().starts_with(home.path().canonicalize().unwrap().join("state/captures")));
    let stored = files.create_directory(FileKind::Capture, Some(Path::new("sub/new")), "x").unwrap();
    stored.create("index.jsonl").unwrap().add(b"1").unwrap();
    let path = home.path().join("work/sub/new/index.jsonl");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
    assert_eq!(code(stored.create("index.jsonl")), ErrorCode::BadArgs);
    let inside = stored.create("../../up.txt").unwrap();
    assert_eq!(inside.path.parent().unwrap(), stored.path());
    for refused in ["../other/x", "away/x", "/tmp/x"] {
        let code = code(files.create_directory(FileKind::Capture, Some(Path::new(refused)), "x"));
        assert!(matches!(code, ErrorCode::PolicyDenied | ErrorCode::BadArgs), "{refused}");
    }
    let mut whole = files.create(FileKind::Trace, Some(Path::new("trace.json")), "x").unwrap();
    whole.add(b"{").unwrap();
    whole.add(b"}").unwrap();
    assert_eq!(std::fs::read_to_string(home.path().join("work/trace.json")).unwrap(), "{}");
}

#[test]
fn t31_downloads_are_kept_under_harmless_names() {
    let TestFiles { home, files } = test_files();
    let staged = |content: &str| {
        let path = files.download_directory().join("guid");
        std::fs::write(&path, content).unwrap();
        path
    };
    let kept = files.store_download(&staged("1"), "../../setup.exe", None).unwrap();
    assert!(kept.ends_with("state/downloads/setup.exe.download"), "{kept:?}");
    let mode = std::os::unix::fs::MetadataExt::mode(&kept.metadata().unwrap()) & 0o777;
    assert_eq!(mode, 0o600);
    let again = files.store_download(&staged("2"), "setup.exe", None).unwrap();
    assert!(again.ends_with("setup.exe-2.download"), "{again:?}");
    let stored = files.store_download(&again, "setup.exe", Some(Path::new("mine.exe"))).unwrap();
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), "2");
    assert!(!again.exists() && stored.ends_with("work/mine.exe"));
    assert_eq!(code(files.store_download(&kept, "a", Some(Path::new("../a")))), ErrorCode::PolicyDenied);
    let foreign = home.path().join("other/secret");
    assert_eq!(code(files.store_download(&foreign, "a", None)), ErrorCode::Internal);
}

#[test]
fn m5_dot_files_tool_configuration_and_hooks_are_refused() {
    let TestFiles { home, files } = test_files();
    let work = home.path().join("work");
    for directory in [".git/hooks", "build"] {
        std::fs::create_dir_all(work.join(directory)).unwrap();
    }
    let staged = || {
        let path = files.download_directory().join("guid");
        std::fs::write(&path, "page").unwrap();
        path
    };
    let write =
        |files: &RequestFiles, wanted: &str| files.write(FileKind::Body, Some(Path::new(wanted)), "b", b"x");
    let names = [
        ".mcp.json",
        ".envrc",
        "tabwire.toml",
        ".git/hooks/pre-commit",
        ".git/",
        "new/.vscode/tasks.json",
        "Makefile",
    ];
    for wanted in names {
        let path = Path::new(wanted);
        assert_eq!(code(write(&files, wanted)), ErrorCode::PolicyDenied, "{wanted}");
        assert_eq!(code(files.create(FileKind::Har, Some(path), "a")), ErrorCode::PolicyDenied, "{wanted}");
        assert_eq!(code(files.check_output(path)), ErrorCode::PolicyDenied, "{wanted}");
        assert_eq!(
            code(files.store_download(&staged(), "a", Some(path))),
            ErrorCode::PolicyDenied,
            "{wanted}"
        );
    }
    assert_eq!(
        code(files.create_directory(FileKind::Capture, Some(Path::new(".x")), "x")),
        ErrorCode::PolicyDenied
    );
    let from_hooks = RequestFiles::below(&files.dirs, vec![work.join(".git")], Some(work.clone())).unwrap();
    assert_eq!(code(write(&from_hooks, ".git/info")), ErrorCode::PolicyDenied);
    assert!(!work.join("new").exists(), "a refused output made a directory");
    assert_eq!(std::fs::read_dir(work.join(".git/hooks")).unwrap().count(), 0);
    assert!(
        write(&files, "build").unwrap().ends_with("work/build/b"),
        "a directory that is called like a file"
    );
    let kept = files.store_download(&staged(), "Makefile", Some(Path::new("build"))).unwrap();
    assert!(kept.ends_with("work/build/Makefile.download"), "{kept:?}");
}

fn session(name: &str) -> SessionKey {
    SessionKey::new(tabwire_api::ProjectKey::default(), name.parse().unwrap())
}

#[test]
fn b7_a_session_replaces_its_own_files_and_no_others() {
    let TestFiles { home, files } = test_files();
    let work = home.path().join("work");
    let files = files.of_session(session("mine"));
    let write = |files: &RequestFiles, wanted: &str, content: &str| {
        files.write(FileKind::Screenshot, Some(Path::new(wanted)), "page.png", content.as_bytes())
    };
    write(&files, "shot.png", "first").unwrap();
    files.check_output(Path::new("shot.png")).unwrap();
    write(&files, "shot.png", "second").unwrap();
    assert_eq!(std::fs::read_to_string(work.join("shot.png")).unwrap(), "second");
    // Another session, a file of the user, and a file that the user changed since.
    assert_eq!(code(write(&files.clone().of_session(session("other")), "shot.png", "x")), ErrorCode::BadArgs);
    assert_eq!(code(write(&files, "file.txt", "x")), ErrorCode::BadArgs);
    std::fs::write(work.join("shot.png"), "edited by hand").unwrap();
    let refused = write(&files, "shot.png", "x").unwrap_err();
    assert!(refused.hint().contains("--force"), "{refused:?}");
    assert_eq!(code(files.check_output(Path::new("shot.png"))), ErrorCode::BadArgs);
    assert_eq!(std::fs::read_to_string(work.join("shot.png")).unwrap(), "edited by hand");
    // The remembered file of one of our own directories.
    let own = files.write(FileKind::Screenshot, None, "page.png", b"a").unwrap();
    let again = files.write(FileKind::Screenshot, Some(&own), "page.png", b"b").unwrap();
    assert_eq!((again, std::fs::read_to_string(&own).unwrap()), (own.clone(), "b".to_owned()));
    let other = files.clone().of_session(session("other"));
    assert_eq!(code(other.write(FileKind::Screenshot, Some(&own), "x", b"x")), ErrorCode::PolicyDenied);
}

#[test]
fn b7_force_replaces_plain_files_and_no_protected_ones() {
    use std::os::unix::fs::PermissionsExt;
    let TestFiles { home, files } = test_files();
    let work = home.path().join("work");
    std::fs::set_permissions(work.join("file.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(work.join("package.json"), "{}").unwrap();
    symlink(home.path().join("other/secret"), work.join("link.txt")).unwrap();
    let forced = files.overwriting();
    forced.write(FileKind::Pdf, Some(Path::new("file.txt")), "page.pdf", b"new").unwrap();
    assert_eq!(std::fs::read_to_string(work.join("file.txt")).unwrap(), "new");
    let mode = std::fs::metadata(work.join("file.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "no right to execute is kept");
    for refused in
        ["package.json", ".envrc", "link.txt", "hooks/pre-commit", "../other/secret", "away/secret"]
    {
        let written = forced.write(FileKind::Pdf, Some(Path::new(refused)), "page.pdf", b"x");
        assert_eq!(code(written), ErrorCode::PolicyDenied, "{refused}");
    }
    assert_eq!(std::fs::read_to_string(home.path().join("other/secret")).unwrap(), "secret");
    assert_eq!(std::fs::read_to_string(work.join("package.json")).unwrap(), "{}");
    let left: Vec<_> = std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    // A stream replaces a file too.
    let mut stream = forced.create(FileKind::Trace, Some(Path::new("file.txt")), "trace.json").unwrap();
    stream.add(b"trace").unwrap();
    assert_eq!(std::fs::read_to_string(work.join("file.txt")).unwrap(), "trace");
}
