//! Packing the same program twice gives the same bytes; released packages keep their size limits.

use super::pack::{find, is_release, packages, program, xtask};
use crate::support::world::World;

/// Limits of the compressed program and of the npm package with it: what a `dist` build has now, and a little room. The
/// aims are 9 and 10 MB, which are not reached yet.
const PROGRAM_BYTES: u64 = 13_500_000;
const NPM_BYTES: u64 = 13_500_000;

#[test]
fn packing_twice_gives_the_same_bytes() {
    let world = World::new();
    let program = program(world.home()).display().to_string();
    let pack = |name: &str| {
        let out = world.home().join(name).display().to_string();
        let arguments = ["dist", "--binary", &program, "--allow-glibc", "2.99", "--no-man", "--no-site"];
        xtask(&[&arguments[..], &["--level", "0", "--out", &out]].concat()).succeeded();
        std::fs::read_to_string(world.home().join(name).join("SHA256SUMS")).expect("sums")
    };
    let sums = pack("one");
    assert_eq!(sums, pack("two"));
    for name in [".tar.gz", ".tgz", ".whl", ".deb", ".zip", ".cdx.json"] {
        assert!(sums.lines().any(|line| line.ends_with(name)), "{name} in {sums}");
    }
}

#[test]
fn released_packages_match_their_sums_and_size_limits() {
    let world = World::new();
    let packages = packages(world.home(), "npm");
    let folder = packages.display().to_string();
    let check = "cd \"$0\" && sha256sum --check --strict --quiet SHA256SUMS";
    world.run_program("sh", &["-c", check, &folder]).succeeded();
    let package = find(&packages, "tabwire-linux", ".tgz");
    let npm = std::fs::metadata(&package).expect("a package").len();
    assert!(npm > 1_000_000, "{npm}");
    // A debug build is larger; its packages are for the other tests.
    if is_release() {
        let script = "tar xzOf \"$0\" package/bin/tabwire | gzip -9 | wc -c";
        let counted = world.run_program("sh", &["-c", script, &package]).succeeded();
        let program: u64 = counted.text().trim().parse().expect("a count");
        assert!(program <= PROGRAM_BYTES && npm <= NPM_BYTES, "{program} {npm}");
    }
}

#[test]
fn every_package_contains_the_licences_of_what_it_is_built_from() {
    let world = World::new();
    let packages = packages(world.home(), "tarball,npm,deb,wheel");
    for (start, end, list) in [
        ("tabwire-linux", ".tgz", "tar tzf \"$0\""),
        ("tabwire-0", "-linux-x64.tar.gz", "tar tzf \"$0\""),
        ("tabwire_", ".deb", "dpkg-deb --contents \"$0\""),
        ("tabwire-0", ".whl", "python3 -m zipfile --list \"$0\""),
    ] {
        let package = find(&packages, start, end);
        let listed = world.run_program("sh", &["-c", list, &package]).succeeded();
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"] {
            assert!(listed.stdout.contains(name), "{name} in {package}");
        }
    }
}
