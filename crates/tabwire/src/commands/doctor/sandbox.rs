//! Whether the browser's sandbox can work here. Only looks; what is done without it is decided at the launch.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tabwire_browser::SandboxObstacle;

use super::finding::Finding;
use super::{Visit, browser};

const CODE: &str = "sandbox";

/// Switches of the kernel that keep ordinary users from making namespaces: the file, the value, the remedy.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    ("proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
];

/// The program beside a browser that makes the sandbox as root, where users may not.
const HELPERS: [&str; 2] = ["chrome-sandbox", "chrome_sandbox"];

const SETUID: u32 = 0o4000;

pub(super) fn check(visit: &Visit<'_>) -> Finding {
    let has_helper = browser::find(visit).is_ok_and(|found| has_helper(&found.path));
    judge(Path::new("/"), SandboxObstacle::detect(), has_helper)
}

fn judge(root: &Path, obstacle: Option<SandboxObstacle>, has_helper: bool) -> Finding {
    match obstacle {
        Some(obstacle @ SandboxObstacle::Root) => {
            return Finding::warning(CODE, obstacle.warning(), "Run Tabwire as an ordinary user.");
        }
        Some(obstacle @ SandboxObstacle::Container) => {
            let remedy = "Open only pages you trust here, or run Tabwire outside of the container.";
            return Finding::warning(CODE, obstacle.warning(), remedy);
        }
        None => {}
    }
    let is_set = |(file, value, _): &&(&str, &str, &str)| {
        fs::read_to_string(root.join(file)).is_ok_and(|text| text.trim() == *value)
    };
    match SWITCHES.iter().find(is_set) {
        Some((file, value, remedy)) if !has_helper => {
            let sentence = format!(
                "The kernel lets no user make namespaces (/{file} is {value}), so the browser's sandbox may not start."
            );
            Finding::warning(
                CODE,
                sentence,
                format!(
                    "Run `{remedy}` as root, or install the browser from a package that brings its own permission."
                ),
            )
        }
        _ => Finding::ok(CODE, "The browser's sandbox is used."),
    }
}

fn has_helper(browser: &Path) -> bool {
    // A browser is often a link or a script in another directory than its helper.
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
    fn a_kernel_without_namespaces_is_told_with_its_switch() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(judge(root.path(), None, false).told()["verdict"], "ok");
        for (file, value, remedy) in SWITCHES {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("{value}\n")).unwrap();
            let told = judge(root.path(), None, false).told();
            assert_eq!(told["verdict"], "warning");
            assert!(told["remedy"].as_str().unwrap().contains(remedy), "{told}");
            assert_eq!(judge(root.path(), None, true).told()["verdict"], "ok", "a helper does without");
            fs::remove_file(&path).unwrap();
        }
        let told = judge(root.path(), Some(SandboxObstacle::Container), true).told();
        assert_eq!(told["verdict"], "warning");
    }
}
