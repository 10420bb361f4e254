//! Pages that want to be told otherwise than they look, or not to end, or to know that they are read.

use serde_json::json;

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn t29_what_nobody_sees_is_not_told() {
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
        let told = page.0.to_string();
        assert!(!told.contains("CANARY"), "{options}:\n{}", page.outline());
        // A label that is spoken takes the place of the text below it.
        for word in words.iter().filter(|word| !word.contains("label-text")) {
            assert!(told.contains(word), "{word} with {options} in\n{}", page.outline());
        }
    }
}

#[tokio::test]
async fn t29_names_leave_out_what_is_hidden_in_them() {
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
async fn f16_odd_characters_and_endless_depth_are_survived() {
    let mut stage = Stage::at("/hostile/surrogates").await;
    let page = stage.snapshot(json!({})).await;
    assert!(page.0.to_string().contains("Whole 😀 pair"), "{}", page.outline());
    // The deepest last: Chromium has died of leaving it.
    for kind in ["&kind=list", "&kind=shadow", ""] {
        stage.open(&format!("/hostile/depth?depth=10000{kind}")).await;
        let page = stage.snapshot(json!({})).await;
        assert!(page.nodes().len() > 1, "{kind}:\n{}", page.outline());
    }
}

#[tokio::test]
async fn a_page_cannot_tell_that_it_is_read() {
    let stage = Stage::at("/hostile/watch").await;
    stage.eval("arm()").await;
    let quiet = stage.eval("report()").await;
    stage.snapshot(json!({})).await;
    stage.snapshot(json!({"full": true, "interactive": true})).await;
    stage.call("find", json!({})).await.expect("finds");
    let seen = stage.eval("window.seen").await;
    assert_eq!(seen, json!([]), "before: {quiet}");
}
