//! Downloads and outputs: where files land, and that no file outside the roots is read or written.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

fn refused(world: &World, arguments: &[&str]) {
    let outcome = world.run(&[&["--json"], arguments].concat());
    assert_eq!(outcome.failure(), ("POLICY_DENIED".to_owned(), 3), "{arguments:?}: {outcome:?}");
}

#[test]
fn t31_downloads_go_to_our_directory_or_the_requested_path() {
    download(&World::new().with_whole_chromium(), &FixtureSite::start());
}

/// Downloads by name, by URL and by a click.
pub(crate) fn download(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/downloads/routes")]);
    let downloads = world.home().canonicalize().expect("there").join("state/downloads");
    let path_of =
        |response: &serde_json::Value| Path::new(response["path"].as_str().expect("a path")).to_owned();
    let check = |arguments: &[&str], path: &Path, content: &str| {
        let response = world.json(&[&["download-file"], arguments].concat());
        assert_eq!(path_of(&response["result"]), path, "{arguments:?}");
        assert_eq!(fs::read_to_string(path).expect("written"), content, "{arguments:?}");
        assert_eq!(path.metadata().expect("there").mode() & 0o777, 0o600, "{arguments:?}");
    };
    check(&["#disposition"], &downloads.join("report.txt"), "report content\n");
    check(&["--url", "/download/report.txt"], &downloads.join("report-2.txt"), "report content\n");
    check(&["#name-traversal"], &downloads.join("_.._evil.sh.download"), "content of ../../evil.sh\n");
    let work = world.home().canonicalize().expect("there").join("work");
    check(&["--url", "/download/plain.txt", "-o", "work/out.txt"], &work.join("out.txt"), "plain content\n");
    check(&["#blob", "-o", "work"], &work.join("blob.txt"), "blob content\n");
    assert_eq!(downloads.metadata().expect("there").mode() & 0o777, 0o700);
    assert_eq!(world.files("state/downloads"), ["_.._evil.sh.download", "report-2.txt", "report.txt"]);
    let listed = world.run(&["downloads"]).succeeded();
    assert_eq!(listed.stdout.lines().count(), 5, "{listed:?}");
    // A download that a click starts is saved too.
    let clicked = world.json(&["click", "#attribute"]);
    let kept = &clicked["result"]["downloads"][0];
    assert_eq!((&kept["name"], &kept["state"]), (&"renamed.txt".into(), &"complete".into()), "{clicked}");
    assert_eq!(path_of(kept), downloads.join("renamed.txt"), "{clicked}");
    let content = fs::read(downloads.join("renamed.txt")).expect("written");
    assert_eq!(kept["bytes"].as_u64(), u64::try_from(content.len()).ok(), "{clicked}");
    let listed = world.run(&["downloads"]).succeeded();
    assert_eq!(listed.stdout.lines().count(), 6, "{listed:?}");
    assert_eq!(world.files("state/incoming"), [""; 0], "something was left");
    assert_eq!(world.json(&["tabs"])["result"]["tabs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn t30_t32_nothing_outside_the_roots_is_read_or_written() {
    launched(stay_within_the_roots);
}

pub(crate) fn stay_within_the_roots(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/files")]);
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("secret.txt"), "secret").expect("written");
    symlink(outside.path(), world.home().join("link")).expect("linked");
    symlink(outside.path().join("secret.txt"), world.home().join("secret-link")).expect("linked");
    fs::write(world.home().join("mine.txt"), "mine").expect("written");
    let name = outside.path().to_string_lossy().into_owned();
    let (target, traversal) =
        (format!("{name}/new.txt"), format!("../{}/new.txt", name.trim_start_matches("/tmp/")));
    for path in [target.as_str(), traversal.as_str(), "link/new.txt", "mine.txt/../../new.txt"] {
        refused(world, &["download-file", "--url", "/download/plain.txt", "-o", path]);
    }
    let taken = world.run(&["--json", "download-file", "--url", "/download/plain.txt", "-o", "mine.txt"]);
    assert_eq!(taken.failure(), ("BAD_ARGS".to_owned(), 2), "{taken:?}");
    assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 1, "something was written outside");
    let secret = format!("{name}/secret.txt");
    for path in ["/etc/passwd", "/dev/null", &secret, "link/secret.txt", "secret-link"] {
        refused(world, &["upload", path, "--to", "#one"]);
    }
    assert_eq!(world.eval("document.getElementById('one').files.length"), "0");
    let given = world.json(&["upload", "mine.txt", "--to", "#one"]);
    assert_eq!(given["result"]["files"], serde_json::json!([{"name": "mine.txt", "bytes": 4}]));
    world.run(&["--root", &name, "upload", &secret, "--to", "#one"]).succeeded();
    assert_eq!(world.eval("document.getElementById('one').files[0].text()"), "secret");
    // Declared roots replace the current directory.
    refused(world, &["--root", &name, "upload", "mine.txt", "--to", "#one"]);
}
