//! Finds the specs of a checkout, and turns each into JavaScript without imports.

use std::fs;
use std::path::Path;

use tabwire_script::typescript::{self, Purpose};

use super::Setup;
use super::options::Options;
use crate::error::Error;

/// The end of a spec's file name.
const ENDING: &str = ".spec.ts";

/// The names of the specs that the options choose, without `.ts`, in order.
pub(super) fn find_specs(options: &Options) -> Result<Vec<String>, Error> {
    let folder = options.checkout.join("tests/page");
    let entries = fs::read_dir(&folder).map_err(|source| Error::file(&folder, source))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(ENDING)?.to_owned() + ".spec"))
        .filter(|name| options.groups.is_empty() || options.groups.iter().any(|group| name.contains(group)))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(Error::Usage(format!("no spec of {} matches", folder.display())));
    }
    Ok(names)
}

/// Writes the prepared form of each spec. The baseline of one that changed is removed.
pub(super) fn write_all(setup: &Setup<'_>) -> Result<(), Error> {
    for name in &setup.names {
        let source = setup.options.checkout.join("tests/page").join(format!("{name}.ts"));
        let code = prepare(&source)?;
        let target = setup.output("prepared").join(format!("{name}.js"));
        if fs::read_to_string(&target).is_ok_and(|old| old == code) {
            continue;
        }
        fs::write(&target, code).map_err(|error| Error::file(&target, error))?;
        let _ = fs::remove_file(setup.output("stock").join(format!("{name}.jsonl")));
    }
    Ok(())
}

fn prepare(path: &Path) -> Result<String, Error> {
    let code = fs::read_to_string(path).map_err(|source| Error::file(path, source))?;
    let prepared = typescript::prepare(&code, Purpose::File).map_err(|error| Error::Malformed {
        path: path.to_owned(),
        problem: format!("{}:{}: {}", error.line, error.column, error.message),
    })?;
    Ok(without_imports(&prepared.code))
}

/// Turns `import { a as b } from "c"` into `const { a: b } = __import("c")`. Lines stay.
fn without_imports(code: &str) -> String {
    let mut lines = code.split_inclusive('\n');
    let mut text = String::with_capacity(code.len());
    while let Some(line) = lines.next() {
        if !line.starts_with("import ") && !line.starts_with("import{") {
            text.push_str(&without_using(line.strip_prefix("export ").unwrap_or(line)));
            continue;
        }
        let mut import = line.to_owned();
        while !import.trim_end().ends_with([';', '\'', '"']) {
            let Some(next) = lines.next() else { break };
            import.push_str(next);
        }
        text.push_str(&as_declaration(&import));
        text.extend(std::iter::repeat_n('\n', import.matches('\n').count()));
    }
    text
}

/// Turns a declaration with `using`, which neither side knows, into one with `const`.
fn without_using(line: &str) -> String {
    let rest = line.trim_start();
    let indent = &line[..line.len() - rest.len()];
    let rest = rest.strip_prefix("await ").unwrap_or(rest);
    rest.strip_prefix("using ").map_or_else(|| line.to_owned(), |rest| format!("{indent}const {rest}"))
}

fn as_declaration(import: &str) -> String {
    let clause = import.trim().trim_start_matches("import").trim_end_matches(';').replace('\n', " ");
    let Some((names, source)) = clause.rsplit_once(" from ") else { return String::new() };
    let (names, source) = (names.trim(), source.trim());
    if let Some(name) = names.strip_prefix("* as ") {
        return format!("const {name} = __import({source});");
    }
    let (default, named) = match names.split_once('{') {
        Some((default, named)) => (default.trim().trim_end_matches(','), named.trim_end_matches('}')),
        None => (names, ""),
    };
    let mut parts: Vec<String> = named
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| name.replace(" as ", ": "))
        .collect();
    if !default.is_empty() {
        parts.push(format!("default: {default}"));
    }
    format!("const {{ {} }} = __import({source});", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_become_declarations_and_lines_stay() {
        for (import, declaration) in [
            ("import fs from 'fs';\n", "const { default: fs } = __import('fs');\n"),
            (
                "import { test as it, expect } from './p';\n",
                "const { test: it, expect } = __import('./p');\n",
            ),
            ("import * as path from 'path';\nx", "const path = __import('path');\nx"),
            ("import {\n  a,\n} from 'b';\nx", "const { a } = __import('b');\n\n\nx"),
            ("import a, { b } from 'c';\n", "const { b, default: a } = __import('c');\n"),
            ("const a = `import b from 'c'`;\n", "const a = `import b from 'c'`;\n"),
        ] {
            assert_eq!(without_imports(import), declaration);
        }
    }
}
