//! Checks that the browser's sandbox can work. The launch decides what happens without it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tabwire_browser::SandboxObstacle;

use super::finding::{Finding, run};
use super::{CheckInputs, browser};

const CODE: &str = "sandbox";

/// Kernel settings that keep users from creating namespaces: file, value, remedy.
const KERNEL_SETTINGS: [(&str, &str, &str); 3] = [
    ("proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    ("proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// The setuid program that creates the sandbox where users may not.
const HELPERS: [&str; 2] = ["chrome-sandbox", "chrome_sandbox"];

const SETUID: u32 = 0o4000;

pub(super) fn check(inputs: &CheckInputs<'_>) -> Finding {
    let has_helper = browser::find(inputs).is_ok_and(|found| has_helper(&found.path));
    evaluate(Path::new("/"), SandboxObstacle::detect(), has_helper)
}

fn evaluate(root: &Path, obstacle: Option<SandboxObstacle>, has_helper: bool) -> Finding {
    match obstacle {
        Some(obstacle @ SandboxObstacle::Root) => {
            return Finding::warning(CODE, obstacle.warning(), "Run Tabwire as an ordinary user.");
        }
        Some(obstacle @ SandboxObstacle::Container) => {
            let remedy = "Open only trusted pages, or run Tabwire outside of the container.";
            return Finding::warning(CODE, obstacle.warning(), remedy);
        }
        None => {}
    }
    let is_set = |(file, value, _): &&(&str, &str, &str)| {
        fs::read_to_string(root.join(file)).is_ok_and(|text| text.trim() == *value)
    };
    match KERNEL_SETTINGS.iter().find(is_set) {
        Some((file, value, remedy)) if !has_helper => {
            let sentence = format!(
                "Users may not create namespaces (/{file} is {value}), so the browser's sandbox may not start."
            );
            Finding::warning(
                CODE,
                sentence,
                run("Run {} as root, or install the browser from a package with its own permission.", remedy),
            )
        }
        _ => Finding::ok(CODE, "The browser uses its sandbox."),
    }
}

fn has_helper(browser: &Path) -> bool {
    // The browser is often a link or a script in another directory than its helper.
    let real = browser.canonicalize().unwrap_or_else(|_| browser.to_owned());
    let beside = real.parent().map(Path::to_owned);
    let usual = real.file_name().map(|name| Path::new("/usr/lib").join(name));
    [beside, usual].into_iter().flatten().any(|folder| {
        HELPERS.iter().any(|name| {
            folder.join(name).metadata().is_ok_and(|data| data.permissions().mode() & SETUID != 0)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_namespaces_is_reported_with_its_setting() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(evaluate(root.path(), None, false).to_json()["verdict"], "ok");
        for (file, value, remedy) in KERNEL_SETTINGS {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("{value}\n")).unwrap();
            let to_json = evaluate(root.path(), None, false).to_json();
            assert_eq!(to_json["verdict"], "warning");
            assert!(to_json["remedy"].as_str().unwrap().contains(remedy), "{to_json}");
            assert_eq!(evaluate(root.path(), None, true).to_json()["verdict"], "ok", "a helper does without");
            fs::remove_file(&path).unwrap();
        }
        let to_json = evaluate(root.path(), Some(SandboxObstacle::Container), true).to_json();
        assert_eq!(to_json["verdict"], "warning");
    }
}
