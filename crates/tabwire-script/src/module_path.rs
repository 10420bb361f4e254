//! Paths of imported files: where an import points, and which file of several is meant.

/// Endings that an import may leave out.
const ENDINGS: [&str; 9] =
    ["", ".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js", "/index.mts", "/index.mjs"];

/// Endings of JavaScript that stand for a TypeScript file in imports.
const COMPILED: [(&str, &str); 2] = [(".js", ".ts"), (".mjs", ".mts")];

/// The paths that an import can mean, the first choice first.
pub fn candidates(path: &str) -> impl Iterator<Item = String> {
    let sources = COMPILED.iter().filter_map(move |(compiled, source)| {
        path.strip_suffix(compiled).map(|start| format!("{start}{source}"))
    });
    ENDINGS.iter().map(move |ending| format!("{path}{ending}")).chain(sources)
}

/// The path of an import seen from the file `base`.
#[must_use]
pub fn join(base: &str, import: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_starts_at_the_importing_file() {
        for (base, name, path) in [
            ("script.ts", "./a", "a"),
            ("x/script.ts", "../a.ts", "a.ts"),
            ("x/y/script.ts", "./z/a", "x/y/z/a"),
            ("script.ts", "../a", "../a"),
            ("/x/y/s.ts", "../a.ts", "/x/a.ts"),
        ] {
            assert_eq!(join(base, name), path, "{base} {name}");
        }
    }

    #[test]
    fn an_import_may_lack_its_ending_or_have_that_of_the_compiled_file() {
        for (import, file) in [("a", "a.mts"), ("a", "a/index.mjs"), ("a.js", "a.ts"), ("a.mjs", "a.mts")] {
            assert!(candidates(import).any(|path| path == file), "{import} {file}");
        }
        assert_eq!(candidates("a.ts").next().as_deref(), Some("a.ts"));
    }
}
