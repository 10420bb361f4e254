//! What packages contain beside their own metadata: the program, man pages, completions, documentation, licences.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::archive::Entry;
use super::elf::Needs;
use super::licences;
use super::options::Options;
use crate::error::Error;
use crate::reference;
use crate::repository::Repository;
use crate::site;

/// Completion scripts: the shell, and the file below `share`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/tabwire"),
    ("zsh", "zsh/site-functions/_tabwire"),
    ("fish", "fish/vendor_completions.d/tabwire.fish"),
];

/// Files of the repository that go into the documentation folder.
const DOCUMENTS: [&str; 5] = ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The contents of packages.
pub(super) struct Content {
    pub(super) binary: Rc<[u8]>,
    pub(super) needs: Needs,
    /// Completions and man pages, below `share`.
    pub(super) shared: Vec<Entry>,
    /// Documents, in one folder.
    pub(super) documents: Vec<Entry>,
    /// The documentation as a site, below the folder of the documents.
    pub(super) site: Vec<Entry>,
}

impl Content {
    pub(super) fn collect(
        repository: &Repository,
        options: &Options,
        program: &Path,
        binary: Rc<[u8]>,
        needs: Needs,
    ) -> Result<Content, Error> {
        let mut shared = completions(program)?;
        if options.has_man {
            shared.extend(man_pages(repository, options.man.as_deref())?);
        }
        let read = |name: &&str| Ok(Entry::text(*name, &repository.read(name)?));
        let mut documents: Vec<Entry> = DOCUMENTS.iter().map(read).collect::<Result<_, Error>>()?;
        documents.push(Entry::text("THIRD-PARTY-LICENSES.txt", &licences::collect(repository)?));
        let site = if options.has_site { built_site(repository)? } else { Vec::new() };
        Ok(Content { binary, needs, shared, documents, site })
    }

    /// The program as `bin/tabwire`.
    pub(super) fn program(&self) -> Entry {
        Entry::program("bin/tabwire", Rc::clone(&self.binary))
    }

    /// Everything for a prefix such as `/usr`.
    pub(super) fn prefix(&self) -> Vec<Entry> {
        let shared = self.shared.iter().cloned();
        let documents = self.documents.iter().chain(&self.site).cloned();
        let documents = documents.map(|entry| entry.below("doc/tabwire"));
        std::iter::once(self.program())
            .chain(shared.chain(documents).map(|entry| entry.below("share")))
            .collect()
    }
}

fn completions(program: &Path) -> Result<Vec<Entry>, Error> {
    let write = |(shell, path): &(&str, &str)| {
        let mut command = Command::new(program);
        command.args(["completions", shell]).stdin(Stdio::null()).stderr(Stdio::inherit());
        let start = |source| Error::CannotStart { program: program.display().to_string(), source };
        let output = command.output().map_err(start)?;
        if !output.status.success() {
            let command = format!("{} completions {shell}", program.display());
            return Err(Error::StepFailed { step: "completions".to_owned(), command });
        }
        Ok(Entry::file(*path, output.stdout))
    };
    COMPLETIONS.iter().map(write).collect()
}

fn man_pages(repository: &Repository, built: Option<&Path>) -> Result<Vec<Entry>, Error> {
    let directory: PathBuf = match built {
        Some(built) => built.to_path_buf(),
        None => {
            let directory = repository.path("target/man");
            let arguments = ["--out".to_owned(), directory.display().to_string()];
            reference::write_man_pages(repository, &arguments)?;
            directory
        }
    };
    let pages = read_folder(&directory)?.into_iter().filter(|entry| entry.path.ends_with(".1"));
    Ok(pages.map(|entry| entry.below("man/man1")).collect())
}

/// The site as `html/…`, built anew.
fn built_site(repository: &Repository) -> Result<Vec<Entry>, Error> {
    let folder = repository.path(site::SITE);
    site::build(repository, &folder)?;
    Ok(read_folder(&folder)?.into_iter().map(|entry| entry.below(super::SITE_FOLDER)).collect())
}

/// The files of a folder and the folders below it. Hidden files are left out.
pub(super) fn read_folder(folder: &Path) -> Result<Vec<Entry>, Error> {
    let failed = |source| Error::file(folder, source);
    let mut entries = Vec::new();
    for found in std::fs::read_dir(folder).map_err(failed)? {
        let found = found.map_err(failed)?;
        let (path, name) = (found.path(), found.file_name().to_string_lossy().into_owned());
        if name.starts_with('.') {
            continue;
        }
        if found.file_type().map_err(failed)?.is_dir() {
            entries.extend(read_folder(&path)?.into_iter().map(|entry| entry.below(&name)));
        } else {
            let bytes = std::fs::read(&path).map_err(|source| Error::file(path, source))?;
            entries.push(Entry::file(name, bytes));
        }
    }
    Ok(entries)
}
