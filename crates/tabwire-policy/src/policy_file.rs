//! The user's `policy.toml`, read from text. One mistake in it, and nothing of it is used.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::capability::{Capabilities, Capability};
use crate::limits::RULES;
use crate::site::{Site, SiteFault};

/// What is done where nothing was granted or denied, in guarded sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// Somebody is asked, if somebody is there.
    #[default]
    Ask,
    /// It is refused.
    Deny,
}

/// One rule of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The line it begins on.
    pub line: usize,
    /// Where it holds for what is allowed and asked about.
    pub site: Site,
    /// Where it holds for what is denied: without a scheme, every scheme.
    #[serde(skip)]
    pub(crate) denied_site: Site,
    /// What may be done there; reading is among it.
    pub allow: Capabilities,
    /// What somebody is asked about.
    pub ask: Capabilities,
    /// What may not be done there, whatever was granted.
    pub deny: Capabilities,
}

impl Rule {
    /// Whether the rule denies a capability; without reading nothing else is left.
    pub(crate) fn denies(&self, capability: Capability) -> bool {
        self.deny.has(capability) || self.deny.has(Capability::Read)
    }
}

/// A policy file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyFile {
    /// What is done where nothing was granted or denied.
    pub unlisted: Unlisted,
    /// Its rules.
    pub rules: Vec<Rule>,
}

/// Why a policy file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PolicyFileFault {
    /// The line.
    pub line: usize,
    /// What is wrong there.
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
    /// Reads the file's text.
    ///
    /// # Errors
    /// With the line, when anything in it is not understood.
    pub fn read(text: &str) -> Result<Self, PolicyFileFault> {
        let written: WrittenFile = toml::from_str(text).map_err(|error| PolicyFileFault {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            what: error.message().trim().to_owned(),
        })?;
        if written.rule.len() > RULES {
            let what = format!("there are more than {RULES} rules");
            return Err(PolicyFileFault { line: 1, what });
        }
        let rules = written.rule.into_iter().map(|rule| read_rule(text, rule)).collect::<Result<_, _>>()?;
        Ok(Self { unlisted: written.unlisted, rules })
    }
}

fn read_rule(text: &str, written: Spanned<WrittenRule>) -> Result<Rule, PolicyFileFault> {
    let line = line_of(text, written.span().start);
    let WrittenRule { site, allow, ask, deny } = written.into_inner();
    let at = line_of(text, site.span().start);
    let site = site.into_inner();
    let wrong =
        |fault: SiteFault| PolicyFileFault { line: at, what: format!("`{site}` is no site: {fault}") };
    if allow.is_empty() && ask.is_empty() && deny.is_empty() {
        let what = format!("the rule for `{site}` says nothing; give it allow, ask or deny");
        return Err(PolicyFileFault { line: at, what });
    }
    let denied_site = Site::read_denied(&site).map_err(wrong)?;
    let site = Site::read(&site).map_err(wrong)?;
    Ok(Rule { line, site, denied_site, allow: allow.with_reading(), ask, deny })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.get(..at.min(text.len())).map_or(0, |before| before.matches('\n').count())
}
