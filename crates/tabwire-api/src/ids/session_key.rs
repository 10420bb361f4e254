//! Identifies one session of a user: by project and name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ProjectKey, SessionName};

/// Identifies one session of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKey {
    /// The project it belongs to.
    pub project: ProjectKey,
    /// Its name in the project.
    pub name: SessionName,
}

impl SessionKey {
    /// The session of that name in a project.
    #[must_use]
    pub const fn new(project: ProjectKey, name: SessionName) -> Self {
        Self { project, name }
    }

    /// Parses the text form: `name`, or `project/name`.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let (project, name) = match text.split_once('/') {
            None => (ProjectKey::global(), text),
            Some((project, name)) => (ProjectKey::new(project).ok()?, name),
        };
        Some(Self { project, name: SessionName::new(name).ok()? })
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.project.is_global() {
            return formatter.pad(self.name.as_str());
        }
        formatter.pad(&format!("{}/{}", self.project, self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::SessionKey;

    #[test]
    fn the_text_form_names_one_session() {
        for text in ["default", "shop-00c0ffee/default", "shop-00c0ffee/a.b"] {
            assert_eq!(SessionKey::find(text).expect(text).to_string(), text);
        }
        assert_eq!(SessionKey::find("global/a").expect("a key").to_string(), "a");
        for bad in ["", "/", "a/", "/a", "A/b", "a/b/c", "../a"] {
            assert_eq!(SessionKey::find(bad), None, "{bad}");
        }
    }
}
