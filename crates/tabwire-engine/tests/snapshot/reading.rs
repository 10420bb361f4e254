//! Snapshots of ordinary pages.

use serde_json::json;

use crate::snapshot::stage::Stage;

#[tokio::test]
async fn ordinary_page_snapshot_has_expected_lines() {
    let stage = Stage::with(
        r#"<title>Shop</title>
        <header><nav aria-label=Main><ul><li><a href="http://shop.example/">Home</a><li><a href="http://shop.example/docs">Docs</a></ul></nav></header>
        <main><h1>Check<br>out</h1><p>Hello <b>wor</b>ld, see <a href="http://shop.example/d">docs</a>.</p><div><div><span>Deep</span></div></div>
        <label>Mail <input type=email value="a@b.c" required></label> <label for=p>Password</label><input id=p type=password value=secret>
        <select aria-label=Land><option>FR<option selected>DE</select> <textarea aria-label=Notes>two
lines</textarea> <button disabled>Pay</button>
        <table><caption>People</caption><tr><th>Name<th>Age</tr><tr><td>Ann<td>42</tr></table>
        <h2><a href="http://shop.example/t">Title</a></h2><img alt=Logo src=data:,><img src=data:,>
        <details><summary>More</summary><p>inner</p></details><details open><summary>Open</summary><p>shown</p></details></main>"#,
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.0["title"], "Shop");
    let expected = r#"
banner
  navigation "Main"
    list
      listitem
        link "Home" {"target":"http://shop.example/"}
      listitem
        link "Docs" {"target":"http://shop.example/docs"}
main
  heading "Check out" {"level":1}
  text "Hello world, see"
  link "docs" {"target":"http://shop.example/d"}
  text "Deep"
  textbox "Mail" {"states":{"required":true},"value":"a@b.c"}
  textbox "Password" {"states":{"type":"password"},"value":"•••"}
  combobox "Land" {"options":["FR","DE"],"value":"DE"}
  textbox "Notes" {"value":"two\nlines"}
  button "Pay" {"states":{"disabled":true}}
  table "People" {"rows":1}
    row
      columnheader "Name"
      columnheader "Age"
    row
      cell "Ann"
      cell "42"
  heading "Title" {"level":2}
    link "Title" {"target":"http://shop.example/t"}
  img "Logo"
  button "More" {"states":{"expanded":false}}
  button "Open" {"states":{"expanded":true}}
  text "shown""#;
    assert_eq!(page.outline(), expected.trim_start());
    assert!(!page.0.to_string().contains("secret"));
}

#[tokio::test]
async fn bench_page_snapshot_is_complete() {
    let stage = Stage::at("/bench").await;
    let page = stage.snapshot(json!({})).await;
    let counts = ["heading", "link", "button"].map(|role| page.names(role).len());
    assert_eq!(counts, [26, 90, 90]);
    assert_eq!(page.nodes().len(), 206, "and nothing else");
    assert_eq!(page.0["left"], json!({"spent": false, "behind": false}));
    assert_eq!(page.find("link", "Link 90")[4]["target"], "/plain?90", "on the same site the path is enough");
}

#[tokio::test]
async fn snapshot_includes_shadow_roots_and_readable_frames() {
    let mut stage = Stage::at("/shadow").await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.names("textbox"), ["E-mail", "Slotted nickname", "Street", "City"], "{}", page.outline());
    stage.open("/frames/mix").await;
    let page = stage.snapshot(json!({})).await;
    for name in ["Save same", "Save srcdoc", "Save blank", "Save blob", "Save object"] {
        assert!(page.names("button").contains(&name), "{name} in\n{}", page.outline());
    }
    let other = page.find("iframe", "Other site");
    assert_eq!(other[4]["frame"], "", "the engine fills in the frame");
}

#[tokio::test]
async fn open_modal_dialog_hides_the_rest_of_the_page() {
    let stage = Stage::with(
        "<h1>Page</h1><button>Behind</button><dialog id=d aria-label=Sure><button>Yes</button></dialog><script>d.showModal()</script>",
    )
    .await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(
        page.outline(),
        "dialog \"Sure\" {\"states\":{\"modal\":true}}\n  button \"Yes\" {\"states\":{\"focused\":true}}"
    );
    assert_eq!(page.0["left"]["behind"], true);
    stage.eval("d.close()").await;
    let page = stage.snapshot(json!({})).await;
    assert_eq!(page.names("button"), ["Behind"]);
    assert_eq!(page.0["left"]["behind"], false);
}

#[tokio::test]
async fn elements_keep_their_keys_between_snapshots() {
    let stage = Stage::with("<button id=a>A</button><button>B</button>").await;
    let before = stage.snapshot(json!({})).await;
    stage.eval("a.before(document.createElement('hr')); a.textContent = 'C'; document.body.append(a)").await;
    let after = stage.snapshot(json!({})).await;
    assert_eq!(before.key("button", "A"), after.key("button", "C"));
    assert_eq!(before.key("button", "B"), after.key("button", "B"));
    assert_eq!(before.0["document"], after.0["document"]);
}
