//! What results of actions say: the element as a snapshot names it, short values, new tabs, messages.

use serde_json::json;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn result_names_a_clickable_as_the_snapshot_does() {
    let stage = Stage::start().await;
    stage
        .show(
            "<div id=a onclick='1'>Cell 7</div><span id=b style='cursor:pointer'>More</span>\
             <div id=c>Plain</div><div id=d onclick='1' title='Close'><svg width=9 height=9></svg></div>",
        )
        .await;
    let snapshot = stage.text("snapshot", json!({})).await;
    assert!(snapshot.contains("clickable"), "{snapshot}");
    for (id, said) in [("a", "clickable \"Cell 7\""), ("b", "clickable \"More\""), ("c", "div \"Plain\"")] {
        let done = stage.act("click", json!({"target": format!("#{id}")})).await;
        assert_eq!(done["element"], said, "{id}");
    }
    let done = stage.act("hover", json!({"target": "title=close"})).await;
    assert_eq!(done["element"], "clickable \"Close\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_values_are_shortened_in_the_text_of_a_result() {
    let stage = Stage::start().await;
    stage.show("<label>Note <textarea></textarea></label>").await;
    let long = "word ".repeat(60);
    let text = stage.text("fill", json!({"target": "label=Note", "value": long.trim()})).await;
    let line = text.lines().find(|line| line.starts_with("value: ")).expect("a value");
    assert!(line.chars().count() < 140 && line.ends_with("…\""), "{line}");
    let done = stage.act("fill", json!({"target": "label=Note", "value": long.trim()})).await;
    assert_eq!(done["value"], long.trim());
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tab_is_reported_with_its_title_and_url() {
    let stage = Stage::at("/plain").await;
    let url = stage.site.url("b", "/plain");
    let open = format!("document.body.innerHTML = `<a id=a target=_blank href='{url}'>Go</a>` +");
    stage.eval(&format!("{open} `<button id=b onclick=\"window.open('{url}')\">Pop</button>`; 1")).await;
    for id in ["a", "b"] {
        let text = stage.text("click", json!({"target": format!("#{id}")})).await;
        let line = text.lines().find(|line| line.starts_with("new tab: ")).expect("a new tab");
        assert!(line.contains(&url) && line.ends_with('"'), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn message_that_is_gone_is_reported_in_the_next_result() {
    let stage = Stage::start().await;
    stage
        .show(
            "<button onclick=\"setTimeout(() => { const t = document.createElement('div'); t.className = 'toast'; \
             t.textContent = 'Saved as draft'; document.body.append(t); \
             setTimeout(() => { t.remove(); window.over = true; }, 100); }, 300)\">Save</button><p>Text</p>",
        )
        .await;
    let first = stage.act("click", json!({"target": "text=Save"})).await;
    assert!(first.get("messages").is_none(), "{first}");
    stage.until("window.over === true").await;
    let next = stage.text("click", json!({"target": "text=Text"})).await;
    assert!(next.contains("message: \"Saved as draft\""), "{next}");
    let last = stage.act("click", json!({"target": "text=Text"})).await;
    assert!(last.get("messages").is_none(), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_waits_for_a_list_that_opens_with_a_delay() {
    let stage = Stage::start().await;
    stage
        .show(
            "<input aria-label=City role=combobox oninput=\"clearTimeout(window.t); \
             window.t = setTimeout(() => { box.innerHTML = '<li>Berlin</li>' }, 250)\"><ul id=box></ul>\
             <input aria-label=Street type=search oninput=\"setTimeout(() => { \
             box.innerHTML = '<li>Searching...</li>' }, 200)\">",
        )
        .await;
    stage.act("fill", json!({"target": "label=City", "value": "Ber"})).await;
    assert_eq!(stage.eval("box.textContent").await, "Berlin");
    stage.eval("box.innerHTML = ''; 1").await;
    stage.act("type", json!({"target": "label=City", "text": "l"})).await;
    assert_eq!(stage.eval("box.textContent").await, "Berlin");
    let text = stage.text("fill", json!({"target": "label=Street", "value": "Main"})).await;
    assert!(text.contains("still shown: \"Searching...\""), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hovering_waits_for_a_menu_that_opens_with_a_delay() {
    let stage = Stage::start().await;
    stage
        .show(
            "<div id=menu onmouseenter=\"setTimeout(() => { this.innerHTML += '<p>Item</p>' }, 250)\">Menu</div>",
        )
        .await;
    stage.act("hover", json!({"target": "#menu"})).await;
    assert_eq!(stage.eval("document.querySelector('p')?.textContent").await, "Item");
}
