//! Whether the journal can be read.

use tabwire_journal::{Filter, JournalError, Reader, set_aside};

use super::Visit;
use super::daemon::{Pulse, Stillness};
use super::finding::Finding;

const CODE: &str = "journal";

pub(super) fn check(visit: &Visit<'_>) -> Finding {
    let path = visit.paths().journal();
    let shown = path.display();
    let read = Reader::open(&path).and_then(|reader| {
        reader.last(&Filter::default(), 1)?;
        Ok((reader.is_behind(), reader.ends()?))
    });
    let error = match read {
        Ok((true, _)) => {
            return Finding::warning(
                CODE,
                format!("The newest rows are not in the journal {shown} yet: they wait beside it."),
                "See whether another program holds it open; `tabwire daemon stop` brings them in.",
            );
        }
        Ok((false, None)) | Err(JournalError::Missing) => return Finding::ok(CODE, "Nothing is in it yet."),
        Ok((false, Some(_))) | Err(JournalError::Older { .. }) => {
            return Finding::ok(CODE, "It can be read.");
        }
        Err(error) => error,
    };
    let sentence = format!("The journal {shown} cannot be used: {error}.");
    match error {
        JournalError::Newer { .. } => Finding::warning(
            CODE,
            sentence,
            "Read it with the newer tabwire; the next daemon of this version sets it aside.",
        ),
        JournalError::Damaged => {
            let finding = Finding::wrong(
                CODE,
                sentence,
                "Run `tabwire doctor --fix` to set it aside; a new one is begun.",
            );
            if visit.fix { put_aside(visit, finding, error) } else { finding }
        }
        JournalError::Full => Finding::wrong(CODE, sentence, "Free some room on the disk."),
        _ => Finding::wrong(
            CODE,
            sentence,
            format!("Look at it (`ls -l {shown}`), and move it away if it is not yours."),
        ),
    }
}

fn put_aside(visit: &Visit<'_>, finding: Finding, reason: JournalError) -> Finding {
    let held = Stillness::hold(visit.paths());
    if !matches!(visit.pulse, Pulse::Absent) || held.is_none() {
        let finding = finding.with_hint("Run `tabwire daemon stop`, then `tabwire doctor --fix`; or wait: the daemon sets it aside by itself with its next row.");
        return finding.not_mended("the daemon has it open");
    }
    match set_aside(&visit.paths().journal(), reason) {
        Ok(aside) => finding.mended(&format!("it is now {}", aside.path.display())),
        Err(error) => finding.not_mended(&error.to_string()),
    }
}
