//! What a project's file may set: somebody else wrote it, so it decides nothing that reaches beyond the project (T36).
//! Knows nothing of files and lines.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use tabwire_browser::AttachAddress;
use url::Url;

use super::setting::Kind;
use super::value::Value;

/// Whether a project's file may set something.
#[derive(Debug)]
pub(crate) enum ProjectRule {
    /// It may.
    May,
    /// It may not.
    Never {
        /// Why not, as the end of a sentence.
        why: &'static str,
    },
    /// It depends on the value.
    Judged {
        /// Says why a value may not be set.
        judge: fn(&Judged<'_>) -> Result<(), &'static str>,
        /// What is left, in a few words.
        limits: &'static str,
    },
}

/// A value that a project's file sets, and what it is judged by.
pub(crate) struct Judged<'a> {
    pub(crate) value: &'a Value,
    pub(crate) kind: Kind,
    /// The project's directory.
    pub(crate) root: &'a Path,
    /// What holds without the project.
    pub(crate) before: Option<&'a Value>,
}

impl ProjectRule {
    /// Says why a project may not set a value, if it may not.
    pub(crate) fn judge(&self, judged: &Judged<'_>) -> Result<(), &'static str> {
        match self {
            Self::May => Ok(()),
            Self::Never { why } => Err(why),
            Self::Judged { judge, .. } => judge(judged),
        }
    }
}

/// A kind or a channel; a path would run a program of the project's choice.
pub(crate) fn no_executable(judged: &Judged<'_>) -> Result<(), &'static str> {
    match judged.value {
        Value::Text(text) if !text.contains('/') => Ok(()),
        _ => Err("it would choose a program to run"),
    }
}

/// A name, or a directory of the project.
pub(crate) fn inside_if_path(judged: &Judged<'_>) -> Result<(), &'static str> {
    match judged.value {
        Value::Text(text) if !text.contains('/') => Ok(()),
        Value::Text(text) if is_inside(judged.root, Path::new(text)) => Ok(()),
        _ => Err("the directory is outside of the project"),
    }
}

/// Directories of the project.
pub(crate) fn inside(judged: &Judged<'_>) -> Result<(), &'static str> {
    match judged.value {
        Value::List(parts) if parts.iter().all(|part| is_inside(judged.root, Path::new(part))) => Ok(()),
        _ => Err("a directory is outside of the project"),
    }
}

/// A browser that this machine's loopback address reaches.
pub(crate) fn loopback_browser(judged: &Judged<'_>) -> Result<(), &'static str> {
    let Value::Text(text) = judged.value else { return Err("it is no address") };
    match AttachAddress::parse(text) {
        Ok(AttachAddress::Http(url) | AttachAddress::Websocket(url)) if is_loopback(&url) => Ok(()),
        Ok(AttachAddress::Http(_) | AttachAddress::Websocket(_)) => Err("the address is not on this machine"),
        _ => Err("it would attach to a browser with logins of yours"),
    }
}

/// A proxy on this machine.
pub(crate) fn loopback_address(judged: &Judged<'_>) -> Result<(), &'static str> {
    let Value::Text(text) = judged.value else { return Err("it is no address") };
    let with_scheme = if text.contains("://") { text.clone() } else { format!("http://{text}") };
    // Chromium also takes lists, e.g. `http=a;https=b`; they are no addresses and refused.
    if Url::parse(&with_scheme).is_ok_and(|url| is_loopback(&url)) {
        Ok(())
    } else {
        Err("all traffic would go to another machine")
    }
}

/// Nothing wider than what holds without the project.
pub(crate) fn no_wider(judged: &Judged<'_>) -> Result<(), &'static str> {
    let Kind::Choice(words) = judged.kind else { return Err("it cannot be compared") };
    let place = |value: &Value| match value {
        Value::Text(text) => words.iter().position(|word| word == text),
        _ => None,
    };
    match (place(judged.value), judged.before.and_then(place)) {
        (Some(wish), Some(before)) if wish <= before => Ok(()),
        _ => Err("it would allow more than you do"),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

/// Whether a path is in a directory after links are followed, as far as it exists.
fn is_inside(root: &Path, path: &Path) -> bool {
    let (Ok(root), Some(real)) = (root.canonicalize(), resolved(path)) else { return false };
    real.starts_with(root)
}

/// The real path of what exists, with the rest as written; the rest has no `..` any more.
fn resolved(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    // A dangling link exists and cannot be resolved.
    let real = existing.canonicalize().ok()?;
    Some(real.join(path.strip_prefix(existing).ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::setting::{Key, find_setting};

    fn judge(key: Key, value: Value, root: &Path, before: Option<&Value>) -> Result<(), &'static str> {
        let setting = key.setting();
        let value = value.seen_from(setting.kind, root, Some(Path::new("/elsewhere/somebody")));
        setting.project.judge(&Judged { value: &value, kind: setting.kind, root, before })
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn t36_a_project_chooses_no_program_and_no_flag() {
        let root = Path::new("/");
        for (browser, may) in
            [("chromium", true), ("chrome-beta", true), ("./run", false), ("/bin/sh", false), ("~/x", false)]
        {
            assert_eq!(judge(Key::Browser, text(browser), root, None).is_ok(), may, "{browser}");
        }
        for name in ["browser_args", "allow_dangerous_browser_args", "cdp_headers", "port", "linger", "log"] {
            let setting = find_setting(name).expect("a setting");
            assert!(matches!(setting.project, ProjectRule::Never { .. }), "{name}");
        }
    }

    #[test]
    fn t36_a_project_reaches_no_other_machine() {
        let root = Path::new("/p");
        for (address, may) in [
            ("9222", true),
            ("http://127.0.0.1:9222", true),
            ("ws://[::1]:9222/devtools/browser/x", true),
            ("localhost:9222", true),
            ("ws://10.0.0.1:9222/x", false),
            ("wss://127.0.0.1.evil.example/x", false),
            ("http://user@evil.example:9222", false),
            ("chrome", false),
            ("/elsewhere/somebody/.config/chromium", false),
        ] {
            assert_eq!(judge(Key::Cdp, text(address), root, None).is_ok(), may, "{address}");
        }
        for (proxy, may) in [
            ("http://127.0.0.1:8080", true),
            ("localhost:8080", true),
            ("socks5://[::1]:1080", true),
            ("http://evil.example:8080", false),
            ("http=evil.example;https=127.0.0.1", false),
        ] {
            assert_eq!(judge(Key::Proxy, text(proxy), root, None).is_ok(), may, "{proxy}");
        }
    }

    #[test]
    fn t36_a_project_stays_in_its_directory() {
        let home = tempfile::tempdir().expect("a directory");
        let root = home.path().join("project");
        std::fs::create_dir_all(root.join("data")).expect("a directory");
        std::fs::create_dir_all(home.path().join("other")).expect("a directory");
        symlink(home.path().join("other"), root.join("way-out")).expect("a link");
        symlink("/nowhere/at/all", root.join("dangling")).expect("a link");
        for (path, may) in [
            ("data", true),
            ("not/there/yet", true),
            (".", true),
            ("..", false),
            ("../other", false),
            ("data/../../other", false),
            ("way-out", false),
            ("way-out/deeper", false),
            ("dangling", false),
            ("/etc", false),
            ("~/x", false),
        ] {
            let roots = Value::List(vec![path.to_owned()]);
            assert_eq!(judge(Key::Roots, roots, &root, None).is_ok(), may, "{path}");
            let profile = if path.contains('/') { path.to_owned() } else { format!("./{path}") };
            assert_eq!(judge(Key::Profile, text(&profile), &root, None).is_ok(), may, "{profile}");
        }
        assert!(judge(Key::Profile, text("work"), &root, None).is_ok());
    }

    #[test]
    fn t36_a_project_narrows_and_never_widens() {
        let root = Path::new("/p");
        let (open, guarded) = (text("open"), text("guarded"));
        for (wish, before, may) in [
            (&guarded, Some(&open), true),
            (&open, Some(&open), true),
            (&guarded, Some(&guarded), true),
            (&open, Some(&guarded), false),
            (&open, None, false),
        ] {
            assert_eq!(judge(Key::Policy, wish.clone(), root, before).is_ok(), may, "{wish:?} {before:?}");
        }
    }
}
