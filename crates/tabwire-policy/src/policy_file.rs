//! The user's `policy.toml`. A file with one error is rejected as a whole.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::capability::{Capabilities, Capability};
use crate::limits::RULES;
use crate::site::{Site, SiteError};

/// What guarded sessions do on sites without a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// Ask the user, if an approval front end is connected.
    #[default]
    Ask,
    /// Deny.
    Deny,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The line it starts on.
    pub line: usize,
    /// The site for `allow` and `ask`.
    pub site: Site,
    /// The site for `deny`: without a scheme it covers every scheme.
    #[serde(skip)]
    pub(crate) denied_site: Site,
    /// Allowed capabilities; include reading.
    pub allow: Capabilities,
    /// Capabilities that need approval.
    pub ask: Capabilities,
    /// Denied capabilities; override grants.
    pub deny: Capabilities,
}

impl Rule {
    /// Whether the rule denies a capability. Denying `read` denies everything.
    pub(crate) fn denies(&self, capability: Capability) -> bool {
        self.deny.has(capability) || self.deny.has(Capability::Read)
    }
}

/// A parsed policy file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyFile {
    /// What guarded sessions do on sites without a rule.
    pub unlisted: Unlisted,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// Why a policy file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PolicyFileError {
    /// The line of the error.
    pub line: usize,
    /// The error.
    pub what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    #[serde(default)]
    unlisted: Unlisted,
    #[serde(default)]
    rule: Vec<Spanned<WrittenRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    site: Spanned<String>,
    #[serde(default)]
    allow: Capabilities,
    #[serde(default)]
    ask: Capabilities,
    #[serde(default)]
    deny: Capabilities,
}

impl PolicyFile {
    /// Parses the file.
    ///
    /// # Errors
    /// With the line of the error.
    pub fn parse(text: &str) -> Result<Self, PolicyFileError> {
        let written: WrittenFile = toml::from_str(text).map_err(|error| PolicyFileError {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            what: error.message().trim().to_owned(),
        })?;
        if written.rule.len() > RULES {
            let what = format!("there are more than {RULES} rules");
            return Err(PolicyFileError { line: 1, what });
        }
        let rules = written.rule.into_iter().map(|rule| parse_rule(text, rule)).collect::<Result<_, _>>()?;
        Ok(Self { unlisted: written.unlisted, rules })
    }
}

fn parse_rule(text: &str, written: Spanned<WrittenRule>) -> Result<Rule, PolicyFileError> {
    let line = line_of(text, written.span().start);
    let WrittenRule { site, allow, ask, deny } = written.into_inner();
    let at = line_of(text, site.span().start);
    let site = site.into_inner();
    let wrong =
        |fault: SiteError| PolicyFileError { line: at, what: format!("`{site}` is not a site: {fault}") };
    if allow.is_empty() && ask.is_empty() && deny.is_empty() {
        let what = format!("the rule for `{site}` is empty; add allow, ask or deny");
        return Err(PolicyFileError { line: at, what });
    }
    let denied_site = Site::parse_denied(&site).map_err(wrong)?;
    let site = Site::parse(&site).map_err(wrong)?;
    Ok(Rule { line, site, denied_site, allow: allow.with_reading(), ask, deny })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.get(..at.min(text.len())).map_or(0, |before| before.matches('\n').count())
}
