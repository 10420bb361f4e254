//! `log`: what was asked of Tabwire, by whom and with what result, read straight from the journal.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;
use tabwire_journal::{Filter, JournalError, Reader, RowNumber, parse_moment};
use tabwire_wire::{ErrorCode, Failure, SessionName};

use super::log_lines::{describe, heading, line};
use super::{Context, log_export, log_follow};
use crate::cli::parse_duration;

/// What `log` takes.
#[derive(Debug, Args)]
pub(crate) struct LogFlags {
    #[command(subcommand)]
    command: Option<LogCommand>,
    /// Print this many last rows.
    #[arg(long = "rows", short = 'n', value_name = "ROWS", default_value_t = 50)]
    rows: u32,
    /// Go on printing rows as they come; ends with Ctrl-C.
    #[arg(long, short)]
    follow: bool,
    /// Only what this client asked: its name, program or process number.
    #[arg(long, global = true, value_name = "CLIENT")]
    client: Option<String>,
    /// Only this action; also `open`, `close`, `cdp_connect` and `cdp_disconnect`.
    #[arg(long, global = true, value_name = "ACTION")]
    action: Option<String>,
    /// Only what was asked since then: `10m`, `2h`, `1d`, or a moment such as `2026-01-31T12:00` (universal time).
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_since)]
    since: Option<i64>,
    /// Only what failed.
    #[arg(long, global = true)]
    failed: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Print everything of one row.
    Show {
        /// The row's number.
        number: i64,
    },
    /// Write all rows that match, one JSON object a line.
    Export {
        /// The file; standard output if left out or `-`.
        file: Option<PathBuf>,
        /// Write comma-separated values.
        #[arg(long)]
        csv: bool,
    },
}

/// Reads `10m` as a time ago, anything else as a moment.
fn parse_since(text: &str) -> Result<i64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = match parse_duration(text) {
        Ok(ago) => i64::try_from(now.saturating_sub(ago).as_millis()).ok(),
        Err(_) => parse_moment(text),
    };
    since.ok_or_else(|| "expected a time ago, e.g. 10m or 1d, or a moment, e.g. 2026-01-31T12:00".to_owned())
}

pub(super) fn run(context: &Context<'_>, named: Option<SessionName>, flags: LogFlags) -> Result<(), Failure> {
    let filter = Filter {
        session: named,
        client: flags.client,
        action: flags.action,
        since_ms: flags.since,
        failed: flags.failed,
        after: None,
    };
    match flags.command {
        Some(_) if flags.follow => {
            Err(Failure::new(ErrorCode::BadArgs, "Only the list of rows can be followed.")
                .with_hint("Leave out --follow, or `show` and `export`."))
        }
        Some(LogCommand::Show { number }) => show(context, RowNumber(number)),
        Some(LogCommand::Export { file, csv }) => log_export::run(context, filter, file, csv),
        None if flags.follow => log_follow::run(context, filter, flags.rows),
        None => list(context, &filter, flags.rows),
    }
}

fn list(context: &Context<'_>, filter: &Filter, count: u32) -> Result<(), Failure> {
    let Some(reader) = find_reader(context)? else {
        context.printer.notice("Nothing has been recorded yet.");
        return Ok(());
    };
    let rows = reader.last(filter, count).map_err(|error| unreadable(context, &error))?;
    if rows.is_empty() {
        context.printer.notice("No row matches.");
    }
    let mut lines: Vec<String> = Vec::with_capacity(rows.len() + 1);
    if !context.printer.is_json() && !rows.is_empty() {
        lines.push(heading());
    }
    lines.extend(rows.iter().map(|row| line(row, context.printer.is_json())));
    lines.iter().try_for_each(|line| write_line(context, line).map(|_| ()))
}

fn show(context: &Context<'_>, number: RowNumber) -> Result<(), Failure> {
    let missing = |hint: String| {
        Failure::new(ErrorCode::BadArgs, format!("The journal has no row {number}.")).with_hint(hint)
    };
    let nothing = || missing("Nothing has been recorded yet.".to_owned());
    let reader = find_reader(context)?.ok_or_else(nothing)?;
    let failed = |error: JournalError| unreadable(context, &error);
    match reader.find(number).map_err(failed)? {
        Some(row) => {
            context.printer.answer(&json!(row), || describe(&row));
            Ok(())
        }
        None => Err(match reader.ends().map_err(failed)? {
            Some((first, last)) => missing(format!("It has rows {first} to {last}.")),
            None => nothing(),
        }),
    }
}

/// The journal, if there is one.
pub(super) fn find_reader(context: &Context<'_>) -> Result<Option<Reader>, Failure> {
    match Reader::open(&context.environment.paths.journal()) {
        Ok(reader) => {
            if reader.is_behind() {
                context.printer.warning(
                    "The newest rows are missing: the daemon has them, and cannot get them into the journal. Run `tabwire doctor`.",
                );
            }
            Ok(Some(reader))
        }
        Err(JournalError::Missing) => Ok(None),
        Err(error) => Err(unreadable(context, &error)),
    }
}

pub(super) fn unreadable(context: &Context<'_>, error: &JournalError) -> Failure {
    let path = context.environment.paths.journal();
    let (code, hint) = match error {
        JournalError::Newer { .. } => {
            (ErrorCode::VersionMismatch, "Read it with the newer tabwire that wrote it.")
        }
        JournalError::Older { .. } => {
            (ErrorCode::VersionMismatch, "Run `tabwire daemon start`: the daemon brings it up to date.")
        }
        JournalError::Damaged => {
            (ErrorCode::Internal, "The daemon sets it aside and begins a new one with its next row.")
        }
        _ => (ErrorCode::Internal, "Run `tabwire doctor`."),
    };
    Failure::new(code, format!("The journal {} cannot be read: {error}.", path.display())).with_hint(hint)
}

/// Prints a line at once; whether somebody still reads.
pub(super) fn write_line(context: &Context<'_>, line: &str) -> Result<bool, Failure> {
    match context.printer.try_line(line) {
        Ok(reader) => Ok(reader == crate::printer::Reader::There),
        Err(error) => Err(Failure::new(ErrorCode::Internal, format!("The rows cannot be printed: {error}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_ago_or_as_a_moment() {
        assert_eq!(parse_since("1970-01-01T00:00:02Z"), Ok(2_000));
        let (hour, day) = (parse_since("1h").expect("a time"), parse_since("1d").expect("a time"));
        assert!((82_799_000..=82_801_000).contains(&(hour - day)), "{hour} {day}");
        assert!(parse_since("yesterday").is_err());
    }
}
