//! Runs the recipes of the page about the Chrome shim as printed, with this machine's paths.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::chrome_shim::launcher::{Launcher, run_code, shim};
use crate::chrome_shim::port_process::PortChrome;
use crate::support::cdp_client::CdpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::wait::eventually;
use crate::support::world::World;

/// The link and the profile in the page's examples.
const LINK: &str = "/home/me/bin/tabwire-chrome";
const PROFILE: &str = "/home/me/profile";

/// The code blocks of one recipe, with this world's paths.
pub(crate) fn recipe(world: &World, heading: &str) -> Vec<String> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/chrome-executable.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let (_, rest) = text.split_once(&format!("**{heading}**")).unwrap_or_else(|| panic!("no {heading}"));
    let section = rest.split("\n**").next().unwrap_or_default();
    let link = shim(world).to_string_lossy().into_owned();
    let profile = world.home().join("recipe").to_string_lossy().into_owned();
    let blocks = section.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.split_once('\n')).map(|(_, code)| code.trim());
    let found: Vec<String> =
        blocks.map(|code| code.replace(LINK, &link).replace(PROFILE, &profile)).collect();
    assert!(!found.is_empty(), "{heading}");
    found
}

#[test]
fn the_recipes_for_libraries_run_as_they_are_printed() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    let page = json!(site.page("/plain"));
    let lines: Vec<String> = ["Playwright", "Puppeteer"]
        .into_iter()
        .flat_map(|heading| recipe(&world, heading))
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for line in lines {
        let name = line.split(' ').nth(1).expect("a constant");
        let code = format!(
            "import {{ chromium }} from 'playwright-core'; import puppeteer from 'puppeteer-core';\n{line}\n\
             const page = await {name}.newPage(); await page.goto({page});\n\
             console.log(JSON.stringify({{ title: await page.title() }})); await {name}.close();"
        );
        let output = run_code(&world, &code);
        assert!(output["title"].as_str().is_some_and(|title| !title.is_empty()), "{line}: {output}");
    }
}

#[test]
fn the_recipes_for_mcp_servers_run_as_they_are_printed() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    for (heading, tool, open) in [
        ("chrome-devtools-mcp", "chrome-devtools-mcp", "new_page"),
        ("@playwright/mcp", "playwright-mcp", "browser_navigate"),
    ] {
        let printed: Value = serde_json::from_str(&recipe(&world, heading)[0]).expect("JSON");
        let servers = printed["mcpServers"].as_object().expect("servers");
        let server = servers.values().next().expect("a server");
        assert_eq!((&server["command"], &server["args"][0]), (&json!("npx"), &json!(heading)));
        let arguments = json!(server["args"].as_array().expect("a list")[1..]).to_string();
        let profile = world.home().join("recipe").to_string_lossy().into_owned();
        let more = ["--profile", &*profile, "--arguments", &*arguments];
        let mut launcher = Launcher::start_server(&world, tool, &more);
        let opened = launcher.command(&json!({"call": open, "arguments": {"url": site.page("/plain")}}));
        assert_eq!(opened["failed"], false, "{heading}: {opened}");
        launcher.close();
        eventually("its browser ends", 10, || world.browser_processes().is_empty());
    }
}

#[test]
fn the_recipe_for_a_port_runs_as_it_is_printed() {
    let world = World::new().with_whole_chromium();
    let printed = recipe(&world, "Anything that connects to a port").remove(0);
    let (line, said) = printed.split_once('\n').expect("a command and what it says");
    assert!(said.starts_with("DevTools listening on ws://127.0.0.1:9222/devtools/browser/"), "{said}");
    let mut words = line.trim_start_matches("$ ").split(' ');
    assert_eq!(words.next(), Some("tabwire-chrome"));
    // The printed port may be in use on this machine.
    let words: Vec<&str> = words.filter(|word| *word != "--remote-debugging-port=9222").collect();
    assert_eq!(words.len(), 2, "{words:?}");
    let chrome = PortChrome::start_headed(&world, &words);
    let mut client = CdpClient::connect(&chrome.address);
    client.open_page("about:blank");
}
