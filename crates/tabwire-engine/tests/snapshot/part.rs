//! Snapshots of a part of a page: one element, some levels, or interactive elements.

use serde_json::json;

use crate::snapshot::stage::Stage;

const PAGE: &str = r#"<main><h1>Cart</h1><p>Two things</p><section aria-label=Things><ul><li>Apples <button>Remove</button><li>Pears</ul></section>
    <section aria-label=Pay><label>Card <input></label><button>Pay</button></section></main>"#;

#[tokio::test]
async fn snapshot_of_one_element_shows_its_content() {
    let stage = Stage::with(PAGE).await;
    let page = stage.snapshot(json!({})).await;
    let within = page.key("region", "Pay");
    let part = stage.snapshot(json!({"within": within})).await;
    assert_eq!(part.outline(), "region \"Pay\"\n  textbox \"Card\"\n  button \"Pay\"");
    assert_eq!(part.key("button", "Pay"), page.key("button", "Pay"));
    stage.eval("document.querySelectorAll('section')[1].remove()").await;
    let expired = stage.call("snapshot", json!({"within": within})).await.expect_err("gone");
    assert_eq!(expired["code"], "REF_EXPIRED");
    let never = stage.call("find", json!({"within": 4_000_000})).await.expect_err("never there");
    assert_eq!(never["code"], "REF_EXPIRED");
}

#[tokio::test]
async fn depth_and_interactive_limit_the_snapshot() {
    let stage = Stage::with(PAGE).await;
    let shallow = stage.snapshot(json!({"depth": 1})).await;
    let expected = r#"
main
  heading "Cart" {"level":1}
  text "Two things"
  region "Things"
     {"more":{"below":1,"from":1,"total":1}}
  region "Pay"
     {"more":{"below":2,"from":1,"total":2}}"#;
    assert_eq!(shallow.outline(), expected.trim_start());
    let interactive = stage.snapshot(json!({"interactive": true})).await;
    let expected = r#"
main
  heading "Cart" {"level":1}
  region "Things"
    button "Remove"
  region "Pay"
    textbox "Card"
    button "Pay""#;
    assert_eq!(interactive.outline(), expected.trim_start());
}

#[tokio::test]
async fn snapshot_within_a_closed_select_lists_its_options() {
    let options: String = (1..=30).map(|number| format!("<option>City {number}")).collect();
    let stage = Stage::with(&format!("<select aria-label=City>{options}</select>")).await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.outline(), "combobox \"City\" {\"options\":30,\"value\":\"City 1\"}");
    let inside = stage.snapshot(json!({"within": page.key("combobox", "City")})).await;
    assert_eq!(inside.names("option").len(), 30);
    assert_eq!(inside.find("option", "City 1")[4]["states"]["selected"], true);
}
