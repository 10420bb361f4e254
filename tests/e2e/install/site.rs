//! The documentation as a site: links, search, dark mode, and no request to another host.

use std::path::{Path, PathBuf};

use super::pack::{find, is_release, packages};
use crate::support::http_server::{Response, TinyServer};
use crate::support::world::World;

/// The files below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a directory").flatten() {
        let name = PathBuf::from(entry.file_name());
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|file| name.join(file)));
        } else {
            found.push(name);
        }
    }
    found
}

/// The values of an attribute.
fn values<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    text.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Whether a link of a page leads to a file of the site, and to an element of it.
fn leads_somewhere(site: &Path, page: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => site.join(page),
        file => site.join(page).with_file_name("").join(file),
    };
    let target = if target.is_dir() { target.join("index.html") } else { target };
    let is_known = |text: String| anchor.is_empty() || text.contains(&format!("id=\"{anchor}\""));
    target.is_file() && (anchor.is_empty() || std::fs::read_to_string(&target).is_ok_and(is_known))
}

fn check_files(site: &Path) {
    let all = files(site);
    assert!(all.len() > 100, "{all:?}");
    let mut broken = Vec::new();
    for page in all.iter().filter(|file| file.extension().is_some_and(|ending| ending == "html")) {
        let text = std::fs::read_to_string(site.join(page)).expect("a page");
        let is_foreign = |link: &&str| link.contains("//") || link.starts_with("data:");
        for loaded in values(&text, "src") {
            assert!(!loaded.contains("//"), "{} loads {loaded}", page.display());
        }
        for link in text.split("<link").skip(1).filter_map(|rest| rest.split('>').next()) {
            assert!(!link.contains("://"), "{} links {link}", page.display());
        }
        let links = [values(&text, "href"), values(&text, "src")].concat();
        for link in links.into_iter().filter(|link| !is_foreign(link)) {
            if !leads_somewhere(site, page, link) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    for style in all.iter().filter(|file| file.extension().is_some_and(|ending| ending == "css")) {
        let text = std::fs::read_to_string(site.join(style)).expect("a style");
        assert!(!text.contains("url(http") && !text.contains("url(//"), "{}", style.display());
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css",
        "js" => "text/javascript",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

#[test]
fn the_site_searches_and_requests_nothing_elsewhere_in_full_runs() {
    if !is_release() {
        eprintln!("the site is part of a `dist` build: `cargo xtask test --full` makes it");
        return;
    }
    let world = World::new();
    let archive = find(&packages(world.home(), "site"), "tabwire-docs-", ".tar.gz");
    let site = world.home().join("site");
    std::fs::create_dir(&site).expect("a directory");
    let folder = site.display().to_string();
    world.run_program("tar", &["xzf", &archive, "-C", &folder, "--strip-components=1"]).succeeded();
    check_files(&site);
    let server = TinyServer::start("127.0.0.1:0", move |request| {
        let path = request.path.split('?').next().unwrap_or_default().trim_start_matches('/');
        Response::of(kind(path), std::fs::read(site.join(path)).unwrap_or_default())
    });
    let origin = server.url("site.localhost", "/");
    world.open(&[&format!("{origin}docs/troubleshooting.html")]);
    // `s` opens the search.
    world.run(&["press", "s"]).succeeded();
    world.run(&["type", "REF_EXPIRED"]).succeeded();
    world.run(&["wait-for", "text=search results for"]).succeeded();
    let results = world.eval("document.querySelectorAll('#mdbook-searchresults a').length > 0");
    assert_eq!(results, "true");
    let light = world.eval("getComputedStyle(document.documentElement).backgroundColor");
    world.run(&["emulate", "--color-scheme", "dark"]).succeeded();
    world.run(&["reload"]).succeeded();
    let dark = world.eval("getComputedStyle(document.documentElement).backgroundColor");
    assert_ne!(light, dark);
    let origins = "performance.getEntriesByType('resource').map((one) => new URL(one.name).origin)";
    let requested = world.json(&["eval", origins])["result"]["value"].clone();
    let requested = requested.as_array().expect("a list");
    let own = origin.trim_end_matches('/');
    assert!(!requested.is_empty() && requested.iter().all(|one| one == own), "{requested:?}");
}
