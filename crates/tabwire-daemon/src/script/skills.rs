//! Skills: code of the user for scripts, in `scripts/NAME/index.ts` below the configuration directory or in directories
//! that the user's configuration names, with a `SKILL.md` that explains it. Scripts import it as `tabwire:NAME`. It runs in
//! the sandbox, under the policy, like all of a script.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tabwire_script::limits::{CODE_BYTES, MODULE_BYTES, SKILLS};
use tabwire_script::message::Skill;

/// What a script imports begins with this.
const PREFIX: &str = "tabwire:";

/// Longest explanation of a skill.
const TEXT_BYTES: u64 = 32 * 1024;

/// The file that a script imports; the first that exists.
const INDEX_FILES: [&str; 4] = ["index.ts", "index.js", "index.mts", "index.mjs"];

/// Files of one skill.
const FILES: usize = 64;

/// The user's skills.
#[derive(Debug)]
pub(crate) struct Skills {
    /// Where a name is looked up, in this order.
    directories: Vec<PathBuf>,
}

impl Skills {
    /// Those below the configuration directory, then those of other directories.
    pub(crate) fn of(config: &Path, others: &[PathBuf]) -> Self {
        let own = std::iter::once(config.join("scripts"));
        Self { directories: own.chain(others.iter().cloned()).collect() }
    }

    /// Name and description of each skill, by name; with the whole explanation if `with_text`.
    pub(crate) fn list(&self, with_text: bool) -> Vec<Skill> {
        let read = self.directories.iter().filter_map(|directory| std::fs::read_dir(directory).ok());
        let names: BTreeSet<String> = read
            .flat_map(|entries| entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()))
            .filter(|name| is_name(name))
            .collect();
        let found = names.into_iter().filter_map(|name| Some((self.find(&name)?, name)));
        let skill = |(folder, name): (PathBuf, String)| {
            let text = read_own(&folder.join("SKILL.md"), TEXT_BYTES).unwrap_or_default();
            let description = description_of(&text);
            Skill { name, description, text: if with_text { text } else { String::new() } }
        };
        found.take(SKILLS).map(skill).collect()
    }

    /// The files of the skills that code names, by the paths under which the script's process finds them.
    pub(crate) fn modules_of<'a>(&self, code: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
        let mut modules = BTreeMap::new();
        let mut open: Vec<String> = code.flat_map(names_in).collect();
        let mut size = 0;
        let mut seen = Vec::new();
        while let Some(name) = open.pop() {
            if seen.contains(&name) || seen.len() >= SKILLS {
                continue;
            }
            let Some(folder) = self.find(&name) else { continue };
            for (path, text) in files_in(&folder) {
                size += text.len();
                if size > MODULE_BYTES {
                    return modules;
                }
                // A skill can use other skills.
                open.extend(names_in(&text));
                modules.insert(format!("{PREFIX}{name}/{path}"), text);
            }
            seen.push(name);
        }
        modules
    }

    /// The folder of a skill.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let mut folders = self.directories.iter().map(|directory| directory.join(name));
        folders.find(|folder| INDEX_FILES.iter().any(|file| is_own(&folder.join(file))))
    }
}

/// The files of code beside the index.
fn files_in(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let is_code = [".ts", ".js", ".mts", ".mjs"].iter().any(|ending| file.ends_with(ending));
            let most = u64::try_from(CODE_BYTES).unwrap_or(u64::MAX);
            is_code.then(|| read_own(&entry.path(), most).map(|text| (file, text)))?
        })
        .take(FILES)
        .collect();
    files.sort();
    files
}

/// The names of skills that code contains, as in `import … from 'tabwire:NAME'` and `import('tabwire:NAME')`.
fn names_in(code: &str) -> Vec<String> {
    let parts = code.split(PREFIX).skip(1);
    let names = parts.map(|rest| {
        let end = rest.find(|letter: char| !is_name_letter(letter)).unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    names.filter(|name| is_name(name)).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_name_letter)
}

const fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
}

/// Whether a file is a plain one that only the user or root can write. Another user's code is not run for this one.
fn is_own(path: &Path) -> bool {
    let Ok(data) = path.symlink_metadata() else { return false };
    let user = rustix::process::geteuid().as_raw();
    let is_writable_by_others = data.mode() & 0o022 != 0;
    data.is_file() && (data.uid() == user || data.uid() == 0) && !is_writable_by_others
}

fn read_own(path: &Path, most: u64) -> Option<String> {
    let size = path.metadata().ok()?.len();
    (is_own(path) && size <= most).then(|| std::fs::read_to_string(path).ok())?
}

/// The description in the front matter of a `SKILL.md`, else its first line of text.
fn description_of(text: &str) -> String {
    let mut lines = text.lines();
    let described = text.starts_with("---").then(|| {
        let mut matter = lines.by_ref().skip(1).take_while(|line| *line != "---");
        matter.find_map(|line| line.strip_prefix("description:").map(|rest| rest.trim().to_owned()))
    });
    let plain = || text.lines().find(|line| !line.is_empty() && !line.starts_with(['-', '#', '<']));
    let chosen = described.flatten().or_else(|| plain().map(str::to_owned)).unwrap_or_default();
    chosen.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn write(home: &Path, name: &str, text: &str) -> PathBuf {
        let path = home.join("scripts").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("set");
        path
    }

    #[test]
    fn skills_are_listed_with_their_description() {
        let home = tempfile::tempdir().expect("a directory");
        write(home.path(), "shop/index.ts", "export const a = 1;");
        write(home.path(), "shop/SKILL.md", "---\nname: shop\ndescription: Buys things.\n---\n# Shop\nText.");
        write(home.path(), "plain/index.js", "export const b = 1;");
        write(home.path(), "plain/SKILL.md", "# Plain\n\nDoes little.");
        write(home.path(), "no-index/other.ts", "1");
        let list = Skills::of(home.path(), &[]).list(true);
        let listed: Vec<_> = list.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
        assert_eq!(listed, [("plain", "Does little."), ("shop", "Buys things.")]);
        assert!(
            list[1].text.contains("# Shop") && Skills::of(home.path(), &[]).list(false)[1].text.is_empty()
        );
        assert!(Skills::of(&home.path().join("none"), &[]).list(true).is_empty());
    }

    #[test]
    fn the_users_own_skill_comes_before_one_of_the_same_name() {
        let (home, project) =
            (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
        write(home.path(), "shop/index.ts", "own");
        write(project.path(), "shop/index.ts", "of the project");
        write(project.path(), "report/index.ts", "of the project");
        let skills = Skills::of(home.path(), &[project.path().join("scripts"), project.path().join("none")]);
        let names: Vec<String> = skills.list(false).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["report", "shop"]);
        let modules = skills.modules_of(["import 'tabwire:shop'; import 'tabwire:report'"].into_iter());
        assert_eq!(modules["tabwire:shop/index.ts"], "own");
        assert_eq!(modules["tabwire:report/index.ts"], "of the project");
    }

    #[test]
    fn only_named_skills_are_read_with_those_that_they_use() {
        let home = tempfile::tempdir().expect("a directory");
        write(
            home.path(),
            "one/index.ts",
            "import { two } from 'tabwire:two'; import './part'; export { two };",
        );
        write(home.path(), "one/part.ts", "1");
        write(home.path(), "two/index.ts", "export const two = 2;");
        write(home.path(), "three/index.ts", "3");
        let skills = Skills::of(home.path(), &[]);
        let modules = skills.modules_of(["await import('tabwire:one'); import 'tabwire:../x'"].into_iter());
        let paths: Vec<&String> = modules.keys().collect();
        assert_eq!(paths, ["tabwire:one/index.ts", "tabwire:one/part.ts", "tabwire:two/index.ts"]);
    }

    #[test]
    fn files_that_others_can_write_and_links_are_left_out() {
        let home = tempfile::tempdir().expect("a directory");
        let path = write(home.path(), "open/index.ts", "1");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("set");
        let secret = write(home.path(), "secret.txt", "1");
        std::fs::create_dir_all(home.path().join("scripts/link")).expect("a directory");
        std::os::unix::fs::symlink(&secret, home.path().join("scripts/link/index.ts")).expect("a link");
        assert!(Skills::of(home.path(), &[]).list(false).is_empty());
    }
}
