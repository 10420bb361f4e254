//! The page of limits, from the doc comments and values of every crate's `limits.rs`: the constants that are `pub` and not
//! `#[doc(hidden)]`.
//!
//! Reads those files as text, so that the page needs no build of the crates.

use std::fmt::Write;

use super::table_cell;
use crate::source::source_tree::SourceTree;

const HEAD: &str = "\
# Limits

<!-- Written by `cargo xtask gen`. Do not edit: change the limits.rs of the crate instead. -->

Every wait has a deadline and every queue a bound. These are the values that users can notice, crate by crate.
";

/// Marks a constant that is `pub` for tests alone.
const HIDDEN: &str = "#[doc(hidden)]";

/// One documented constant.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    name: String,
    value: String,
    doc: String,
}

/// The whole page.
pub(super) fn text(tree: &SourceTree) -> String {
    let mut page = HEAD.to_owned();
    for file in tree.files() {
        let Some(crate_name) = crate_with_limits(&file.path) else { continue };
        let limits = parse(&file.text);
        if limits.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {crate_name}\n\n| Limit | Value | Why |\n|---|---|---|\n");
        for limit in limits {
            let (value, doc) = (table_cell(&limit.value), table_cell(&limit.doc));
            let _ = writeln!(page, "| `{}` | {value} | {doc} |", limit.name);
        }
    }
    page
}

fn crate_with_limits(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/src/limits.rs")?;
    (!name.contains('/')).then_some(name)
}

fn parse(text: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut doc = String::new();
    let mut is_hidden = false;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(words) = line.strip_prefix("///") {
            doc.push_str(words);
            doc.push(' ');
        } else if let Some(start) = line.strip_prefix("pub const ") {
            let mut declaration = start.to_owned();
            while !declaration.ends_with(';') {
                let Some(next) = lines.next() else { break };
                declaration.push(' ');
                declaration.push_str(next);
            }
            limits.extend(parse_declaration(&declaration, doc.trim()).filter(|_| !is_hidden));
            doc.clear();
            is_hidden = false;
        } else if line.starts_with("#[") {
            is_hidden |= line == HIDDEN;
        } else {
            doc.clear();
        }
    }
    limits
}

fn parse_declaration(declaration: &str, doc: &str) -> Option<Limit> {
    let (name, rest) = declaration.split_once(':')?;
    let (_, value) = rest.split_once('=')?;
    let value = value.trim().trim_end_matches(';').trim();
    Some(Limit { name: name.trim().to_owned(), value: readable(value), doc: doc.to_owned() })
}

/// Shows durations and powers of 1,024 with units, everything else as code.
fn readable(value: &str) -> String {
    let bare = value.trim_start_matches("std::time::");
    for (call, unit) in
        [("from_secs(", "s"), ("from_millis(", "ms"), ("from_micros(", "us"), ("from_mins(", "min")]
    {
        let prefix = format!("Duration::{call}");
        let count = bare.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(')'));
        if let Some(count) = count.and_then(find_product) {
            return format!("{} {unit}", with_commas(count));
        }
    }
    match (find_product(bare), bare.contains("* 1024")) {
        (Some(bytes), true) => readable_bytes(bytes),
        (Some(count), false) => with_commas(count),
        (None, _) => format!("`{bare}`"),
    }
}

/// The value of plain numbers multiplied with each other.
fn find_product(expression: &str) -> Option<u64> {
    expression.split(" * ").try_fold(1u64, |product, factor| {
        let factor = factor.replace('_', "").parse::<u64>().ok()?;
        product.checked_mul(factor)
    })
}

fn readable_bytes(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| with_commas(bytes), |(size, name)| format!("{} {name}", with_commas(bytes / size)))
}

fn with_commas(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_with_their_docs_and_values() {
        let text = "//! Limits.\n\nuse std::time::Duration;\n\n/// Longest wait.\n///\n/// Chrome takes 2 s.\n\
                    pub const WAIT: Duration = Duration::from_secs(10);\n\n/// Frames kept.\n#[rustfmt::skip]\n\
                    pub const FRAMES: usize =\n    1_024;\nconst PRIVATE: u8 = 1;\n\
                    pub const BARE: u64 = 16 * 1024 * 1024;\n";
        let limits = parse(text);
        let shown: Vec<_> =
            limits.iter().map(|l| format!("{}={} {}", l.name, l.value, table_cell(&l.doc))).collect();
        assert_eq!(
            shown,
            ["WAIT=10 s Longest wait. Chrome takes 2 s.", "FRAMES=1,024 Frames kept.", "BARE=16 MiB "]
        );
    }

    #[test]
    fn values_are_shown_with_units() {
        let cases = [
            ("1024", "1,024"),
            ("1_000_000", "1,000,000"),
            ("1024 * 1024", "1 MiB"),
            ("1536 * 1024", "1,536 KiB"),
            ("3 * 100", "300"),
            ("Duration::from_millis(1_500)", "1,500 ms"),
            ("Duration::from_secs(30 * 60)", "1,800 s"),
            ("OTHER * 2", "`OTHER * 2`"),
        ];
        for (value, expected) in cases {
            assert_eq!(readable(value), expected, "{value}");
        }
    }

    #[test]
    fn only_a_crates_own_limits_file_counts() {
        let tree = SourceTree::of(&[
            ("crates/a/src/limits.rs", "/// Most | tabs.\npub const TABS: u8 = MANY;\n"),
            ("crates/b/src/deep/limits.rs", "pub const NOT: u8 = 1;\n"),
        ]);
        let page = text(&tree);
        assert!(
            page.ends_with(
                "\n## a\n\n| Limit | Value | Why |\n|---|---|---|\n| `TABS` | `MANY` | Most \\| tabs. |\n"
            ),
            "{page}"
        );
        assert!(!page.contains("NOT"));
    }
}
