//! Hostile pages: hidden text, endless depth, and pages that try to detect a snapshot.

use serde_json::json;

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn t29_invisible_text_is_not_in_the_snapshot() {
    let stage = Stage::at("/hostile/hidden").await;
    let source = stage.eval("document.documentElement.outerHTML").await;
    let source = source.as_str().expect("text");
    let visible = |word: &&str| word.starts_with("VISIBLE-");
    let words: Vec<&str> = source
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .filter(visible)
        .collect();
    assert!(words.len() > 15, "{words:?}");
    for options in [json!({}), json!({"full": true})] {
        let page = stage.snapshot(options.clone()).await;
        let snapshot = page.0.to_string();
        assert!(!snapshot.contains("CANARY"), "{options}:\n{}", page.outline());
        // An aria-label replaces the element's text.
        for word in words.iter().filter(|word| !word.contains("label-text")) {
            assert!(snapshot.contains(word), "{word} with {options} in\n{}", page.outline());
        }
    }
}

#[tokio::test]
async fn t29_names_exclude_hidden_text() {
    let stage = Stage::with(
        r#"<button>Pay <span style="opacity:0">CANARY one</span></button><a href="http://shop.example/">Home <i style="color:white">CANARY two</i></a>
        <h2>News<span style="font-size:0">CANARY three</span></h2><div style="transform:scale(0)"><p>CANARY four</p></div><p class=s style="position:absolute;width:1px;height:1px;overflow:hidden">Said aloud</p>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    let expected = r#"
button "Pay"
link "Home" {"target":"http://shop.example/"}
heading "News" {"level":2}
text "Said aloud" {"concealed":"screen-reader-only"}"#;
    assert_eq!(page.outline(), expected.trim_start());
}

#[tokio::test]
async fn f16_odd_characters_and_deep_nesting_do_not_break_snapshots() {
    let mut stage = Stage::at("/hostile/surrogates").await;
    let page = stage.snapshot(json!({})).await;
    assert!(page.0.to_string().contains("Whole 😀 pair"), "{}", page.outline());
    // The deepest page comes last: Chromium can crash when it navigates away from it.
    for kind in ["&kind=list", "&kind=shadow", ""] {
        stage.open(&format!("/hostile/depth?depth=10000{kind}")).await;
        let page = stage.snapshot(json!({})).await;
        assert!(page.nodes().len() > 1, "{kind}:\n{}", page.outline());
    }
}

#[tokio::test]
async fn page_cannot_detect_a_snapshot() {
    let stage = Stage::at("/hostile/watch").await;
    stage.eval("arm()").await;
    let quiet = stage.eval("report()").await;
    stage.snapshot(json!({})).await;
    stage.snapshot(json!({"full": true, "interactive": true})).await;
    stage.call("find", json!({})).await.expect("finds");
    let seen = stage.eval("window.seen").await;
    assert_eq!(seen, json!([]), "before: {quiet}");
}
