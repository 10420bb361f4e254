//! `log`: prints the audit log: requests, their clients and their results.

mod export;
mod export_html;
pub(crate) mod follow;
mod rows;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;
use tabwire_api::{ErrorCode, Failure};
use tabwire_audit::{AuditError, Filter, Reader, RowNumber, parse_moment};

use self::rows::{describe, heading, line};
use crate::cli::parse_duration;
use crate::commands::Context;
use crate::output::table::terminal_width;

/// Options of `log`.
#[derive(Debug, Args)]
pub(crate) struct LogFlags {
    #[command(subcommand)]
    command: Option<LogCommand>,
    /// Number of last rows.
    #[arg(long = "rows", short = 'n', value_name = "ROWS", default_value_t = 50)]
    rows: u32,
    /// Print new rows as they come, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
    /// Only rows of this client: name, program or process id.
    #[arg(long, global = true, value_name = "CLIENT")]
    client: Option<String>,
    /// Only rows of this action; also `open`, `close`, `cdp_connect` and `cdp_disconnect`.
    #[arg(long, global = true, value_name = "ACTION")]
    action: Option<String>,
    /// Only the row of this run of a script and those of its calls.
    #[arg(long, global = true, value_name = "RUN")]
    run: Option<String>,
    /// Only rows since then: `10m`, `2h`, `1d`, or a time such as `2026-01-31T12:00` (UTC).
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_since)]
    since: Option<i64>,
    /// Only failures.
    #[arg(long, global = true)]
    failed: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Print one row in full.
    Show {
        /// The row's number.
        number: i64,
    },
    /// Write all matching rows, one JSON object per line.
    Export {
        /// The file; `-` is standard output (default).
        file: Option<PathBuf>,
        /// Write CSV.
        #[arg(long)]
        csv: bool,
        /// Write one HTML file with the screenshots of the trail, which opens without a network. Needs --session.
        #[arg(long, conflicts_with = "csv")]
        html: bool,
    },
}

/// Reads `10m` as a time ago, anything else as a moment.
fn parse_since(text: &str) -> Result<i64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = match parse_duration(text) {
        Ok(ago) => i64::try_from(now.saturating_sub(ago).as_millis()).ok(),
        Err(_) => parse_moment(text),
    };
    since
        .ok_or_else(|| "expected a duration such as 10m or 1d, or a time such as 2026-01-31T12:00".to_owned())
}

pub(super) fn run(context: &Context<'_>, flags: LogFlags) -> Result<(), Failure> {
    let filter = Filter {
        session: context.named_session.clone(),
        client: flags.client,
        action: flags.action,
        run: flags.run,
        since_ms: flags.since,
        failed: flags.failed,
        ..Filter::default()
    };
    match flags.command {
        Some(_) if flags.follow => {
            Err(Failure::new(ErrorCode::BadArgs, "Only the list of rows can be followed.")
                .with_remedy("Leave out --follow, or `show` and `export`."))
        }
        Some(LogCommand::Show { number }) => show(context, RowNumber(number)),
        Some(LogCommand::Export { file, html: true, .. }) => export_html::run(context, filter, file),
        Some(LogCommand::Export { file, csv, .. }) => export::run(context, filter, file, csv),
        None if flags.follow => follow::run(context, filter, flags.rows),
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
        lines.push(heading(terminal_width()));
    }
    lines.extend(rows.iter().map(|row| line(row, context.printer.is_json(), terminal_width())));
    lines.iter().try_for_each(|line| write_line(context, line).map(|_| ()))
}

fn show(context: &Context<'_>, number: RowNumber) -> Result<(), Failure> {
    let missing = |hint: String| {
        Failure::new(ErrorCode::BadArgs, format!("The audit log has no row {number}.")).with_remedy(hint)
    };
    let nothing = || missing("Nothing has been recorded yet.".to_owned());
    let reader = find_reader(context)?.ok_or_else(nothing)?;
    let failed = |error: AuditError| unreadable(context, &error);
    match reader.find(number).map_err(failed)? {
        Some(row) => {
            context.printer.result(&json!(row), || describe(&row));
            Ok(())
        }
        None => Err(match reader.ends().map_err(failed)? {
            Some((first, last)) => missing(format!("It has rows {first} to {last}.")),
            None => nothing(),
        }),
    }
}

/// A reader of the audit log; `None` when it does not exist.
pub(super) fn find_reader(context: &Context<'_>) -> Result<Option<Reader>, Failure> {
    match Reader::open(&context.environment.paths.audit_log()) {
        Ok(reader) => Ok(Some(reader)),
        Err(AuditError::Missing) => Ok(None),
        Err(error) => Err(unreadable(context, &error)),
    }
}

pub(super) fn unreadable(context: &Context<'_>, error: &AuditError) -> Failure {
    let path = context.environment.paths.audit_log();
    let (code, hint) = match error {
        AuditError::Newer { .. } => {
            (ErrorCode::VersionMismatch, "Read it with the newer tabwire that wrote it.")
        }
        AuditError::Older { .. } => {
            (ErrorCode::VersionMismatch, "Run `tabwire daemon start`: the daemon migrates it.")
        }
        AuditError::Damaged => {
            (ErrorCode::Internal, "The daemon quarantines it and creates a new one with its next row.")
        }
        _ => (ErrorCode::Internal, "Run `tabwire doctor`."),
    };
    Failure::new(code, format!("The audit log {} cannot be read: {error}.", path.display())).with_remedy(hint)
}

/// Prints a line. Returns whether the reader is still there.
pub(super) fn write_line(context: &Context<'_>, line: &str) -> Result<bool, Failure> {
    match context.printer.try_line(line) {
        Ok(reader) => Ok(reader == crate::output::printer::Reader::There),
        Err(error) => Err(Failure::new(ErrorCode::Internal, format!("The rows cannot be printed: {error}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_durations_or_timestamps() {
        assert_eq!(parse_since("1970-01-01T00:00:02Z"), Ok(2_000));
        let (hour, day) = (parse_since("1h").expect("a time"), parse_since("1d").expect("a time"));
        assert!((82_799_000..=82_801_000).contains(&(hour - day)), "{hour} {day}");
        assert!(parse_since("yesterday").is_err());
    }
}
