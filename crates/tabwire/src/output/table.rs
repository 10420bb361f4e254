//! Formats rows in columns that fit the terminal.

use std::io::IsTerminal;

use tabwire_engine::plain_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const GAP: &str = "  ";

/// Smallest width of a column.
const MIN_WIDTH: usize = 8;

/// Characters of a cell.
const CELL_CHARACTERS: usize = 4_096;

/// Width of a terminal that does not report it.
const DEFAULT_WIDTH: u16 = 80;

/// Lays out rows in columns; the first row is the heading. On a terminal wide columns are cut to its width.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    table_within(rows, terminal_width())
}

/// Width of the terminal on stdout; `None` without one.
pub(crate) fn terminal_width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    // A terminal whose size was never set, such as a serial line or a new pty, reports 0 columns.
    let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| size.ws_col);
    Some(usize::from(if columns == 0 { DEFAULT_WIDTH } else { columns }))
}

fn table_within(rows: &[Vec<String>], width: Option<usize>) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| sanitize(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    if let Some(width) = width {
        shrink(&mut widths, width);
    }
    let lines = rows.iter().map(|row| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| fitted(cell, *width)).collect();
        cells.join(GAP).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Shrinks the widest columns until all fit, or have the smallest width.
fn shrink(widths: &mut [usize], most: usize) {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > most {
        match widths.iter_mut().max() {
            Some(widest) if *widest > MIN_WIDTH => *widest -= 1,
            _ => return,
        }
    }
}

/// A cell cut or padded to a width on the screen.
pub(crate) fn fitted(cell: &str, width: usize) -> String {
    let own = cell.width();
    if own <= width {
        return format!("{cell}{:padding$}", "", padding = width - own);
    }
    let mut cut = String::new();
    let mut room = width.saturating_sub(1);
    for letter in cell.chars() {
        let wide = letter.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        cut.push(letter);
    }
    cut.push('…');
    format!("{cut}{:room$}", "")
}

/// Removes line breaks and control characters from a cell: pages choose their titles.
fn sanitize(cell: &str) -> String {
    plain_line(cell, CELL_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::{fitted, sanitize, table_within};

    fn rows(cells: &[[&str; 2]]) -> Vec<Vec<String>> {
        cells.iter().map(|row| row.map(str::to_owned).to_vec()).collect()
    }

    #[test]
    fn columns_align_with_wide_characters() {
        let text = table_within(&rows(&[["NAME", "X"], ["日本語", "1"], ["é", "2"]]), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "日本語  1");
        assert_eq!(lines[2], "é       2");
    }

    #[test]
    fn the_widest_column_shrinks_first() {
        let long = "x".repeat(100);
        let text = table_within(&rows(&[["TAB", "TITLE"], ["pipe:7f3a:1", &long]]), Some(40));
        let line = text.lines().nth(1).expect("a row");
        assert!(line.starts_with("pipe:7f3a:1  xxx") && line.ends_with('…'), "{line}");
        assert_eq!(line.width(), 40);
        assert_eq!(fitted("日本語", 4), "日… ");
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(sanitize("a\u{1b}[31mb\nc\u{202e}d"), "a[31mb cd");
    }
}
