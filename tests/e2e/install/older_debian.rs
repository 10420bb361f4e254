//! The released program in the root directory of an older Debian, which has an older glibc and no browser.

use std::path::Path;
use std::process::Command;

use tabwire_testkit::by_size;

use super::pack::{find, is_release, packages};
use crate::support::world::{World, wait};

/// Installs, starts the daemon, reads the error about the missing browser, and removes. Runs as a normal user.
const SCRIPT: &str = "set -e
cd \"$1\" && tar xzf *.tar.gz && cd tabwire-*
export HOME=\"$1\" TABWIRE_HOME=\"$1/files\" TABWIRE_PORT=0
./install.sh --prefix \"$1/prefix\"
PATH=$1/prefix/bin:/usr/bin:/bin
tabwire --version
tabwire daemon start
tabwire docs REF_EXPIRED
tabwire --json open about:blank || echo \"code $?\"
tabwire --json daemon status
tabwire daemon stop
./install.sh --uninstall --prefix \"$1/prefix\"
find \"$1/prefix\" -type f | sed 's/^/left: /'
echo finished";

#[test]
fn the_program_runs_on_an_older_debian_without_a_browser_in_full_runs() {
    if by_size(true, false) || !is_release() {
        eprintln!("only a `dist` build runs on an older glibc: `cargo xtask test --full` makes it");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/older-debian");
    assert!(root.is_dir(), "the older Debian is not there: run `cargo xtask setup --full` as root");
    let world = World::new();
    let folder = tempfile::tempdir_in(root.join("tmp")).expect("a directory in the older Debian");
    let archive = find(&packages(world.home(), "tarball"), "tabwire-0", ".tar.gz");
    std::fs::copy(&archive, folder.path().join("tabwire.tar.gz")).expect("copied");
    let given = Command::new("chown").args(["-R", "1000:1000"]).arg(folder.path()).status();
    assert!(given.expect("`chown` starts").success());
    let inside = format!("/tmp/{}", folder.path().file_name().expect("a name").to_string_lossy());
    let (proc, root) = (format!("--mount-proc={}/proc", root.display()), root.display().to_string());
    // The processes end with their namespace.
    let namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", &proc];
    let change = ["chroot", "--userspec=1000:1000", &root, "/bin/sh", "-c", SCRIPT, "sh", &inside];
    let arguments = [&namespaces[..], &change].concat();
    let started = world.command("unshare", &arguments).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").spawn();
    let outcome = wait(started.expect("`unshare` starts"), &arguments).succeeded();
    for words in [
        concat!("tabwire ", env!("CARGO_PKG_VERSION")),
        "REF_EXPIRED: ",
        "NO_BACKEND",
        "Install Chrome, Chromium, Edge",
        "code 1\n",
        "finished",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {outcome:?}");
    }
    assert!(!outcome.stdout.contains("left: "), "{outcome:?}");
}
