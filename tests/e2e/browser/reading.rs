//! Text, HTML, Markdown, links, images, PDF, values and console lines on the command line.

use std::fs;

use serde_json::Value;

use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

#[test]
fn a_page_is_read_as_text_html_markdown_and_links() {
    launched(read_a_page);
}

pub(crate) fn read_a_page(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/article")]);
    let heading = world.eval("document.querySelector('article h1, main h1, h1').textContent.trim()");
    let text = world.run(&["get-text"]).succeeded();
    assert!(text.stdout.contains(&heading), "{text:?}");
    let part = world.run(&["get-text", "h1", "--nth", "1"]).succeeded();
    let lines: Vec<&str> = part.stdout.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("<page ") && lines[1] == heading, "{part:?}");
    let cut = world.json(&["get-text", "--limit", "20"]);
    assert_eq!(
        (&cut["result"]["truncated"], &cut["result"]["next"]),
        (&Value::Bool(true), &20.into()),
        "{cut}"
    );
    let html = world.run(&["get-html", "--clean", "h1", "--nth", "1"]).succeeded();
    assert!(html.stdout.contains("\n<h1") && html.stdout.contains(&heading), "{html:?}");
    let markdown = world.run(&["read-as-markdown"]).succeeded();
    assert!(markdown.stdout.contains(&format!("# {heading}")), "{markdown:?}");
    assert!(!markdown.stdout.contains("NOISE-") && !markdown.stdout.contains("]("), "{markdown:?}");
    assert_eq!(world.json(&["read-as-markdown", "--whole"])["result"]["part"], "page");
    world.open(&[&site.page("/plain")]);
    let links = world.run(&["extract-links"]).succeeded();
    assert!(links.stdout.contains("http://a.localhost:"), "{links:?}");
    let links = world.json(&["extract-links", "--limit", "1"]);
    assert!(
        links["result"]["links"][0]["url"].as_str().is_some_and(|url| url.starts_with("http")),
        "{links}"
    );
    let absent = world.run(&["--json", "--timeout", "200ms", "get-text", "#absent"]);
    assert_eq!(absent.failure(), ("SELECTOR_NOT_FOUND".to_owned(), 1), "{absent:?}");
}

#[test]
fn a_page_is_saved_as_screenshot_and_pdf() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.open(&["--window", "800x600", &site.page("/plain")]);
    let taken = world.json(&["screenshot", "-o", "view.png"]);
    assert_eq!(taken["result"]["width"], 800, "{taken}");
    assert!(fs::read(world.home().join("view.png")).expect("written").starts_with(b"\x89PNG"));
    let own = world.run(&["screenshot", "#count", "--format", "jpeg"]).succeeded();
    let path = own.stdout.split_whitespace().find(|word| word.starts_with('/')).expect("a path");
    assert!(
        fs::read(path.trim_end_matches([',', ':'])).expect("written").starts_with(&[0xff, 0xd8]),
        "{own:?}"
    );
    let marked = world.run(&["screenshot", "--annotate", "-o", "marked.png"]).succeeded();
    let line = marked.stdout.lines().find(|line| line.contains("button")).expect("a mark").to_owned();
    let name = line
        .split(['[', ']', ' ', ':'])
        .find(|word| word.starts_with('e') && word[1..].parse::<u32>().is_ok());
    let clicked = world.run(&["click", name.unwrap_or_else(|| panic!("a ref in {line}"))]).succeeded();
    assert!(clicked.stdout.starts_with("clicked button"), "{clicked:?}");
    world.run(&["screenshot", "-o", "view.png"]).succeeded();
    fs::write(world.home().join("theirs.png"), "a file of the user").expect("written");
    let taken = world.run(&["--json", "screenshot", "-o", "theirs.png"]);
    assert_eq!(taken.failure(), ("BAD_ARGS".to_owned(), 2), "only own files are overwritten: {taken:?}");
    let printed = world.run(&["pdf", "-o", "paper.pdf", "--paper", "a5"]).succeeded();
    assert!(printed.stdout.contains("paper.pdf"), "{printed:?}");
    assert!(fs::read(world.home().join("paper.pdf")).expect("written").starts_with(b"%PDF-"));
}

#[test]
fn values_points_and_console_lines_are_shown() {
    launched(show_values);
}

pub(crate) fn show_values(world: &World, site: &FixtureSite) {
    world.open(&[&site.page("/console/errors")]);
    world.run(&["console", "--clear"]).succeeded();
    world.run(&["click", "#log-line", "--then", "click", "#exception"]).succeeded();
    let lines = world.run(&["console"]).succeeded();
    assert!(lines.stdout.lines().count() >= 2, "{lines:?}");
    assert_eq!(
        world.json(&["console"])["result"]["lines"],
        serde_json::json!([]),
        "each line is listed once"
    );
    let errors = world.run(&["errors"]).succeeded();
    assert!(errors.stdout.contains("Error"), "{errors:?}");
    let all = world.json(&["console", "--all", "--level", "error"]);
    assert_eq!(all["result"]["lines"].as_array().map(Vec::len), Some(1), "{all}");

    world.open(&[&site.page("/plain")]);
    assert_eq!(world.eval("() => document.title"), "Plain page");
    let given = world.run(&["eval", "element => element.id", "--element", "#count"]).succeeded();
    assert_eq!(given.text(), "count");
    let place = world.json(&["get", "box", "#count"]);
    let middle = |at: &str, size: &str| {
        let number = |name: &str| place["result"]["value"][name].as_f64().expect("a number");
        number(at) + number(size) / 2.0
    };
    let point = format!("{},{}", middle("x", "width"), middle("y", "height"));
    let found = world.run(&["inspect", &point]).succeeded();
    assert!(found.stdout.contains("button"), "{found:?}");
    let found = world.json(&["inspect", &point]);
    assert_eq!(found["result"]["tag"], "button", "{found}");
    let outside = world.run(&["--json", "inspect", "90000,5"]);
    assert_eq!(outside.failure(), ("BAD_ARGS".to_owned(), 2), "{outside:?}");
}
