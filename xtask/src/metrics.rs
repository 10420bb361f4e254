//! `cargo xtask metrics`: size, shape and vocabulary of a source tree, as a table or as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::Error;
use crate::repository::Repository;
use crate::source::retired_words::{DISCOURAGED, Line, REFUSED, Retired};
use crate::source::rust_code::RustCode;
use crate::source::source_tree::{SourceFile, SourceTree};
use crate::source::test_code::TestCode;
use crate::tidy;
use crate::tidy::retired_words::is_proper;

/// Folders that hold data of others or output of programs.
const DATA_FOLDERS: [&str; 8] =
    ["node_modules", "fixtures", "corpus", "vendor", "snapshots", "generated", "pages", "target"];

/// Largest folders in the table.
const FOLDERS_SHOWN: usize = 12;

/// A tree that is measured, and how the result is printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    directory: Option<PathBuf>,
    json: bool,
    words: bool,
}

/// Prints the metrics of this repository, or of the checkout given by `--dir`; with `--words` only the lines that
/// contain refused words.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Error> {
    let options = parse(arguments)?;
    let tree = match options.directory {
        Some(directory) => SourceTree::read(&Repository::at(directory))?,
        None => SourceTree::read(repository)?,
    };
    if options.words {
        tidy::retired_words::check(&tree).iter().for_each(|finding| println!("{finding}"));
        return Ok(());
    }
    let metrics = Metrics::of(&tree);
    if options.json {
        println!("{:#}", metrics.to_json());
    } else {
        print!("{}", metrics.to_table());
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options, Error> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        match name.as_str() {
            "--json" => options.json = true,
            "--words" => options.words = true,
            "--dir" => {
                let directory =
                    rest.next().ok_or_else(|| Error::Usage("`--dir` needs a folder".to_owned()))?;
                options.directory = Some(directory.into());
            }
            other => {
                return Err(Error::Usage(format!(
                    "`metrics` takes --dir DIR, --json and --words, not `{other}`"
                )));
            }
        }
    }
    Ok(options)
}

/// Median, 90th percentile and maximum.
#[derive(Debug, Default, PartialEq, Eq)]
struct Spread {
    count: usize,
    median: usize,
    p90: usize,
    max: usize,
}

impl Spread {
    fn of(mut values: Vec<usize>) -> Spread {
        values.sort_unstable();
        let at =
            |percent: usize| values.get((values.len() * percent / 100).min(values.len().saturating_sub(1)));
        let value = |percent: usize| at(percent).copied().unwrap_or_default();
        Spread { count: values.len(), median: value(50), p90: value(90), max: value(100) }
    }

    fn to_json(&self) -> Value {
        json!({"count": self.count, "median": self.median, "p90": self.p90, "max": self.max})
    }
}

/// Files and lines of one language.
#[derive(Debug, Default, PartialEq, Eq)]
struct Size {
    files: usize,
    lines: usize,
}

/// What is measured.
#[derive(Debug, Default)]
struct Metrics {
    rust: Size,
    rust_tests: Size,
    javascript: Size,
    folders: Vec<(String, usize)>,
    file_lines: Vec<usize>,
    function_lines: Vec<usize>,
    body_lines: usize,
    body_comments: usize,
    doc_comments: usize,
    pub_crate: usize,
    refused: BTreeMap<String, usize>,
    discouraged: BTreeMap<String, usize>,
}

impl Metrics {
    fn of(tree: &SourceTree) -> Metrics {
        let mut metrics = Metrics::default();
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for file in tree.files().iter().filter(|file| is_hand_written(file)) {
            let lines = file.text.lines().count();
            metrics.file_lines.push(lines);
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            *folders.entry(folder.to_owned()).or_default() += 1;
            if file.extension() == "rs" {
                metrics.rust = Size { files: metrics.rust.files + 1, lines: metrics.rust.lines + lines };
                metrics.add_rust(tree, file);
            } else {
                metrics.javascript.files += 1;
                metrics.javascript.lines += lines;
            }
        }
        metrics.folders = folders.into_iter().collect();
        metrics.folders.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        metrics.add_words(tree);
        metrics
    }

    fn add_rust(&mut self, tree: &SourceTree, file: &SourceFile) {
        let code = RustCode::of(&file.text);
        let functions = code.functions();
        let in_function = |number: usize| {
            functions.iter().any(|function| (function.first_line..=function.last_line).contains(&number))
        };
        let tests = TestCode::of(tree, file, &code);
        self.rust_tests.files += usize::from(matches!(tests, TestCode::WholeFile));
        for (number, line) in file.numbered_lines() {
            let line = line.trim_start();
            let is_doc = line.starts_with("///") || line.starts_with("//!");
            self.doc_comments += usize::from(is_doc);
            self.rust_tests.lines += usize::from(tests.contains(number));
            if in_function(number) {
                self.body_lines += 1;
                self.body_comments += usize::from(line.starts_with("//") && !is_doc);
            }
        }
        self.pub_crate += code.count("pub(crate)");
        self.function_lines.extend(functions.iter().map(crate::source::rust_code::Function::line_count));
    }

    fn add_words(&mut self, tree: &SourceTree) {
        let texts = ["rs", "js", "mjs", "md", "html"];
        let files =
            tree.files().iter().filter(|file| texts.contains(&file.extension()) && !is_data(&file.path));
        for file in files.filter(|file| !file.path.ends_with("retired_words.rs")) {
            for text in file.text.lines().chain([file.path.as_str()]) {
                let line = Line::of(text);
                let refused = REFUSED.iter().filter(|word| !is_proper(&word.name(), text, &file.path));
                count_words(refused, &line, &mut self.refused);
                count_words(DISCOURAGED, &line, &mut self.discouraged);
            }
        }
    }

    fn to_json(&self) -> Value {
        let size = |size: &Size| json!({"files": size.files, "lines": size.lines});
        json!({
            "rust": size(&self.rust),
            "rust_tests": size(&self.rust_tests),
            "javascript": size(&self.javascript),
            "folders": self.folders.iter().take(FOLDERS_SHOWN).map(|(folder, files)| json!({"folder": folder, "files": files})).collect::<Vec<_>>(),
            "lines_per_file": Spread::of(self.file_lines.clone()).to_json(),
            "lines_per_function": Spread::of(self.function_lines.clone()).to_json(),
            "comment_percent_in_functions": percent(self.body_comments, self.body_lines),
            "doc_comment_percent": percent(self.doc_comments, self.rust.lines),
            "pub_crate_per_1000_lines": per_thousand(self.pub_crate, self.rust.lines),
            "refused_words": self.refused,
            "discouraged_words": self.discouraged,
        })
    }

    fn to_table(&self) -> String {
        let spread = |values: &[usize]| {
            let spread = Spread::of(values.to_vec());
            format!("{} (median {}, p90 {}, max {})", spread.count, spread.median, spread.p90, spread.max)
        };
        let size = |size: &Size| format!("{} files, {} lines", size.files, size.lines);
        let mut table = String::new();
        let mut row = |name: &str, value: &str| table.push_str(&format!("{name:<34}{value}\n"));
        row("Rust", &size(&self.rust));
        row("  of it tests", &size(&self.rust_tests));
        row("JavaScript", &size(&self.javascript));
        row("Files, by lines", &spread(&self.file_lines));
        row("Functions, by lines", &spread(&self.function_lines));
        row(
            "Comments in functions",
            &format!("{:.1} % of lines", percent(self.body_comments, self.body_lines)),
        );
        row("Doc comments", &format!("{:.1} % of lines", percent(self.doc_comments, self.rust.lines)));
        row("pub(crate) per 1,000 lines", &format!("{:.1}", per_thousand(self.pub_crate, self.rust.lines)));
        row("Refused words", &word_list(&self.refused));
        row("Discouraged words", &word_list(&self.discouraged));
        row("Largest folders", "");
        for (folder, files) in self.folders.iter().take(FOLDERS_SHOWN) {
            row(&format!("  {files:>4} files"), folder);
        }
        table
    }
}

/// Whether a file is Rust or JavaScript that a person wrote.
fn is_hand_written(file: &SourceFile) -> bool {
    let head: String = file.text.lines().take(5).collect::<Vec<_>>().join("\n");
    let is_generated = head.contains("@generated") || head.contains("Do not edit");
    matches!(file.extension(), "rs" | "js" | "mjs")
        && !file.name().ends_with(".min.js")
        && !is_generated
        && !is_data(&file.path)
}

fn is_data(path: &str) -> bool {
    path.split('/').any(|part| DATA_FOLDERS.contains(&part))
}

fn count_words<'a>(
    list: impl IntoIterator<Item = &'a Retired>,
    line: &Line<'_>,
    counts: &mut BTreeMap<String, usize>,
) {
    for word in list {
        let count = word.count_in(line);
        if count > 0 {
            *counts.entry(word.name()).or_default() += count;
        }
    }
}

fn word_list(counts: &BTreeMap<String, usize>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by(|left, right| right.1.cmp(left.1));
    let total: usize = counts.values().sum();
    let words: Vec<String> = sorted.iter().map(|(word, count)| format!("{word} {count}")).collect();
    format!("{total}{}{}", if words.is_empty() { "" } else { ": " }, words.join(", "))
}

fn percent(part: usize, whole: usize) -> f64 {
    share(part, whole, 100.0)
}

fn per_thousand(part: usize, whole: usize) -> f64 {
    share(part, whole, 1000.0)
}

/// A share of `unit`, rounded to one decimal.
fn share(part: usize, whole: usize, unit: f64) -> f64 {
    let tenths = part as f64 * unit * 10.0 / whole.max(1) as f64;
    tenths.round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_tree_is_measured() {
        let tree = SourceTree::of(&[
            (
                "src/a.rs",
                "//! A.\n\n/// Adds.\npub(crate) fn add() {\n    // Chrome rounds up.\n    one();\n}\n",
            ),
            ("src/b.js", "// B.\n"),
            ("src/generated/c.rs", concat!("fn ", "nobody", "() {}\n")),
            ("tests/d.rs", concat!("fn ", "nobody", "_else() {}\nuse oxc_ast_visit::", "Visit", ";\n")),
        ]);
        let metrics = Metrics::of(&tree);
        assert_eq!(metrics.rust, Size { files: 2, lines: 9 });
        assert_eq!(metrics.rust_tests, Size { files: 1, lines: 2 });
        assert_eq!(metrics.javascript, Size { files: 1, lines: 1 });
        assert_eq!((metrics.body_comments, metrics.body_lines, metrics.doc_comments), (1, 5, 2));
        assert_eq!(metrics.folders[0], ("src".to_owned(), 2));
        assert_eq!(metrics.refused, BTreeMap::from([("nobody".to_owned(), 1)]));
        assert_eq!(metrics.to_json()["pub_crate_per_1000_lines"], 111.1);
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let spread = Spread::of((1..=10).collect());
        assert_eq!(spread, Spread { count: 10, median: 6, p90: 10, max: 10 });
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }

    #[test]
    fn unknown_arguments_are_errors() {
        let arguments = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(parse(&arguments(&["--dir"])).is_err() && parse(&arguments(&["--all"])).is_err());
        assert!(parse(&arguments(&["--dir", "x", "--json"])).unwrap().json);
    }
}
