//! What a person sees of controls: icons, labels of hidden inputs, types, exact values, rows, scroll areas, overlays.

use serde_json::json;

use crate::snapshot::stage::Stage;

async fn check(html: &str, expected: &str) {
    let stage = Stage::with(html).await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.outline(), expected.trim_start());
}

#[tokio::test]
async fn controls_without_text_are_named_by_tooltip_icon_or_colour() {
    check(
        r##"<style>i, span, div { display: inline-block; width: 20px; height: 20px }</style>
        <span onclick=1 title=Titled></span><button><i aria-label="Icon label"></i></button><button><i title="Icon title"></i></button>
        <button><svg width=9 height=9><title>Star</title><path d="M0 0h9v9z"/></svg></button><button><i class="fa fa-solid fa-trash-can"></i></button>
        <button><svg width=9 height=9><use href="#icon-arrowLeft"/></svg></button><button><img src="/img/zoom-in.svg" alt=""></button>
        <div onclick=1 class="btn-close"></div><div onclick=1 style="background:#e01010"></div><div onclick=1 style="background:white"></div>
        <button title=Tip>Text</button><button><i class="fa fa-gear"></i> Settings</button>"##,
        r#"
clickable "Titled"
button "Icon label"
button "Icon title"
button "Star"
button {"states":{"icon":"trash can"}}
button {"states":{"icon":"arrow left"}}
button {"states":{"icon":"zoom in"}}
clickable {"states":{"icon":"close"}}
clickable {"states":{"color":"red"}}
clickable
button "Text"
button "Settings""#,
    )
    .await;
}

#[tokio::test]
async fn t29_hidden_icons_name_nothing() {
    check(
        r#"<button><i style="display:none" title="CANARY one">x</i></button><button><i style="opacity:0" aria-label="CANARY two"></i></button>"#,
        "button\nbutton",
    )
    .await;
}

#[tokio::test]
async fn b13_hidden_inputs_are_listed_at_their_labels() {
    check(
        r#"<label>Choose a photo <input type=file style="display:none"></label>
        <input type=checkbox id=c hidden checked><label for=c>Agree</label>
        <input type=radio id=r name=r style="visibility:hidden"><label for=r>Small <i style="opacity:0">CANARY</i></label>
        <div style="width:0;height:0;overflow:hidden"><input type=checkbox id=z></div><label for=z>Clipped</label>
        <label for=s>Country</label><select id=s style="display:none"><option>FR</select><label>Mail <input></label>"#,
        r#"
button "Choose a photo" {"states":{"type":"file"}}
checkbox "Agree" {"states":{"checked":true}}
radio "Small"
checkbox "Clipped"
text "Country"
textbox "Mail""#,
    )
    .await;
}

#[tokio::test]
async fn b13_interactive_snapshot_keeps_names_of_clickables() {
    let stage = Stage::with(
        r#"<p>Text</p><div onclick=1>k</div><ul><li onclick=1>Item</li></ul><div onclick=1><b>Two</b><p>lines</p><span style="opacity:0">CANARY</span></div>
        <div onclick=1>Card <button>Buy</button></div>"#,
    )
    .await;
    let page = stage.snapshot(json!({"interactive": true})).await;
    let expected = r#"
clickable "k"
listitem "Item" {"clickable":true}
clickable "Two lines"
clickable "Card"
  button "Buy""#;
    assert_eq!(page.outline(), expected.trim_start());
}

#[tokio::test]
async fn b13_a_name_of_one_sign_is_kept_and_separators_are_not() {
    check(
        "<span onclick=1>-</span><span onclick=1>+</span><p>|</p><table><tr><th>A<th>B<tr><td>-<td>1</table>",
        "clickable \"-\"\nclickable \"+\"\ntable {\"rows\":1}\n  row\n    columnheader \"A\"\n    columnheader \"B\"\n  row\n    cell \"-\"\n    cell \"1\"",
    )
    .await;
}

#[tokio::test]
async fn b13_values_are_exact() {
    check(
        "<input aria-label=A value=' a  b '><textarea aria-label=B>one\n two </textarea>",
        r#"
textbox "A" {"value":" a  b "}
textbox "B" {"value":"one\n two "}"#,
    )
    .await;
}

#[tokio::test]
async fn input_types_are_stated() {
    check(
        "<input type=date aria-label=D><input type=time aria-label=T><input type=month aria-label=M><input type=number aria-label=N><input type=password aria-label=P value=x><input type=email aria-label=E>",
        r#"
textbox "D" {"states":{"type":"date"}}
textbox "T" {"states":{"type":"time"}}
textbox "M" {"states":{"type":"month"}}
spinbutton "N" {"states":{"type":"number"}}
textbox "P" {"states":{"type":"password"},"value":"•••"}
textbox "E""#,
    )
    .await;
}

#[tokio::test]
async fn a_list_of_up_to_15_short_options_is_shown() {
    let options = |count: u32, label: &str| {
        (1..=count).map(|at| format!("<option>{label}{at}</option>")).collect::<String>()
    };
    let long = "A long label of an option ";
    let html = format!(
        "<select aria-label=A>{}</select><select aria-label=B>{}</select><select aria-label=C>{}</select>",
        options(15, ""),
        options(16, ""),
        options(12, long)
    );
    let page = Stage::with(&html).await.snapshot(json!({})).await;
    assert_eq!(page.find("combobox", "A")[4]["options"].as_array().map(Vec::len), Some(15));
    assert_eq!(page.find("combobox", "B")[4]["options"], 16);
    assert_eq!(page.find("combobox", "C")[4]["options"], 12);
}

#[tokio::test]
async fn rows_without_a_role_stay_apart() {
    check(
        r#"<div><div class=r><button>Odd</button><div>-3</div><button>Even</button></div><div class=r><button>Odd</button><div>7</div><button>Even</button></div></div>
        <div><div><b onclick=1>1</b> <b onclick=1>2</b></div><div><b onclick=1>3</b> <b onclick=1>4</b></div></div>
        <div><div><button>Alone</button></div><div><button>Too</button></div></div>"#,
        r#"
row
  button "Odd"
  text "-3"
  button "Even"
row
  button "Odd"
  text "7"
  button "Even"
row
  clickable "1"
  clickable "2"
row
  clickable "3"
  clickable "4"
button "Alone"
button "Too""#,
    )
    .await;
}

#[tokio::test]
async fn scroll_areas_and_overlays_are_marked() {
    let stage = Stage::with(
        r#"<body style="margin:0"><button>Behind</button><div style="height:100px;overflow:auto" id=s><div style="height:400px">Long <button>In it</button></div></div>
        <div style="height:100px;overflow:hidden"><div style="height:400px">Cut</div></div>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    let expected = r#"
button "Behind"
region {"states":{"scrollable":"0-100/400"}}
  text "Long"
  button "In it"
text "Cut""#;
    assert_eq!(page.outline(), expected.trim_start());
    stage
        .eval("s.scrollTop = 50; document.body.insertAdjacentHTML('beforeend', '<div style=\"position:fixed;inset:0;background:#fff8\"><p>We use cookies</p><button>Fine</button></div>')")
        .await;
    let page = stage.snapshot(json!({})).await;
    let expected = r#"
button "Behind"
region {"states":{"scrollable":"50-150/400"}}
  text "Long"
  button "In it"
text "Cut"
overlay
  text "We use cookies"
  button "Fine""#;
    assert_eq!(page.outline(), expected.trim_start());
}
