//! The page agent's `find`: all nodes of a page in portions.

use serde_json::{Value, json};

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn portions_add_up_to_the_whole_page() {
    let stage = Stage::at("/rows?count=600").await;
    let whole = stage.call("find", json!({})).await.expect("all");
    let all = whole["nodes"].as_array().expect("nodes").clone();
    assert_eq!(all.iter().filter(|node| node[1] == "button").count(), 600, "nothing is cut");
    assert_eq!((&whole["next"], &whole["above"]), (&Value::Null, &json!(0)));
    let mut gathered: Vec<Value> = Vec::new();
    let mut from = json!(0);
    let mut portions = 0;
    while !from.is_null() {
        let portion =
            stage.call("find", json!({"from": from, "characters": 20_000})).await.expect("a portion");
        let above = usize::try_from(portion["above"].as_u64().expect("a count")).expect("small");
        let nodes = portion["nodes"].as_array().expect("nodes");
        let depths: Vec<u64> = nodes[..above].iter().filter_map(|node| node[0].as_u64()).collect();
        assert_eq!(depths, (0..depths.len() as u64).collect::<Vec<u64>>(), "its ancestors, outermost first");
        gathered.extend_from_slice(&nodes[above..]);
        from = portion["next"].clone();
        portions += 1;
    }
    assert!(portions > 2, "{portions} portions");
    assert_eq!(gathered, all);
}

#[tokio::test]
async fn search_with_words_walks_only_rows_that_may_match() {
    let mut stage = Stage::at("/table?rows=10000").await;
    let found = stage.call("find", json!({"words": ["open", "4711"]})).await.expect("found");
    let nodes = found["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.iter().filter(|node| node[1] == "button").count(), 1, "{} nodes", nodes.len());
    assert_eq!(found["uncounted"], 0);
    let found = stage.call("find", json!({"words": ["open"]})).await.expect("found");
    let buttons = found["nodes"].as_array().into_iter().flatten().filter(|node| node[1] == "button").count();
    assert_eq!(found["uncounted"].as_u64().map(|more| more + buttons as u64), Some(10_000));
    // Text that is not in a row's own markup counts too: values, labels, CSS, shadow roots, URLs.
    let rows: String = (0..100).map(|row| format!("<li>Row {row}</li>")).collect();
    let special = r#"<li class=g>One</li><li><input aria-label=Field></li><li><label for=far>Quito</label></li><li><input id=far></li>
        <li><b aria-labelledby=name>Two</b></li><li id=host></li><li>Pa<b>ri</b>s</li><li><img alt="Turin"> by night</li><li><a href="x/../wanted">Go</a></li>"#;
    stage
        .show(&format!(
            r#"<base href="http://base.example/lima/"><style>.g::after {{ content: "Oslo" }}</style><p id=name>Rome</p><ul>{rows}{special}</ul>
            <script>document.querySelector('input').value = 'Bern'; document.querySelector('#host').attachShadow({{mode: 'open'}}).innerHTML = 'Kiev';</script>"#
        ))
        .await;
    for (words, role) in [
        (json!(["oslo"]), "listitem"),
        (json!(["bern"]), "textbox"),
        (json!(["quito"]), "textbox"),
        (json!(["kiev"]), "listitem"),
        (json!(["paris"]), "listitem"),
        (json!(["turin", "night"]), "img"),
        (json!(["lima"]), "link"),
    ] {
        let found = stage.call("find", json!({"words": words})).await.expect("found");
        let nodes = found["nodes"].as_array().expect("nodes");
        assert!(nodes.len() < 40 && nodes.iter().any(|node| node[1] == role), "{words}: {found}");
    }
}
