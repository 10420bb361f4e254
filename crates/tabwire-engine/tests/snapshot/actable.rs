//! Elements without a role that can be clicked.

use serde_json::json;

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn clickable_elements_without_a_role_are_listed() {
    let stage = Stage::with(
        r#"<div onclick="1">Handler</div><div style="cursor:pointer"><span>Pointer</span></div><div tabindex=0>Focusable</div>
        <div draggable=true>Draggable</div><div contenteditable>Editable</div><p>Plain</p><div tabindex=-1>Not by keyboard</div>
        <ul><li onclick="1">Item</li></ul><div style="cursor:pointer"><a href="http://shop.example/">Link in a card</a></div>
        <div onclick="1"><h3>Card</h3><button>Inside</button></div><label style="cursor:pointer">Agree <input type=checkbox></label>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    let expected = r#"
clickable "Handler"
clickable "Pointer"
clickable "Focusable"
clickable "Draggable"
textbox {"value":"Editable"}
text "Plain"
text "Not by keyboard"
list
  listitem "Item" {"clickable":true}
link "Link in a card" {"target":"http://shop.example/"}
clickable
  heading "Card" {"level":3}
  button "Inside"
checkbox "Agree""#;
    assert_eq!(page.outline(), expected.trim_start());
    assert!(page.nodes().iter().all(|node| node[1] == "text" || node[3].as_u64() > Some(0)), "all have keys");
}

#[tokio::test]
async fn clickable_elements_in_frames_and_shadow_roots_are_listed() {
    let stage = Stage::with(
        r#"<iframe title=F srcdoc="<div onclick=1>In a frame</div><div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<div style=cursor:pointer>In a shadow in a frame</div>'</script>"></iframe>
        <div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<div style=cursor:pointer>In a shadow</div><slot></slot>'; h.innerHTML='<span tabindex=0>Slotted</span>'</script>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    let expected = ["In a frame", "In a shadow in a frame", "In a shadow", "Slotted"];
    assert_eq!(page.names("clickable"), expected, "{}", page.outline());
}

#[tokio::test]
async fn invisible_controls_are_marked() {
    let stage = Stage::with(
        r#"<button style="opacity:0">Shown when hovered</button><a href="http://shop.example/" style="position:absolute;left:-9999px">Skip</a>
        <input type=checkbox id=c style="opacity:0"><label for=c>Styled</label><div style="height:0;overflow:hidden"><button>Folded away</button></div>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    let expected = r#"
button "Shown when hovered" {"concealed":"opacity"}
link "Skip" {"concealed":"off-screen","target":"http://shop.example/"}
checkbox "Styled""#;
    assert_eq!(page.outline(), expected.trim_start());
}
