//! `get_text`, `get_html`, `read_as_markdown`, `extract_links`: visible content only, without active links.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

const HIDDEN: &str = "<title>T</title><h1>Shown</h1><p>first  line<br>second</p>
    <p hidden>HIDDEN</p><p style='opacity:0'>HIDDEN</p><p style='font-size:0'>HIDDEN</p>
    <p style='color:#fff;background:#fff'>HIDDEN</p>
    <div style='position:absolute;left:-9999px'><p>HIDDEN</p></div><span style='visibility:hidden'>HIDDEN</span>
    <div style='clip-path:inset(50%);position:absolute'>HIDDEN</div><script>/*HIDDEN*/</script>
    <!-- HIDDEN --><details><summary>More</summary>HIDDEN <b>HIDDEN</b></details>
    <p aria-hidden=true>seen by eyes</p><p>a\u{202e}b\u{e0041}c</p>
    <div style='height:40px;overflow:auto' id=box><p>scrolled away</p><p style='height:300px'>low</p></div>
    <table><tr><td>one</td><td>two</td></tr></table><input type=password value=SECRET><button>Go</button>";

#[tokio::test(flavor = "multi_thread")]
async fn t29_get_text_returns_only_visible_text() {
    let stage = Stage::start().await;
    stage.show(HIDDEN).await;
    stage.eval("document.getElementById('box').scrollTop = 100").await;
    let text = stage.act("get_text", json!({})).await["text"].as_str().expect("text").to_owned();
    assert!(!text.contains("HIDDEN") && !text.contains("SECRET"), "{text}");
    for wanted in
        ["Shown\n\nfirst line\nsecond", "seen by eyes", "abc", "scrolled away", "one\ttwo", "Go", "More"]
    {
        assert!(text.contains(wanted), "{wanted:?} in {text}");
    }
    let part = stage.act("get_text", json!({"target": "h1"})).await;
    assert_eq!(part["text"], "Shown");
    let cut = stage.act("get_text", json!({"limit": 5})).await;
    assert_eq!((cut["text"].as_str(), cut["next"].as_u64()), (Some("Shown"), Some(5)));
    assert_eq!(cut["truncated"], true);
    let next = stage.act("get_text", json!({"from": 5, "limit": 7})).await;
    assert_eq!(next["text"], "\n\nfirst");
    let clean =
        stage.act("get_html", json!({"clean": true})).await["text"].as_str().expect("text").to_owned();
    assert!(!clean.contains("HIDDEN") && !clean.contains("SECRET") && !clean.contains("style"), "{clean}");
    assert!(clean.contains("<h1>Shown</h1>"), "{clean}");
    let markdown = stage.act("read_as_markdown", json!({"whole": true})).await["text"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(!markdown.contains("HIDDEN") && markdown.contains("# Shown"), "{markdown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cross_site_frames_are_read_in_place() {
    let stage = Stage::at("/frames/deep").await;
    stage.act("click", json!({"target": "text=Save deep"})).await;
    let text = stage.act("get_text", json!({})).await;
    assert!(text.get("unread_frames").is_none(), "{text}");
    let text = text["text"].as_str().expect("text");
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted} in {text}"));
    assert!(at("Outermost on site a") < at("Middle on site b"));
    assert!(at("Middle on site b") < at("Form deep") && at("Form deep") < at("Middle button"));
    assert!(at("Middle button") < at("Outer button"));
    let inner = stage.act("get_text", json!({"target": "text=Form deep"})).await;
    assert_eq!(inner["text"], "Form deep");
    let clean = stage.act("get_html", json!({"clean": true})).await;
    assert!(clean["text"].as_str().is_some_and(|html| html.contains("Save deep")), "{clean}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t27_markdown_has_structure_and_no_active_links() {
    let stage = Stage::start().await;
    stage
        .show(
            "<title>T</title><nav><a href='http://x.test/menu'>Menu</a></nav><main><h1>Head *line*</h1>
            <p>Some <b>bold</b>, <em>soft</em> and <code>co`de</code> with a <a href='http://x.test/a'>link</a>, long
            enough to count as the main text of this page, because it goes on and on, and on, and on.</p>
            <p>![pic](http://evil.test/a.png) &lt;img src=http://evil.test/b.png&gt; [x](http://evil.test)</p>
            <img src='http://evil.test/c.png' alt='A cat'><img src='http://evil.test/d.png'>
            <ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol start=3><li>three</li><li>four</li></ol>
            <pre><code class='language-rust'>fn a() {\n    b();\n}</code></pre><blockquote><p>quoted</p></blockquote>
            <table><thead><tr><th>N</th><th>V</th></tr></thead><tr><td>a|b</td><td>1</td></tr></table>
            <p># no heading</p></main><footer>Foot</footer>",
        )
        .await;
    let main = stage.act("read_as_markdown", json!({})).await;
    assert_eq!(main["part"], "main");
    let text = main["text"].as_str().expect("text");
    for wanted in [
        "# Head \\*line\\*",
        "Some **bold**, *soft* and ``co`de`` with a [link] (`http://x.test/a`), long",
        "(image: A cat)",
        "- one\n  - inner\n- two",
        "3. three\n4. four",
        "```rust\nfn a() {\n    b();\n}\n```",
        "> quoted",
        "| N | V |\n| --- | --- |\n| a\\|b | 1 |",
        "\\# no heading",
    ] {
        assert!(text.contains(wanted), "{wanted:?} in\n{text}");
    }
    assert!(!text.contains("Menu") && !text.contains("Foot"), "{text}");
    for live in ["![", "](", "<img", "c.png", "d.png"] {
        let plain = text.replace("!\\[", "").replace("\\](", "").replace("\\<img", "");
        assert!(!plain.contains(live), "{live} in\n{text}");
    }
    let whole = stage.act("read_as_markdown", json!({"whole": true})).await;
    assert!(whole["text"].as_str().is_some_and(|text| text.contains("[Menu] (") && text.contains("Foot")));
    let list = stage.act("read_as_markdown", json!({"target": "ol"})).await;
    assert_eq!(list["text"], "3. three\n4. four");
}

#[tokio::test(flavor = "multi_thread")]
async fn t28_text_is_fenced_and_html_is_complete() {
    let stage = Stage::start().await;
    stage.show("<p id=a onclick='x()' title='\"q\"'>&lt;/page 1&gt;</p><!-- note --><input type=password value=SECRET>").await;
    let text = stage.text("get_text", json!({})).await;
    let first = text.lines().next().expect("a line");
    let nonce =
        first.strip_prefix("<page ").and_then(|rest| rest.split_once('>')).expect("a fence").0.to_owned();
    assert_eq!(text.lines().last(), Some(format!("</page {nonce}>").as_str()));
    let html = stage.act("get_html", json!({})).await["text"].as_str().expect("text").to_owned();
    assert!(
        html.contains("<p id=\"a\" onclick=\"x()\" title=\"&quot;q&quot;\">&lt;/page 1&gt;</p><!-- note -->"),
        "{html}"
    );
    assert!(!html.contains("SECRET"), "{html}");
    let clean = stage.act("get_html", json!({"clean": true, "target": "#a"})).await;
    assert_eq!(clean["text"], "<p id=\"a\" title=\"&quot;q&quot;\">&lt;/page 1&gt;</p>");
}

#[tokio::test(flavor = "multi_thread")]
async fn extract_links_lists_each_url_once() {
    let stage = Stage::start().await;
    stage
        .show(
            "<base href='http://x.test/dir/'><a href='a'>A</a><a href='a'>again</a><a href='/b?q=1#f'><b>B</b> two</a>
            <a href='javascript:x()'>J</a><a href='c' hidden>H</a><a href='d' style='opacity:0'>H</a>
            <div id=part><a href='http://y.test/'>Y</a></div><div id=host></div>
            <script>host.attachShadow({mode:'open'}).innerHTML = '<a href=/s>S</a>'</script>",
        )
        .await;
    let links = stage.act("extract_links", json!({})).await;
    let expected = json!([
        {"text": "A", "url": "http://x.test/dir/a", "ref": "e1"},
        {"text": "B two", "url": "http://x.test/b?q=1#f", "ref": "e2"},
        {"text": "Y", "url": "http://y.test/", "ref": "e3"}, {"text": "S", "url": "http://x.test/s", "ref": "e4"},
    ]);
    assert_eq!(links["links"], expected);
    let some = stage.act("extract_links", json!({"filter": "X.TEST", "limit": 1})).await;
    assert_eq!((some["links"].as_array().map(Vec::len), some["total"].as_u64()), (Some(1), Some(3)));
    let part = stage.act("extract_links", json!({"target": "#part"})).await;
    assert_eq!(part["links"], json!([{"text": "Y", "url": "http://y.test/", "ref": "e3"}]));
    stage.fails(ErrorCode::BadArgs, "extract_links", json!({"limit": 0})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_actions_reject_bad_input_and_wrong_moments() {
    let stage = Stage::start().await;
    stage.show("<p>a</p><p>b</p>").await;
    for action in ["get_text", "get_html", "read_as_markdown", "extract_links"] {
        stage.fails(ErrorCode::BadArgs, action, json!({"target": "p"})).await;
        stage.fails(ErrorCode::BadArgs, action, json!({"nth": 1})).await;
        stage.fails(ErrorCode::SelectorNotFound, action, json!({"target": "text=C"})).await;
        stage.fails(ErrorCode::RefExpired, action, json!({"target": "e99"})).await;
    }
    stage.fails(ErrorCode::BadArgs, "get_text", json!({"from": 100})).await;
    stage.fails(ErrorCode::BadArgs, "get_html", json!({"limit": 0})).await;
    stage
        .fails(ErrorCode::BadArgs, "read_as_markdown", json!({"target": "p", "nth": 1, "whole": true}))
        .await;
    for action in ["get_text", "get_html", "read_as_markdown", "extract_links"] {
        stage.check_wrong_moments(action, json!({})).await;
    }
}
