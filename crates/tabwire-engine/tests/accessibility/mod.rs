//! Compares the page agent's roles, names, states and exposure with Chrome's accessibility tree.
//!
//! The test loads every page of the files in `pages/` and compares every element. `known_differences.toml` lists
//! intended differences with their reasons. The test fails on a difference that is not listed, and on a listed one that
//! does not occur.

mod chrome_role;
mod chrome_tree;
mod comparison;
mod corpus;
mod firefox;
mod growth;
mod known_differences;
mod perceiving;
mod probe;
mod secrets;
mod stage;

use std::sync::atomic::{AtomicUsize, Ordering};

use self::comparison::Difference;
use self::corpus::CorpusPage;
use self::known_differences::KnownDifferences;
use self::stage::{Stage, Tab};

/// Pages that are compared in parallel; more only slow each other down.
const TABS: usize = 2;

/// How often a page that differs is compared again.
const RETRIES: usize = 2;

#[tokio::test]
async fn agent_matches_the_accessibility_tree_of_chrome() {
    let pages = corpus::pages();
    assert!(pages.len() >= 270, "a corpus of {} pages", pages.len());
    let stage = Stage::start().await;
    let next = AtomicUsize::new(0);
    let known = KnownDifferences::read();
    let look = async || {
        let mut tab = stage.tab().await;
        let mut found = Vec::new();
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            // A page that is not rendered yet differs, so compare it again.
            let mut differences = differences_on(&mut tab, page).await;
            for _ in 0..RETRIES {
                if differences.iter().all(|one| known.lists(one)) {
                    break;
                }
                differences = differences_on(&mut tab, page).await;
            }
            found.extend(differences);
        }
        found
    };
    let looks = futures_util::future::join_all((0..TABS).map(|_| look())).await;
    let mut found: Vec<Difference> = looks.into_iter().flatten().collect();
    found.sort();
    known.check(&found);
}

async fn differences_on(tab: &mut Tab, page: &CorpusPage) -> Vec<Difference> {
    tab.show(&page.html).await;
    let ours = probe::elements(tab).await;
    let theirs = chrome_tree::elements(tab).await;
    assert_eq!(ours.len(), theirs.len(), "{}: both see the same elements", page.name);
    let pairs = ours.iter().zip(&theirs);
    pairs.flat_map(|(ours, theirs)| comparison::differences(&page.name, ours, theirs)).collect()
}
