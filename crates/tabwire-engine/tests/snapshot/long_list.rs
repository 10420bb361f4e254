//! Long lists and tables: the rows around the viewport, the count of the others, and how to continue.

use serde_json::json;

use crate::snapshot::stage::{Stage, Walked};

fn first_and_last<'a>(page: &'a Walked, role: &str) -> (&'a str, &'a str) {
    let names = page.names(role);
    (names.first().copied().unwrap_or_default(), names.last().copied().unwrap_or_default())
}

#[tokio::test]
async fn table_with_10000_rows_is_cut() {
    let mut stage = Stage::at("/table?rows=10000").await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.find("table", "People")[4]["rows"], 10_000);
    assert!(page.nodes().len() < 400, "{} nodes", page.nodes().len());
    assert_eq!(first_and_last(&page, "button").0, "Open 1");
    let below = page.more("below").expect("more rows").clone();
    let shown = page.names("button").len() as u64;
    assert_eq!(below["below"].as_u64().map(|below| below + shown), Some(10_000));
    assert_eq!((&below["unit"], below["from"].as_u64()), (&json!("row"), Some(shown + 1)));

    stage.eval("document.getElementById('row-5000').scrollIntoView({block: 'center'})").await;
    let page = stage.snapshot(json!({})).await;
    assert!(page.names("button").contains(&"Open 5000"), "{}", page.outline());
    assert_eq!(page.names("columnheader").len(), 5, "the header is always there");
    let (above, below) = (page.more("above").expect("above"), page.more("below").expect("below"));
    let shown = page.names("button").len() as u64;
    let omitted = above["above"].as_u64().expect("a count") + below["below"].as_u64().expect("a count");
    assert_eq!(omitted + shown, 10_000);

    let next = stage.snapshot(json!({"within": below["key"], "from": below["from"]})).await;
    assert_eq!(first_and_last(&next, "button").0, format!("Open {}", below["from"]));
    assert!(next.names("button").len() > 50, "an explicit request shows more at once");

    stage.open("/table?rows=20").await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.names("button").len(), 20, "a short table is complete");
    assert!(page.more("below").is_none());
}

#[tokio::test]
async fn long_lists_are_cut_around_the_viewport() {
    let mut stage = Stage::start().await;
    let items = |tag: &str, style: &str| -> String {
        (0..3_000)
            .map(|number| format!("<{tag} style='{style}'><button>Button {number}</button></{tag}>"))
            .collect()
    };
    let cases = [
        ("list", format!("<ul>{}</ul>", items("li", ""))),
        ("wrappers", format!("<main><div>{}</div></main>", items("div", ""))),
        (
            "grid",
            format!(
                "<div style='display:grid;grid-template-columns:repeat(4,1fr)'>{}</div>",
                items("div", "")
            ),
        ),
        (
            "scrolling box",
            format!("<div id=box style='height:300px;overflow:auto'>{}</div>", items("div", "")),
        ),
        ("row of columns", format!("<div style='display:flex'>{}</div>", items("div", "min-width:90px"))),
        (
            "hidden ones between",
            format!("<ul>{}</ul>", items("li", "").replace("<li style=''>", "<li hidden>x</li><li>")),
        ),
    ];
    for (kind, html) in cases {
        stage.show(&html).await;
        stage.eval("document.querySelectorAll('button')[1500].scrollIntoView({block: 'center', inline: 'center'})").await;
        let page = stage.snapshot(json!({})).await;
        assert!(page.names("button").contains(&"Button 1500"), "{kind}:\n{}", page.outline());
        assert!(page.nodes().len() < 500, "{kind}: {} nodes", page.nodes().len());
        assert!(page.more("above").is_some() && page.more("below").is_some(), "{kind}:\n{}", page.outline());
    }
}

#[tokio::test]
async fn children_in_visual_disorder_are_found_by_position() {
    let items: String = (0..1_000)
        .map(|number| {
            let place = (number * 377) % 1_000;
            format!(
                "<div style='position:absolute;top:{}px'><button>Button {number}</button></div>",
                place * 30
            )
        })
        .collect();
    let stage = Stage::with(&format!("<div style='position:relative;height:30000px'>{items}</div>")).await;
    stage.eval("scrollTo(0, 15000)").await;
    let page = stage.snapshot(json!({})).await;
    let near =
        page.nodes().iter().filter(|node| node[1] == "button" && node[4].get("remoteness").is_none()).count();
    assert!(near > 0, "something in view is listed:\n{}", page.outline());
}
