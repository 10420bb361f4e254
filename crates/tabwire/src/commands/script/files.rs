//! Reads a script with the files that it imports by relative paths.
//!
//! The process of the script reads no files, so they are read here, with the rights of the user who runs the command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tabwire_api::{ErrorCode, Failure};
use tabwire_script::limits::{CODE_BYTES, MODULE_BYTES};
use tabwire_script::module_path::{candidates, join};
use tabwire_script::typescript::{Purpose, prepare};

/// A script and the files that it imports, by their paths seen from it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptFiles {
    pub(super) name: String,
    pub(super) code: String,
    pub(super) modules: BTreeMap<String, String>,
}

impl ScriptFiles {
    /// The paths of the script, read from `file`, and of the files that it imports.
    pub(super) fn paths(&self, file: &Path) -> Vec<PathBuf> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let imported = self.modules.keys().map(|key| folder.join(key));
        std::iter::once(file.to_owned()).chain(imported).collect()
    }
}

/// Reads a file and everything that it imports.
pub(super) fn read(path: &Path) -> Result<ScriptFiles, Failure> {
    let code = read_file(path)?;
    let name =
        path.file_name().map_or_else(|| "script".to_owned(), |name| name.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let mut modules = BTreeMap::new();
    let mut size = 0;
    let mut open = imports_of(&name, &code);
    while let Some(wanted) = open.pop() {
        let Some((key, file)) = find_file(&folder, &wanted).filter(|(key, _)| !modules.contains_key(key))
        else {
            continue;
        };
        let text = read_file(&file)?;
        size += text.len();
        if size > MODULE_BYTES {
            let message = format!("The files that {name} imports are larger than {MODULE_BYTES} bytes.");
            return Err(Failure::new(ErrorCode::BadArgs, message));
        }
        open.extend(imports_of(&key, &text));
        modules.insert(key, text);
    }
    Ok(ScriptFiles { name, code, modules })
}

/// The files that a file imports by relative paths, seen from the script. Code with errors imports none: the run reports
/// them.
fn imports_of(name: &str, code: &str) -> Vec<String> {
    let imports = prepare(code, Purpose::File).map(|prepared| prepared.imports).unwrap_or_default();
    imports.iter().filter(|import| import.starts_with('.')).map(|import| join(name, import)).collect()
}

fn find_file(folder: &Path, wanted: &str) -> Option<(String, PathBuf)> {
    candidates(wanted).map(|key| (key.clone(), folder.join(key))).find(|(_, path)| path.is_file())
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(ErrorCode::BadArgs, format!("Cannot read {}: {error}.", path.display()))
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if size > u64::try_from(CODE_BYTES).unwrap_or(u64::MAX) {
        return Err(unreadable(&format!("it is larger than {CODE_BYTES} bytes")));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_files_are_read_once() {
        let home = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("written");
        };
        write(
            "script.ts",
            "import { a } from './lib/a'; import { expect } from '@playwright/test'; a(expect);",
        );
        write("lib/a.ts", "import { b } from '../b.js'; export const a = b;");
        write("b.js", "import './lib/a'; export const b = 1;");
        let found = read(&home.path().join("script.ts")).expect("readable");
        assert_eq!(found.name, "script.ts");
        assert_eq!(found.modules.keys().collect::<Vec<_>>(), ["b.js", "lib/a.ts"]);
        assert!(read(&home.path().join("missing.ts")).is_err());
    }

    #[test]
    fn index_files_and_dynamic_imports_are_read() {
        let home = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            ("script.ts", "import './one'; import './two'; const later = await import('./three.js'); later;"),
            ("one/index.js", "export const load = () => import(`../four`);"),
            ("two/index.mts", ""),
            ("three.ts", ""),
            ("four/index.mjs", ""),
        ] {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("written");
        }
        let found = read(&home.path().join("script.ts")).expect("readable");
        let names: Vec<_> = found.modules.keys().collect();
        assert_eq!(names, ["four/index.mjs", "one/index.js", "three.ts", "two/index.mts"]);
    }
}
