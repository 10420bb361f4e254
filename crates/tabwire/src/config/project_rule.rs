//! Checks what a project file may set. Another person wrote it, so it has no effect beyond the project (T36).

use std::path::{Path, PathBuf};

use tabwire_api::api::PolicyProfile;

use super::value::Value;

/// Whether a project file may set a value.
#[derive(Debug)]
pub(crate) enum ProjectRule {
    /// Every value is allowed.
    May,
    /// No value is allowed.
    Never {
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// It depends on the value.
    Judged {
        /// Returns the reason when a value is refused.
        judge: fn(&ProjectValue<'_>) -> Result<(), &'static str>,
        /// What is allowed, in a few words.
        limits: &'static str,
    },
}

/// A value that a project file sets, and the context of the decision.
pub(crate) struct ProjectValue<'a> {
    pub(crate) value: &'a Value,
    /// The project's directory.
    pub(crate) root: &'a Path,
    /// The value in the user file.
    pub(crate) before: Option<&'a Value>,
}

impl ProjectRule {
    /// Returns the reason when a project may not set a value.
    pub(crate) fn judge(&self, judged: &ProjectValue<'_>) -> Result<(), &'static str> {
        match self {
            Self::May => Ok(()),
            Self::Never { why } => Err(why),
            Self::Judged { judge, .. } => judge(judged),
        }
    }
}

/// Allows only `guarded`: a project may restrict the user's policy, never extend it.
pub(crate) fn only_guarded(judged: &ProjectValue<'_>) -> Result<(), &'static str> {
    match judged.value {
        Value::Text(text) if text == PolicyProfile::Guarded.as_str() => Ok(()),
        _ => Err("it may allow more than you intend"),
    }
}

/// Allows only turning a limit on.
pub(crate) fn only_on(judged: &ProjectValue<'_>) -> Result<(), &'static str> {
    match judged.value {
        Value::Switch(true) => Ok(()),
        _ => Err("it would lift a limit"),
    }
}

/// Allows only a time that is not longer than the user's.
pub(crate) fn no_longer(judged: &ProjectValue<'_>) -> Result<(), &'static str> {
    match (judged.value, judged.before) {
        (Value::Time(wanted), Some(Value::Time(before))) if wanted > before => Err("it is longer than yours"),
        (Value::Time(_), _) => Ok(()),
        _ => Err("it is not a time"),
    }
}

/// Allows directories in the project and in the user's own roots.
pub(crate) fn inside(judged: &ProjectValue<'_>) -> Result<(), &'static str> {
    let Value::List(parts) = judged.value else { return Err("it is not a list of directories") };
    for part in parts.iter().map(Path::new) {
        let Some(below) = below(judged.root, part) else {
            return Err("a directory is outside of the project");
        };
        if below.components().any(|name| name.as_os_str().as_encoded_bytes().starts_with(b".")) {
            return Err("a directory whose name begins with a dot holds tools' configuration");
        }
        if let Some(Value::List(own)) = judged.before
            && !own.iter().any(|own| self::below(Path::new(own), part).is_some())
        {
            return Err("a directory is outside of your own roots");
        }
    }
    Ok(())
}

/// The path relative to a root, with links resolved; `None` outside of it.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    resolved(path)?.strip_prefix(root).ok().map(Path::to_owned)
}

/// The real path of the existing part, with the rest as written and without `..`.
fn resolved(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    // A dangling link exists and cannot be resolved.
    let real = existing.canonicalize().ok()?;
    Some(real.join(path.strip_prefix(existing).ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;
    use crate::config::setting::{Key, Setting};
    use crate::config::settings::SETTINGS;

    fn judge(key: Key, value: Value, root: &Path, before: Option<&Value>) -> Result<(), &'static str> {
        let setting = key.setting();
        let value = value.seen_from(setting.kind, root, Some(Path::new("/elsewhere/user")));
        setting.project.judge(&ProjectValue { value: &value, root, before })
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn c3_l7_a_project_may_set_exactly_these() {
        let is_allowed = |setting: &&Setting| !matches!(setting.project, ProjectRule::Never { .. });
        let allowed: Vec<_> = SETTINGS.iter().filter(is_allowed).map(|setting| setting.name).collect();
        let limited =
            ["headed", "policy", "roots", "session", "single_client", "timeout", "viewport", "window"];
        let mut expected = [&["base_url"][..], &limited].concat();
        expected.sort_unstable();
        let mut sorted = allowed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "a project may not set what grants, chooses or runs something");
    }

    #[test]
    fn c3_a_project_may_only_set_the_guarded_policy() {
        let root = Path::new("/p");
        let (open, guarded) = (text("open"), text("guarded"));
        for before in [None, Some(&open), Some(&guarded)] {
            assert!(judge(Key::Policy, guarded.clone(), root, before).is_ok(), "{before:?}");
            assert!(judge(Key::Policy, open.clone(), root, before).is_err(), "{before:?}");
        }
    }

    #[test]
    fn c3_a_project_may_only_lower_limits() {
        let root = Path::new("/p");
        let time = |seconds| Value::Time(Duration::from_secs(seconds));
        for (wanted, before, may) in
            [(5, Some(10), true), (10, Some(10), true), (11, Some(10), false), (90, None, true)]
        {
            let before = before.map(time);
            assert_eq!(judge(Key::Timeout, time(wanted), root, before.as_ref()).is_ok(), may, "{wanted}");
        }
        assert!(judge(Key::SingleClient, Value::Switch(true), root, None).is_ok());
        assert!(judge(Key::SingleClient, Value::Switch(false), root, None).is_err());
    }

    #[test]
    fn t36_project_roots_stay_in_its_directory() {
        let home = tempfile::tempdir().expect("a directory");
        let root = home.path().join("project");
        for folder in ["project/data", "project/.git", "other"] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a directory");
        }
        symlink(home.path().join("other"), root.join("way-out")).expect("a link");
        symlink(root.join(".git"), root.join("way-to-hooks")).expect("a link");
        symlink("/nowhere/at/all", root.join("dangling")).expect("a link");
        let own = Value::List(vec![root.join("data").display().to_string()]);
        for (path, may, may_below_own) in [
            ("data", true, true),
            ("data/deeper", true, true),
            ("not/there/yet", true, false),
            (".", true, false),
            ("..", false, false),
            ("../other", false, false),
            ("data/../../other", false, false),
            ("way-out", false, false),
            ("way-out/deeper", false, false),
            ("dangling", false, false),
            (".git", false, false),
            ("data/.hidden", false, false),
            ("way-to-hooks", false, false),
            ("/etc", false, false),
            ("~/x", false, false),
        ] {
            let roots = Value::List(vec![path.to_owned()]);
            assert_eq!(judge(Key::Roots, roots.clone(), &root, None).is_ok(), may, "{path}");
            assert_eq!(judge(Key::Roots, roots, &root, Some(&own)).is_ok(), may_below_own, "{path}");
        }
    }
}
