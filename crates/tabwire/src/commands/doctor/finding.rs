//! The result of one check.

use serde_json::{Value, json};
use tabwire_api::{Remedy, Step};

use crate::cli::help::wrap;

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

    /// The sentence, and below it the remedy. Lines break between words if a terminal has this width.
    pub(super) fn to_text(&self, width: Option<usize>) -> String {
        let label = if self.fixed { "fixed" } else { self.verdict_name() };
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT.len()).max(MIN_ROOM));
        let mut lines = wrap(&format!("{}: {}", self.code, self.sentence), room);
        lines.extend(self.remedy.iter().flat_map(|remedy| wrap(&remedy.for_terminal(), room)));
        format!("{label:<8} {}", lines.join(&format!("\n{INDENT}")))
    }
}

/// The width of the verdicts.
const INDENT: &str = "         ";

/// Columns that a narrow terminal gets at least.
const MIN_ROOM: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_fit_the_terminal() {
        let sentence = "a sentence of several words ".repeat(8);
        let finding = Finding::warning("code", sentence.trim(), "Do this, and then that. ".repeat(6).trim());
        let text = finding.to_text(Some(100));
        assert!(text.lines().count() > 3 && text.lines().all(|line| line.len() <= 100), "{text}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&finding.to_text(None)), "no word is broken");
        assert_eq!(finding.to_text(None).lines().count(), 2);
    }
}
