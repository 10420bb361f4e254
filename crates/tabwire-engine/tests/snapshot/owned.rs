//! Elements that others claim with `aria-owns`: shown under their owner, once.

use serde_json::json;

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn owned_elements_appear_once_below_their_owner() {
    let stage = Stage::with(
        r#"<div role="menu" aria-owns="m1 m2" aria-label="M"></div><div><div role="menuitem" id="m1">One</div></div><div role="menuitem" id="m2">Two</div>
        <ul aria-label="L" aria-owns="far"><li>First</li></ul><main><div id="far" role="listitem">Far</div><button>Last</button></main>
        <div id="p" role="group" aria-label="P" aria-owns="q"><button>in p</button></div><div id="q" role="group" aria-label="Q" aria-owns="p"><button>in q</button></div>"#,
    )
    .await;
    let expected = r#"
menu "M"
  menuitem "One"
  menuitem "Two"
list "L"
  listitem "First"
  listitem "Far"
main
  button "Last"
group "P"
  button "in p"
  group "Q"
    button "in q""#;
    for options in [json!({}), json!({"full": true})] {
        assert_eq!(stage.snapshot(options).await.outline(), expected.trim_start());
    }
}

#[tokio::test]
async fn elements_with_a_hidden_owner_are_still_listed() {
    let stage = Stage::with(
        r#"<input role="combobox" aria-label="City" aria-owns="list"><div role="listbox" id="list" aria-label="Cities"><div role="option">Oslo</div></div>
        <div style="display:none" aria-owns="kept"></div><p id="kept">Kept</p><button aria-owns="beside">Save</button><a href="http://shop.example/" id="beside">Beside</a>
        <div role="group" aria-label="Outside" aria-owns="inner"></div><section aria-label="Part" id="part"><button id="inner">Inner</button></section>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.names("option"), ["Oslo"], "{}", page.outline());
    assert_eq!(page.names("text"), ["Kept"], "{}", page.outline());
    assert_eq!(page.names("link"), ["Beside"], "{}", page.outline());
    assert_eq!(page.names("button").len(), 2, "{}", page.outline());
    // A snapshot of the part that contains it in the markup shows it there.
    let page = stage.snapshot(json!({"full": true})).await;
    let part = page.key("group", "Outside");
    let inside = stage.snapshot(json!({"within": part})).await;
    assert_eq!(inside.names("button"), ["Inner"], "{}", inside.outline());
}
