//! Fills the files of `packaging/`: `{{version}}` and the like become values.

use super::Release;
use crate::error::Error;

impl Release<'_> {
    /// A file of `packaging/` with its values.
    pub(super) fn filled(&self, path: &str, values: &[(&str, &str)]) -> Result<String, Error> {
        let path = format!("packaging/{path}");
        let text = self.repository.read(&path)?;
        let common = [("version", self.version.as_str())];
        let filled = common
            .iter()
            .chain(values)
            .fold(text, |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value));
        match filled.split_once("{{") {
            Some((_, rest)) => Err(Error::Malformed {
                path: self.repository.path(&path),
                problem: format!("no value for {{{{{}", rest.lines().next().unwrap_or_default()),
            }),
            None => Ok(filled),
        }
    }
}
