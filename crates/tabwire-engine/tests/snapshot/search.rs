//! Everything on a page in portions, for searching.

use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn portions_make_up_the_whole_page() {
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
        assert_eq!(
            depths,
            (0..depths.len() as u64).collect::<Vec<u64>>(),
            "what it stands in, outermost first"
        );
        gathered.extend_from_slice(&nodes[above..]);
        from = portion["next"].clone();
        portions += 1;
    }
    assert!(portions > 2, "{portions} portions");
    assert_eq!(gathered, all);
}
