//! Firefox of a real Grid, started by geckodriver and driven over the websocket of WebDriver BiDi.

use std::fs;

use super::chromium::{ENDED, loses_and_comes_back, moves_files};
use super::is_full_run;
use crate::policy::frames::origin;
use crate::policy::grants::{allow, remedy};
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::real_grid::{Offer, RealGrid};
use crate::support::world::World;

/// Scenario 12.
#[test]
fn a_firefox_of_a_real_grid_is_driven_kept_and_released() {
    if !is_full_run() {
        return;
    }
    let grid = RealGrid::standalone(Offer::Firefox);
    let site = FixtureSite::start();
    let world = World::new();
    acts(&world, &grid, &site);
    moves_files(&world, &site);
    let id = grid.ids().pop().expect("a session");
    grid.find("DELETE", &format!("/session/{id}"));
    loses_and_comes_back(&world, ENDED, "Plain page");
    world.run(&["close"]).succeeded();
    grid.empties(30);
    is_guarded(&world, &grid, &site);
    grid.empties(30);
    is_swept(&world, &grid, &site);
}

/// The arguments that rent a Firefox.
fn rents(grid: &RealGrid) -> [String; 4] {
    ["--grid".to_owned(), grid.url(), "--browser".to_owned(), "firefox".to_owned()]
}

fn open(world: &World, grid: &RealGrid, page: &str) {
    let rents = rents(grid);
    let arguments: Vec<&str> = rents.iter().map(String::as_str).chain([page]).collect();
    world.open(&arguments);
}

fn acts(world: &World, grid: &RealGrid, site: &FixtureSite) {
    open(world, grid, &site.page("/plain"));
    let status = world.json(&["session", "status"])["result"].clone();
    assert!(status["browser_version"].as_str().is_some_and(|text| text.starts_with("firefox ")), "{status}");
    assert!(world.run(&["snapshot"]).succeeded().stdout.contains("button"));
    let page = "data:text/html,<input%20id=name><button%20onclick='document.title=document.querySelector(`input`).value'>Press</button>";
    world.open(&[page]);
    world.run(&["fill", "#name", "typed"]).succeeded();
    world.run(&["click", "text=Press"]).succeeded();
    assert_eq!(world.eval("document.title"), "typed");
    let picture = world.home().join("page.png");
    world.run(&["screenshot", "-o", picture.to_str().expect("plain")]).succeeded();
    assert!(fs::metadata(&picture).expect("there").len() > 1000);
}

/// A rented browser is judged by commands and results, as an attached one.
fn is_guarded(world: &World, grid: &RealGrid, site: &FixtureSite) {
    let (own, page) = (origin(site, "a"), site.page("/form"));
    let before = site.request_count("/form");
    let rents = rents(grid);
    let arguments = ["--session", "strict", "open", "--policy", "guarded", &page].into_iter();
    let arguments: Vec<&str> = arguments.chain(rents.iter().map(String::as_str)).collect();
    assert_eq!(remedy(world, &arguments), format!("tabwire allow {own}"));
    assert_eq!(site.request_count("/form"), before);
    allow(world, &[&own, "--act"]);
    world.run(&arguments).succeeded();
    let text = world.run(&["--session", "strict", "get-text"]).succeeded();
    assert!(!text.stdout.is_empty());
    let elsewhere = world.run(&["--json", "--session", "strict", "open", &site.url("b", "/plain")]);
    assert_eq!(elsewhere.failure().0, "POLICY_DENIED", "{elsewhere:?}");
    world.run(&["--session", "strict", "close"]).succeeded();
}

fn is_swept(world: &World, grid: &RealGrid, site: &FixtureSite) {
    open(world, grid, &site.page("/plain"));
    assert_eq!(grid.ids().len(), 1);
    kill(world.daemon_pid());
    world.run(&["daemon", "start"]).succeeded();
    grid.empties(60);
    assert_eq!(world.eval("document.title"), "Plain page", "its tab is open again");
    world.run(&["close"]).succeeded();
    grid.empties(30);
}
