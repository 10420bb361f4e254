//! `docs`: prints a page of the documentation, which is inside the program, or opens it as installed.

use std::path::{Path, PathBuf};

use serde_json::json;
use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use super::{Context, opener};

/// A page: its name and its Markdown.
type Page = (&'static str, &'static str);

macro_rules! pages {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../docs/", $name, ".md")))),+]
    };
}

/// The guides, in the order of `docs/INDEX.md`, then the reference pages that people read.
const PAGES: &[Page] = pages![
    "getting-started",
    "installing",
    "snapshots-and-actions",
    "sessions-and-browsers",
    "firefox",
    "fleets",
    "mcp",
    "own-browser",
    "cdp-clients",
    "chrome-executable",
    "recipes",
    "batches",
    "scripts",
    "chat",
    "command-line",
    "configuration",
    "logins",
    "policy",
    "audit-log",
    "dashboard",
    "doctor",
    "troubleshooting",
    "reference/actions",
    "reference/configuration",
    "reference/environment",
    "reference/errors",
    "reference/limits",
];

/// The page with a paragraph for each error code.
const TROUBLESHOOTING: &str = "troubleshooting";

/// The site beside an installed program, below its prefix.
const SITE: &str = "share/doc/tabwire/html";

/// Prints a page or the list of pages; with `is_opened`, opens it in the user's browser.
pub(super) fn run(context: &Context<'_>, topic: Option<&str>, is_opened: bool) -> Result<(), Failure> {
    if is_opened {
        return open(context, topic);
    }
    let Some(topic) = topic else {
        let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        context.printer.result(&json!({"pages": names}), list);
        return Ok(());
    };
    let (code, (name, text)) = find(topic)?;
    let text = code.map_or_else(|| text.to_owned(), |code| explain(code, text));
    context.printer.result(&json!({"page": name, "text": text}), || text.trim_end().to_owned());
    Ok(())
}

/// The page of a topic, and the error code that it is.
fn find(topic: &str) -> Result<(Option<ErrorCode>, Page), Failure> {
    let code = find_code(topic);
    let page = find_page(if code.is_some() { TROUBLESHOOTING } else { topic });
    Ok((code, page.ok_or_else(|| unknown(topic))?))
}

fn open(context: &Context<'_>, topic: Option<&str>) -> Result<(), Failure> {
    let found = topic.map(find).transpose()?;
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let site = program.ok().and_then(|program| find_site(&program)).ok_or_else(|| {
        Failure::new(ErrorCode::BadArgs, "This installation has no pages to open.").with_remedy(Remedy::new(
            "The Debian package and the tarball have them; {} prints a page.",
            [Step::command("tabwire docs PAGE")],
        ))
    })?;
    let url = page_url(&site, found);
    if !opener::open(&url) {
        let message = format!("No program opens {url}.");
        return Err(Failure::new(ErrorCode::NoBackend, message)
            .with_remedy(Remedy::new("{} prints a page.", [Step::command("tabwire docs PAGE")])));
    }
    context.printer.result(&json!({"opened": url}), || format!("Opened {url}"));
    Ok(())
}

/// The site that was installed with a program in a folder `bin`.
fn find_site(program: &Path) -> Option<PathBuf> {
    let site = program.parent()?.parent()?.join(SITE);
    site.join("index.html").is_file().then_some(site)
}

/// The URL of a page's file. An error code is found on its page by its text.
fn page_url(site: &Path, page: Option<(Option<ErrorCode>, Page)>) -> String {
    let (file, fragment) = match page {
        None => ("index.html".to_owned(), String::new()),
        Some((code, (name, _))) => {
            let text = code.map(|code| format!("#:~:text={}", code.as_str()));
            (format!("docs/{name}.html"), text.unwrap_or_default())
        }
    };
    match url::Url::from_file_path(site.join(file)) {
        Ok(url) => format!("{url}{fragment}"),
        Err(()) => site.display().to_string(),
    }
}

fn list() -> String {
    let title = |text: &str| text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let rows = PAGES.iter().map(|(name, text)| format!("{name:<26}{}", title(text)));
    let rows: Vec<String> = rows.collect();
    format!(
        "{}\n\n`tabwire docs PAGE` prints one, `tabwire docs CODE` explains an error code.",
        rows.join("\n")
    )
}

fn find_code(topic: &str) -> Option<ErrorCode> {
    let name = topic.to_ascii_uppercase().replace('-', "_");
    ErrorCode::ALL.iter().copied().find(|code| code.as_str() == name)
}

/// A page by its name, with or without its folder and ending.
fn find_page(topic: &str) -> Option<Page> {
    let topic = topic.trim_start_matches("docs/").trim_end_matches(".md");
    let is_named = |page: &&Page| page.0 == topic || page.0.rsplit('/').next() == Some(topic);
    PAGES.iter().find(is_named).copied()
}

/// The paragraphs of a code in the page about troubleshooting, or its meaning where there is none, and its exit code.
fn explain(code: ErrorCode, page: &str) -> String {
    let name = code.as_str();
    let mark = format!("**`{name}`");
    let mut paragraphs = Vec::new();
    let mut is_inside = false;
    for paragraph in page.split("\n\n") {
        let starts_another = paragraph.starts_with("**`") || paragraph.starts_with('#');
        is_inside = paragraph.starts_with(&mark) || is_inside && !starts_another;
        if is_inside {
            paragraphs
                .push(paragraph.trim_end().replacen(&format!("**`{name}`**"), name, 1).replace("**", ""));
        }
    }
    if paragraphs.is_empty() {
        paragraphs.push(format!("{name}: {}", code.meaning()));
    }
    format!(
        "{}\n\nExit code {}. More: tabwire docs {TROUBLESHOOTING}",
        paragraphs.join("\n\n"),
        code.exit_code()
    )
}

fn unknown(topic: &str) -> Failure {
    let shown: String = topic.chars().take(100).collect();
    let names = PAGES.iter().map(|(name, _)| *name);
    let distance = |name: &&str| strsim::damerau_levenshtein(name, topic);
    let nearest = names.min_by_key(distance).filter(|name| distance(name) <= 3);
    let message = match nearest {
        Some(name) => format!("No page or error code is called `{shown}`; `{name}` is one."),
        None => format!("No page or error code is called `{shown}`."),
    };
    Failure::new(ErrorCode::BadArgs, message)
        .with_remedy(Remedy::new("{} lists the pages.", [Step::command("tabwire docs")]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_guide_is_in_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(".md").filter(|name| *name != "INDEX") {
                assert!(find_page(name).is_some(), "add `{name}` to PAGES");
            }
        }
    }

    #[test]
    fn every_error_code_is_explained_with_its_own_paragraph() {
        let (_, page) = find_page(TROUBLESHOOTING).unwrap();
        for code in ErrorCode::ALL {
            let text = explain(*code, page);
            assert!(text.starts_with(code.as_str()) && !text.contains("**"), "{text}");
        }
        let text = explain(find_code("ref-expired").unwrap(), page);
        assert!(text.starts_with("REF_EXPIRED: the ref") && text.contains("Exit code 1."), "{text}");
        assert_eq!(text.matches("is gone").count(), 1, "{text}");
        let text = explain(ErrorCode::Busy, "no paragraph");
        assert!(text.starts_with(&format!("BUSY: {}", ErrorCode::Busy.meaning())), "{text}");
    }

    #[test]
    fn installed_pages_are_found_below_the_prefix_of_the_program() {
        let prefix = tempfile::tempdir().unwrap();
        let program = prefix.path().join("bin/tabwire");
        assert_eq!(find_site(&program), None);
        let site = prefix.path().join(SITE);
        std::fs::create_dir_all(&site).unwrap();
        std::fs::write(site.join("index.html"), "").unwrap();
        assert_eq!(find_site(&program), Some(site));
        let url = |topic: Option<&str>| page_url(Path::new("/a b"), topic.map(|topic| find(topic).unwrap()));
        assert_eq!(url(None), "file:///a%20b/index.html");
        assert_eq!(url(Some("errors")), "file:///a%20b/docs/reference/errors.html");
        assert_eq!(url(Some("REF_EXPIRED")), "file:///a%20b/docs/troubleshooting.html#:~:text=REF_EXPIRED");
    }

    #[test]
    fn pages_are_found_by_short_names_and_misspelt_ones_are_named() {
        assert_eq!(find_page("errors").unwrap().0, "reference/errors");
        assert_eq!(find_page("docs/mcp.md").unwrap().0, "mcp");
        assert!(unknown("polcy").message.contains("`policy`"));
    }
}
