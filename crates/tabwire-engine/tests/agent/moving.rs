//! Scrolling, and the element at a point.

use serde_json::json;

use crate::agent::stage::Stage;

#[tokio::test]
async fn pages_and_containers_scroll() {
    let mut stage = Stage::start().await;
    stage
        .show(
            "<style>body{margin:0}html{scroll-behavior:smooth}</style><div id=box style='height:100px;width:100px;overflow:auto'><div style='height:500px;width:300px'><b id=in>in</b></div></div>
            <div style='height:3000px'></div><button id=low>Low</button>",
        )
        .await;
    let scrolled = stage.run("scroll", json!({"by": {"y": 200}})).await;
    assert_eq!((&scrolled["moved"]["y"], &scrolled["after"]["y"]), (&json!(200), &json!(200)));
    assert_eq!((&scrolled["at"]["top"], &scrolled["at"]["bottom"]), (&json!(false), &json!(false)));
    let scrolled = stage.run("scroll", json!({"edge": "bottom"})).await;
    assert_eq!(scrolled["at"]["bottom"], true);
    let again = stage.run("scroll", json!({"by": {"y": 100}})).await;
    assert_eq!(again["moved"]["y"], 0, "the end was reached");
    stage.run("scroll", json!({"to": {"y": 0}})).await;
    let key = stage.key(json!({"css": "#in"})).await;
    let scrolled = stage.run("scroll", json!({"key": key, "by": {"y": 50, "x": 20}})).await;
    assert_eq!(
        (&scrolled["after"]["y"], &scrolled["after"]["x"]),
        (&json!(50), &json!(20)),
        "the box, not the page"
    );
    assert_eq!(stage.eval("box.scrollTop + scrollY").await, 50);
    let key = stage.key(json!({"css": "#low"})).await;
    let scrolled = stage.run("scroll", json!({"key": key})).await;
    assert!(scrolled["moved"]["y"].as_i64().is_some_and(|moved| moved > 2_000), "{scrolled}");
    assert_eq!(stage.failure("scroll", json!({"edge": "middle"})).await["code"], "BAD_ARGS");
    assert_eq!(stage.failure("scroll", json!({})).await["code"], "BAD_ARGS");
}

#[tokio::test]
async fn hit_returns_the_element_at_a_point() {
    let mut stage = Stage::start().await;
    stage.show("<style>body{margin:0}</style><button style='position:absolute;left:10px;top:10px;width:100px;height:40px'>Here</button><my-x></my-x><script>
        document.querySelector('my-x').attachShadow({mode:'open'}).innerHTML = '<a href=x style=\"position:absolute;left:200px;top:10px\">There</a>'</script>").await;
    assert_eq!(stage.run("hit", json!({"x": 50, "y": 30})).await["name"], "Here");
    assert_eq!(stage.run("hit", json!({"x": 205, "y": 15})).await["name"], "There");
    assert_eq!(stage.run("hit", json!({"x": -5, "y": 30})).await, json!(null));
}
