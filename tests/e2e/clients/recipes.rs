//! Runs the code of `docs/recipes.md` as it is printed, with this machine's paths and the fixture site.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tabwire_testkit::by_size;

use crate::chrome_shim::launcher::{Launcher, shim};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::{World, wait};

const TABWIRE: &str = env!("CARGO_BIN_EXE_tabwire");

/// The page and the shim in the examples.
const SITE: &str = "http://localhost:8000/";
const LINK: &str = "/home/me/bin/tabwire-chrome";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first code block below a heading, with the language.
fn recipe(heading: &str) -> (String, String) {
    let text = std::fs::read_to_string(repository().join("docs/recipes.md")).expect("the page is there");
    let (_, rest) = text.split_once(&format!("\n### {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let block = rest.split("```").nth(1).expect("a code block");
    let (language, code) = block.split_once('\n').expect("a first line");
    (language.to_owned(), code.to_owned())
}

/// Runs the recipe of a package, whose lock file is in `folder`; it must print the title of the page.
fn runs(world: &World, site: &FixtureSite, heading: &str, folder: &str) {
    let (language, code) = recipe(heading);
    let link = shim(world).to_string_lossy().into_owned();
    let code = code.replace(SITE, &site.page("/plain")).replace(LINK, &link);
    // The MCP SDK passes on few variables: without this the server would leave the test's home.
    let code = code.replace(r#""open"]}"#, r#""open"], "env": dict(__import__("os").environ)}"#);
    let folder = repository().join("tests").join(folder);
    let (program, arguments) = if language == "python" {
        (folder.join(".venv/bin/python"), vec!["-c", &code])
    } else {
        ("node".into(), vec!["--input-type=module", "--eval", &code])
    };
    let beside = Path::new(TABWIRE).parent().expect("a directory").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let temporary = world.home().join("recipes");
    std::fs::create_dir_all(&temporary).expect("a directory");
    let mut command = world.command(program, &arguments);
    command.current_dir(folder).env("PATH", format!("{beside}:{path}")).env("TMPDIR", temporary);
    let child = command.spawn().unwrap_or_else(|_| panic!("{heading}: run `cargo xtask setup --full`"));
    let outcome = wait(child, &[heading]);
    assert_eq!(outcome.code, 0, "{heading}: {outcome:?}");
    assert!(outcome.stdout.contains("Plain page"), "{heading}: {outcome:?}");
}

#[test]
fn recipes_over_a_url_or_a_port_run_as_they_are_printed() {
    let (world, site) = (World::new(), FixtureSite::start());
    for (heading, folder) in [
        ("Playwright", "clients"),
        ("Puppeteer", "clients"),
        ("Stagehand", "packages/stagehand"),
        ("nodriver", "packages/nodriver"),
        ("zendriver", "packages/zendriver"),
    ] {
        runs(&world, &site, heading, folder);
    }
    // These are large: `cargo xtask test --full` installs and runs them.
    let large = [("browser-use", "packages/browser-use"), ("crawl4ai", "packages/crawl4ai")];
    for (heading, folder) in large.into_iter().take(by_size(0, large.len())) {
        runs(&world, &site, heading, folder);
    }
}

#[test]
fn recipes_with_chromedriver_run_as_they_are_printed() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.expect_litter();
    runs(&world, &site, "Selenium", "packages/selenium");
    runs(&world, &site, "WebdriverIO", "packages/webdriverio");
}

#[test]
fn recipes_of_mcp_clients_run_as_they_are_printed() {
    let (world, site) = (World::new(), FixtureSite::start());
    for heading in ["langchain-mcp-adapters", "openai-agents"] {
        runs(&world, &site, heading, "mcp/python");
    }
}

#[test]
fn recipes_of_mcp_servers_run_as_they_are_printed() {
    let (world, site) = (World::new(), FixtureSite::start());
    for (heading, tool, open) in [
        ("@playwright/mcp", "playwright-mcp", "browser_navigate"),
        ("chrome-devtools-mcp", "chrome-devtools-mcp", "navigate_page"),
    ] {
        let (_, code) = recipe(heading);
        let printed: Value = serde_json::from_str(&code).expect("JSON");
        let server = printed["mcpServers"].as_object().and_then(|all| all.values().next()).expect("a server");
        let line = server["args"][1].as_str().expect("a command line");
        let words = line.strip_prefix(&format!("exec npx {heading} ")).expect("the package");
        let option = words.strip_suffix(" \"$(tabwire cdp-url)\"").expect("the URL");
        let arguments = serde_json::json!([option, world.cdp_url()]).to_string();
        let profile = world.home().join("recipe").to_string_lossy().into_owned();
        let more = ["--profile", &profile, "--arguments", &arguments];
        let mut launcher = Launcher::start_server(&world, tool, &more);
        let call = serde_json::json!({"call": open, "arguments": {"url": site.page("/plain"), "pageId": 1}});
        let opened = launcher.command(&call);
        assert_eq!(opened["failed"], false, "{heading}: {opened}");
        launcher.close();
    }
}
