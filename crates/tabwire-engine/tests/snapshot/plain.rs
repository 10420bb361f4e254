//! Simple elements take a fast path in the page agent. It must give the same nodes as the full path.
//!
//! Every page is shown twice: unchanged, and with a meaningless attribute on every element that disables the fast path.

use serde_json::{Value, json};

use crate::snapshot::stage::Stage;

/// Styles of visible and hidden elements.
const STYLES: &[&str] = &[
    "",
    "display:none",
    "display:contents",
    "display:block",
    "display:flex",
    "display:inline-block;width:0;height:0;overflow:hidden",
    "display:block;width:1px;height:1px;overflow:hidden",
    "float:left",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0",
    "opacity:.01",
    "opacity:.5",
    "filter:opacity(0)",
    "filter:blur(1px)",
    "clip-path:inset(50%)",
    "clip-path:circle(0)",
    "position:absolute;clip:rect(0 0 0 0)",
    "position:absolute;left:-9999px",
    "position:fixed;top:-900px",
    "transform:scale(0)",
    "font-size:0",
    "font-size:2px",
    "color:white",
    "color:transparent",
    "-webkit-text-fill-color:white",
    "background:black;color:black",
    "text-indent:-9999px",
    "display:block;text-indent:-9999px",
    "content-visibility:hidden",
    "display:block;content-visibility:hidden",
    "interactivity:inert",
    "text-transform:uppercase",
    "text-transform:capitalize",
    "cursor:pointer",
    "pointer-events:none",
];

/// Elements that may take the fast path. `NAME` is replaced by a unique name, `MARK` by the attribute.
const ELEMENTS: &[&str] = &[
    "<a href=/NAME style='STYLE' MARK>link NAME</a>",
    "<button style='STYLE' MARK>\n  button  NAME\n</button>",
    "<h3 style='STYLE' MARK>heading NAME</h3>",
];

/// Elements in various places and with various attributes.
const PLACES: &str = "
    <a MARK>nowhere</a> <a href='' MARK>here</a> <a href='//other.example/x' MARK>away</a> <a href='/a\tb' MARK>odd</a>
    <a href=/blank MARK> </a> <a href=/nbsp MARK>&nbsp;</a> <a href=/empty MARK></a> <button MARK></button>
    <a href=/titled title='A title' MARK></a> <a href=/told title='A title' MARK>told</a>
    <button aria-label=Labelled MARK>x</button> <button disabled MARK>off</button> <button autofocus MARK>focus</button>
    <button data-x=1 class=b type=submit MARK>classes</button> <button aria-pressed=true MARK>pressed</button>
    <h2 onclick='1' MARK>clicked heading</h2> <h2 tabindex=0 MARK>focused heading</h2> <h1 role=button MARK>no heading</h1>
    <h2 style='cursor:pointer' MARK>pointed heading</h2> <a href=/b onclick='1' tabindex=-1 MARK>handled</a>
    <label for=named>Its label</label> <button id=named MARK>own text</button>
    <fieldset disabled><button MARK>in a fieldset</button></fieldset>
    <details><summary>More</summary><a href=/closed MARK>in details</a></details>
    <details open><summary>Less</summary><a href=/open MARK>in open details</a></details>
    <div aria-hidden=true><a href=/unspoken MARK>unspoken words</a></div> <div inert><a href=/inert MARK>inert</a></div>
    <div style='opacity:0'><button MARK>in the unseen</button></div>
    <div style='text-indent:-9999px'><a href=/indent MARK>indented</a></div>
    <div style='font-size:0'><a href=/small MARK>small</a></div>
    <div style='position:absolute;width:1px;height:1px;overflow:hidden'><a href=/reader MARK>for readers</a></div>
    <button MARK><h2 MARK>in a button</h2></button> <a href=/bold MARK>some <b>bold</b> words</a>
    <a href=/comment MARK>before<!-- --></a> <a href=/pictured MARK><img alt=image></a>
    <p>In a line <a href=/line MARK>of words</a>, that goes on.</p>
    <div><template shadowrootmode=open><a href=/shadow MARK>in a shadow</a><slot></slot></template><a href=/slotted MARK>slotted</a></div>
    <div><template shadowrootmode=open><p>no slot</p></template><a href=/unslotted MARK>nowhere to be seen</a></div>
    <ul><li><a href=/one MARK>one</a><li><a href=/two MARK>two</a></ul>
    <h2 id=owned MARK>owned</h2><div role=group aria-label=owner aria-owns=owned></div>
    <svg><a href=/drawn MARK><text y=20>drawn</text></a></svg>";

fn everything() -> String {
    let mut page = String::new();
    for (place, style) in STYLES.iter().enumerate() {
        for (kind, element) in ELEMENTS.iter().enumerate() {
            page.push_str(&element.replace("STYLE", style).replace("NAME", &format!("{place}-{kind}")));
        }
    }
    page + PLACES
}

async fn nodes(stage: &mut Stage, page: &str, mark: &str, options: &Value) -> Vec<Value> {
    stage.show(&page.replace("MARK", mark)).await;
    stage.snapshot(options.clone()).await.nodes().clone()
}

async fn check(stage: &mut Stage, page: &str) {
    for options in [json!({"full": true}), json!({"full": true, "interactive": true}), json!({})] {
        let short = nodes(stage, page, "", &options).await;
        let long = nodes(stage, page, "part=x", &options).await;
        assert!(short.len() > 1, "{short:?}");
        for (short, long) in short.iter().zip(&long) {
            assert_eq!(short, long, "{options}");
        }
        assert_eq!(short.len(), long.len(), "{options}");
    }
}

#[tokio::test]
async fn fast_path_gives_the_same_nodes_as_the_full_path() {
    let mut stage = Stage::start().await;
    check(&mut stage, &everything()).await;
}

#[tokio::test]
async fn page_wide_styles_and_dialogs_apply_to_the_fast_path() {
    let mut stage = Stage::start().await;
    let elements = "<h1 MARK>Top</h1><a href=/a MARK>one</a><button MARK>two</button><h2 MARK>three</h2><a href=/b MARK>four</a>";
    for around in [
        format!("<div aria-disabled=true>{elements}</div>{elements}"),
        format!("<style>a::before{{content:'generated '}} .x::after{{content:'!'}}</style>{elements}"),
        format!("<style>* {{text-transform:uppercase}} h2 {{interactivity:inert}}</style>{elements}"),
        format!("<style>button:nth-child(3) {{color:rgb(250,250,250);background:white}}</style>{elements}"),
        format!("{elements}<dialog id=d>{elements}</dialog><script>d.showModal()</script>"),
        format!("{elements}<div role=dialog aria-modal=true>{elements}</div>"),
        format!("<body style='background:#000;color:#000'>{elements}"),
        format!("<iframe srcdoc=\"{}\"></iframe>{elements}", elements.replace('"', "'")),
    ] {
        check(&mut stage, &around).await;
    }
}
