//! One thing that was looked at, and what is to be said of it. Knows nothing of how it was found.

use serde_json::{Value, json};

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    /// Works, but the user should know.
    Warning,
    /// Does not work, or is not safe.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    code: &'static str,
    verdict: Verdict,
    sentence: String,
    remedy: Option<String>,
    fixed: bool,
}

impl Finding {
    pub(super) fn ok(code: &'static str, sentence: impl Into<String>) -> Self {
        Self { code, verdict: Verdict::Ok, sentence: sentence.into(), remedy: None, fixed: false }
    }

    pub(super) fn warning(
        code: &'static str,
        sentence: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { code, verdict: Verdict::Warning, sentence: sentence.into(), remedy, fixed: false }
    }

    pub(super) fn wrong(code: &'static str, sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { verdict: Verdict::Wrong, ..Self::warning(code, sentence, remedy) }
    }

    /// The same with a hint, however it is.
    pub(super) fn with_hint(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same after it was put right.
    pub(super) fn mended(self, done: &str) -> Self {
        let sentence = format!("{}; {done}.", self.sentence.trim_end_matches('.'));
        Self { sentence, remedy: None, fixed: true, ..self }
    }

    /// The same after an attempt to put it right, if that failed.
    pub(super) fn not_mended(self, why: &str) -> Self {
        let sentence = format!("{}; it could not be mended: {why}.", self.sentence.trim_end_matches('.'));
        Self { sentence, ..self }
    }

    /// Mended or not, as the attempt went.
    pub(super) fn after<E: std::fmt::Display>(self, attempt: Result<(), E>, done: &str) -> Self {
        match attempt {
            Ok(()) => self.mended(done),
            Err(error) => self.not_mended(error.to_string().trim_end_matches('.')),
        }
    }

    /// Whether something does not work still.
    pub(super) fn is_wrong(&self) -> bool {
        self.verdict == Verdict::Wrong && !self.fixed
    }

    pub(super) fn told(&self) -> Value {
        json!({
            "code": self.code,
            "verdict": self.verdict_word(),
            "sentence": self.sentence,
            "remedy": self.remedy,
            "fixed": self.fixed,
        })
    }

    const fn verdict_word(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Wrong => "wrong",
        }
    }

    /// A line for people, and a second one with the remedy.
    pub(super) fn described(&self) -> String {
        let word = if self.fixed { "fixed" } else { self.verdict_word() };
        let head = format!("{word:<8} {}: {}", self.code, self.sentence);
        match &self.remedy {
            Some(remedy) => format!("{head}\n         {remedy}"),
            None => head,
        }
    }
}
