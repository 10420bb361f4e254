//! The page of error codes, from the one list in `tabwire-api`.

use std::fmt::Write;

use tabwire_api::ErrorCode;

use super::table_cell;

const HEAD: &str = "\
# Error codes

<!-- Written by `cargo xtask gen`. Do not edit: change crates/tabwire-api/src/error_code.rs instead. -->

Every failure carries one of these codes, the same on the command line, in JSON output and on the wire.
A command that succeeds exits with 0.

| Code | Meaning | Exit code |
|---|---|---|
";

/// The whole page.
pub(super) fn text() -> String {
    let mut page = HEAD.to_owned();
    for code in ErrorCode::ALL {
        let meaning = table_cell(code.meaning());
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{}` | {meaning} | {} |", code.as_str(), code.exit_code());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row() {
        let page = text();
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, ErrorCode::ALL.len());
        assert!(page.contains("| `TIMEOUT` | The deadline passed first. | 4 |"), "{page}");
    }
}
