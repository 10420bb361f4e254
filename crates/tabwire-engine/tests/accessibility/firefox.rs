//! The page agent in Firefox: it reports the same elements as in Chromium.
//!
//! `firefox_differences.toml` lists the pages that differ, with the reasons. The test fails on a page that is not listed,
//! and on a listed one that does not differ.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::accessibility::corpus::{self, CorpusPage};
use crate::accessibility::probe::{self, OurElement};
use crate::accessibility::stage::{Stage, Tab};
use crate::browser::FIREFOX;
use tabwire_testkit::bench::CHROMIUM;

/// How often a page that differs is compared again: it may not have been rendered yet.
const RETRIES: usize = 2;

/// Pages that differ, at most.
const DIFFERENT: usize = 2;

#[derive(Debug, Deserialize)]
struct Listed {
    #[serde(default)]
    page: Vec<ListedPage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedPage {
    name: String,
    /// The elements that differ: `canvas 4`.
    elements: Vec<String>,
    reason: String,
}

#[tokio::test]
async fn agent_sees_in_firefox_what_it_sees_in_chromium() {
    let listed: Listed = toml::from_str(include_str!("firefox_differences.toml")).expect("the file's form");
    let listed: BTreeMap<&str, &ListedPage> =
        listed.page.iter().map(|page| (page.name.as_str(), page)).collect();
    assert!(listed.len() <= DIFFERENT, "{} pages differ", listed.len());
    assert!(listed.values().all(|page| page.reason.len() > 30), "reasons worth reading");
    let chromium = Stage::start_program(Path::new(CHROMIUM)).await;
    let firefox = Stage::start_program(Path::new(FIREFOX)).await;
    let (mut left, mut right) = (chromium.tab().await, firefox.tab().await);
    let mut problems = Vec::new();
    for page in corpus::pages() {
        let expected = listed.get(page.name.as_str()).map(|page| page.elements.clone()).unwrap_or_default();
        let mut differences = differences_on(&mut left, &mut right, &page).await;
        for _ in 0..RETRIES {
            if elements_of(&differences) == expected {
                break;
            }
            differences = differences_on(&mut left, &mut right, &page).await;
        }
        if elements_of(&differences) != expected {
            problems.push(format!("{}: listed {expected:?}, found {differences:#?}", page.name));
        }
    }
    assert!(problems.is_empty(), "{} pages\n{}", problems.len(), problems.join("\n"));
}

/// An element and what both say about it.
type Difference = (String, Option<OurElement>, Option<OurElement>);

async fn differences_on(left: &mut Tab, right: &mut Tab, page: &CorpusPage) -> Vec<Difference> {
    let (left, right) = tokio::join!(elements_on(left, page), elements_on(right, page));
    let (mut left, mut right) = (by_name(left), by_name(right));
    let mut names: Vec<String> = left.keys().chain(right.keys()).cloned().collect();
    names.sort();
    names.dedup();
    let pairs = names.into_iter().map(|name| {
        let (ours, theirs) = (left.remove(&name), right.remove(&name));
        (name, ours, theirs)
    });
    pairs.filter(|(_, ours, theirs)| ours != theirs).collect()
}

async fn elements_on(tab: &mut Tab, page: &CorpusPage) -> Vec<OurElement> {
    tab.show(&page.html).await;
    probe::elements(tab).await
}

fn by_name(elements: Vec<OurElement>) -> BTreeMap<String, OurElement> {
    elements.into_iter().map(|element| (format!("{} {}", element.tag, element.number), element)).collect()
}

fn elements_of(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(|(name, ..)| name.clone()).collect()
}
