//! The result of one check.

use serde_json::{Value, json};
use tabwire_api::{Remedy, Step};

/// A remedy with one command of the user.
pub(super) fn run(sentence: &str, command: &str) -> Remedy {
    Remedy::new(sentence, [Step::command(command)])
}

/// A remedy with `tabwire doctor --fix`.
pub(super) fn run_fix(sentence: &str) -> Remedy {
    run(sentence, "tabwire doctor --fix")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    /// It works, with a risk or a limitation.
    Warning,
    /// It does not work, or is not safe.
    Wrong,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    code: &'static str,
    verdict: Verdict,
    sentence: String,
    remedy: Option<Remedy>,
    fixed: bool,
}

impl Finding {
    pub(super) fn ok(code: &'static str, sentence: impl Into<String>) -> Self {
        Self { code, verdict: Verdict::Ok, sentence: sentence.into(), remedy: None, fixed: false }
    }

    pub(super) fn warning(
        code: &'static str,
        sentence: impl Into<String>,
        remedy: impl Into<Remedy>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { code, verdict: Verdict::Warning, sentence: sentence.into(), remedy, fixed: false }
    }

    pub(super) fn wrong(code: &'static str, sentence: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self { verdict: Verdict::Wrong, ..Self::warning(code, sentence, remedy) }
    }

    pub(super) fn with_remedy(self, remedy: impl Into<Remedy>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// After a successful fix.
    pub(super) fn fixed_by(self, fix: &str) -> Self {
        let sentence = format!("{}; {fix}.", self.sentence.trim_end_matches('.'));
        Self { sentence, remedy: None, fixed: true, ..self }
    }

    /// After a failed fix.
    pub(super) fn not_fixed(self, reason: &str) -> Self {
        let sentence = format!("{}; the fix failed: {reason}.", self.sentence.trim_end_matches('.'));
        Self { sentence, ..self }
    }

    /// Applies the result of a fix.
    pub(super) fn after<E: std::fmt::Display>(self, attempt: Result<(), E>, fix: &str) -> Self {
        match attempt {
            Ok(()) => self.fixed_by(fix),
            Err(error) => self.not_fixed(error.to_string().trim_end_matches('.')),
        }
    }

    /// Wrong and not fixed.
    pub(super) fn is_wrong(&self) -> bool {
        self.verdict == Verdict::Wrong && !self.fixed
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "code": self.code,
            "verdict": self.verdict_name(),
            "sentence": self.sentence,
            "remedy": self.remedy.as_ref().map(Remedy::for_terminal),
            "fixed": self.fixed,
        })
    }

    const fn verdict_name(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Wrong => "wrong",
        }
    }

    /// One line, and a second one with the remedy.
    pub(super) fn to_text(&self) -> String {
        let label = if self.fixed { "fixed" } else { self.verdict_name() };
        let head = format!("{label:<8} {}: {}", self.code, self.sentence);
        match &self.remedy {
            Some(remedy) => format!("{head}\n         {}", remedy.for_terminal()),
            None => head,
        }
    }
}
