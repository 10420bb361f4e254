//! The size budget: elements nearest to the viewport come first.

use serde_json::json;

use crate::snapshot::stage::Stage;

fn sections(count: u32) -> String {
    (0..count)
        .map(|number| {
            let rest = number % 3;
            let tag = ["section", "article", "div"][rest as usize];
            format!("<{tag}><h2 id=s{number}>Section {number}</h2><p>Some words about number {number} that take room.</p><button>Do {number}</button></{tag}>")
        })
        .collect()
}

#[tokio::test]
async fn elements_in_view_come_first() {
    let stage = Stage::with(&format!("<h1>Top</h1>{}<footer>The end</footer>", sections(200))).await;
    let page = stage.snapshot(json!({"budget": 2_000})).await;
    assert!(page.names("heading").contains(&"Section 0"));
    assert!(!page.names("heading").contains(&"Section 150"));
    assert_eq!(page.0["left"]["spent"], true);
    stage.eval("s150.scrollIntoView()").await;
    let page = stage.snapshot(json!({"budget": 2_000})).await;
    let headings = page.names("heading");
    assert!(headings.contains(&"Section 150") && headings.contains(&"Section 152"), "{}", page.outline());
    assert!(!headings.contains(&"Section 10"), "{}", page.outline());
    let full = stage.snapshot(json!({"budget": 2_000, "full": true})).await;
    assert_eq!(full.names("button").len(), 200, "`full` lists everything");
    assert_eq!(full.0["left"]["spent"], false);
}

#[tokio::test]
async fn overlays_count_as_in_view() {
    let box_at = |wrapper: &str| {
        format!(
            "<main>{}</main><div style='{wrapper}'><div style='position:fixed;inset:100px;background:white'><button>Accept cookies</button></div></div>",
            sections(200)
        )
    };
    let mut stage = Stage::start().await;
    for wrapper in ["", "height:50px;width:50px"] {
        stage.show(&box_at(wrapper)).await;
        let page = stage.snapshot(json!({"budget": 3_000})).await;
        assert!(page.names("button").contains(&"Accept cookies"), "{wrapper}:\n{}", page.outline());
    }
}
