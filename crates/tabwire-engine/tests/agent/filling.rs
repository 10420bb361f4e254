//! Filling fields, selecting options and ticking check boxes.

use serde_json::{Value, json};

use crate::agent::stage::Stage;

/// A log of a field's events.
const LISTEN: &str = "<script>window.heard = []; for (const type of ['input', 'change', 'focusin'])
    addEventListener(type, event => heard.push(event.type + (event.type === 'focusin' ? '' : event.target.value ?? '')), true);</script>";

#[tokio::test]
async fn every_input_type_can_be_filled() {
    let mut stage = Stage::start().await;
    for (kind, value, expected) in INPUTS {
        stage.show(&format!("{LISTEN}<label>Field <input type={kind} value=''></label>")).await;
        let filled = stage.fill(json!({"label": "field"}), value).await;
        let filled = filled.unwrap_or_else(|failure| panic!("{kind}: {failure}"));
        let held = stage.eval("document.querySelector('input').value").await;
        assert_eq!(held, *expected, "{kind}");
        assert_eq!(filled["matches"], true, "{kind}: {filled}");
        let shown = if *kind == "password" { "•••" } else { expected };
        assert_eq!(filled["value"], shown, "{kind}");
        let heard = stage.eval("heard.join(' ')").await;
        assert!(
            heard.as_str().is_some_and(|heard| heard.starts_with(&format!("focusin input{expected}"))),
            "{kind}: {heard}"
        );
    }
}

/// Type, requested value, value afterwards.
const INPUTS: &[(&str, &str, &str)] = &[
    ("text", "Ada Lovelace", "Ada Lovelace"),
    ("search", "näher ☃ 日本", "näher ☃ 日本"),
    ("url", "https://example.org/?a=b", "https://example.org/?a=b"),
    ("tel", "+49 123", "+49 123"),
    ("email", "ada@example.org", "ada@example.org"),
    ("password", "hunter2", "hunter2"),
    ("date", "2024-02-29", "2024-02-29"),
    ("time", "13:45", "13:45"),
    ("datetime-local", "2024-02-29T13:45", "2024-02-29T13:45"),
    ("month", "2024-02", "2024-02"),
    ("week", "2024-W09", "2024-W09"),
    ("color", "#1E90FF", "#1e90ff"),
    ("range", "30", "30"),
];

#[tokio::test]
async fn failed_fill_names_the_remedy() {
    let mut stage = Stage::start().await;
    for (body, value, code, part) in REFUSED {
        stage.show(body).await;
        let request = json!({"spec": {"css": "#f"}, "for": "fill", "value": value, "timeout": 50});
        let failure = stage.failure("prepare", request).await;
        assert_eq!(failure["code"], *code, "{body}: {failure}");
        let said = format!("{} {}", failure["message"].as_str().expect("a message"), failure["remedy"]);
        assert!(said.contains(part), "{body}: {said}");
    }
    // A refused value changes nothing.
    stage.show("<input id=f type=date value=2020-01-01 oninput='document.title=1'>").await;
    stage
        .failure("prepare", json!({"spec": {"css": "#f"}, "for": "fill", "value": "soon", "timeout": 0}))
        .await;
    assert_eq!(stage.eval("f.value + document.title").await, "2020-01-01");
}

/// Page, value, code, part of the message or remedy.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    ("<select id=f><option>x</select>", "x", "BAD_ARGS", "{\"action\":\"select\"}"),
    ("<input id=f type=checkbox>", "x", "BAD_ARGS", "{\"action\":\"check\"}"),
    ("<input id=f type=file>", "x", "BAD_ARGS", "{\"action\":\"upload\"}"),
    ("<button id=f>x</button>", "x", "BAD_ARGS", "cannot be filled"),
    ("<div id=f><input><input></div>", "x", "BAD_ARGS", "Target an input"),
    ("<input id=f type=number>", "twelve", "BAD_ARGS", "takes a number"),
    ("<input id=f type=date>", "31.12.2024", "BAD_ARGS", "2024-12-31"),
    ("<input id=f type=color>", "red", "BAD_ARGS", "#1e90ff"),
    ("<input id=f type=range min=0 max=10>", "11", "BAD_ARGS", "range is 0 to 10"),
    ("<input id=f readonly>", "x", "NOT_ACTIONABLE", "is read-only"),
    ("<input id=f disabled>", "x", "NOT_ACTIONABLE", "is disabled"),
    (
        "<input id=f><dialog id=d aria-label=Sure>?</dialog><script>d.showModal()</script>",
        "x",
        "NOT_ACTIONABLE",
        "is behind dialog \"Sure\"",
    ),
    ("<input id=f style='display:none'>", "x", "NOT_ACTIONABLE", "is not visible"),
];

#[tokio::test]
async fn fill_replaces_existing_text() {
    let mut stage = Stage::start().await;
    for (body, value) in REPLACED {
        stage.show(&format!("{body}{EDITORS}")).await;
        let filled = stage.fill(json!({"css": "#f"}), value).await;
        let filled = filled.unwrap_or_else(|failure| panic!("{body}: {failure}"));
        assert_eq!(filled["matches"], true, "{body} with {value:?}: {filled}");
        let held = stage.eval("(window.model ? model() : f.value ?? f.innerText).trim()").await;
        assert_eq!(held, *value, "{body}");
    }
}

const REPLACED: &[(&str, &str)] = &[
    ("<input id=f value=old>", "new"),
    ("<input id=f value=old>", ""),
    ("<textarea id=f>old\nlines</textarea>", "new\nlines"),
    ("<textarea id=f>old</textarea>", ""),
    ("<div id=f contenteditable>old <b>text</b></div>", "new"),
    ("<div id=f contenteditable><p>old</p><p>text</p></div>", ""),
    ("<div id=f contenteditable=plaintext-only>old</div>", "new"),
    ("<div id=f class=model contenteditable role=textbox>old</div>", "typed in"),
    ("<div id=f class=model contenteditable role=textbox>old</div>", ""),
    ("<div id=f class=selection contenteditable>old</div>", "typed in"),
    (
        "<div id=f class=ace_editor><div class=ace_line>line 9</div><textarea class=ace_text-input></textarea></div>",
        "typed in",
    ),
    (
        "<div id=f class=ace_editor><div class=ace_line>line 9</div><textarea class=ace_text-input></textarea></div>",
        "",
    ),
    ("<div id=f class=context tabindex=0>old</div>", "typed in"),
];

/// Imitations of common editors: one renders its own model, one trusts only the selection events it received, one
/// renders only a part of its text, one has no editable element (`EditContext`).
const EDITORS: &str = r#"<script>
    if (f.className === 'model') {
      let text = 'old';
      window.model = () => text;
      const draw = () => { f.textContent = text; };
      f.addEventListener('beforeinput', event => {
        event.preventDefault();
        const selection = getSelection();
        const all = selection.toString().length >= text.length;
        if (event.inputType === 'insertText') text = all ? event.data : text + event.data;
        else if (event.inputType.startsWith('delete')) text = all ? '' : text.slice(0, -1);
        draw();
      });
    }
    if (f.className === 'selection') {
      let text = 'old', chosen = 0;
      window.model = () => text;
      document.addEventListener('selectionchange', () => { chosen = getSelection().toString().length; });
      f.addEventListener('beforeinput', event => {
        event.preventDefault();
        text = (chosen >= text.length ? '' : text) + event.data;
        Promise.resolve().then(() => { f.textContent = text; });
      });
    }
    if (f.className === 'ace_editor') {
      let text = 'a long text', all = false;
      window.model = () => text;
      const field = f.querySelector('textarea');
      field.addEventListener('keydown', event => {
        if (event.key === 'a' && event.ctrlKey) { all = true; event.preventDefault(); }
        if (event.key === 'Backspace' && all) { text = ''; f.firstChild.textContent = ''; }
      });
      field.addEventListener('input', () => { if (all) text = ''; text += field.value; field.value = ''; f.firstChild.textContent = text; });
    }
    if (f.className === 'context') {
      let text = 'old';
      window.model = () => text;
      const context = f.editContext = new EditContext({text});
      f.addEventListener('keydown', event => { if (event.key === 'a' && event.ctrlKey) context.updateSelection(0, text.length); });
      context.addEventListener('textupdate', event => {
        text = text.slice(0, event.updateRangeStart) + event.text + text.slice(event.updateRangeEnd);
        f.textContent = text;
      });
    }
    </script>"#;

#[tokio::test]
async fn field_is_found_through_its_label_or_container() {
    let mut stage = Stage::start().await;
    let bodies = [
        "<label id=w>Name <input id=f></label>",
        "<div id=w><span>Name</span><input id=f></div>",
        "<label id=w for=f>Name</label><input id=f>",
    ];
    for body in bodies {
        stage.show(body).await;
        stage.fill(json!({"css": "#w"}), "Ada").await.unwrap_or_else(|failure| panic!("{body}: {failure}"));
        assert_eq!(stage.eval("f.value").await, "Ada", "{body}");
    }
    stage.show("<my-field></my-field><script>document.querySelector('my-field').attachShadow({mode:'open'}).innerHTML = '<input>'</script>").await;
    stage.fill(json!({"css": "my-field"}), "Ada").await.expect("the one field inside");
    assert_eq!(stage.eval("document.querySelector('my-field').shadowRoot.firstChild.value").await, "Ada");
}

#[tokio::test]
async fn value_that_the_field_changes_is_reported() {
    let mut stage = Stage::start().await;
    stage.show("<input id=f oninput='this.value = this.value.toUpperCase()'><input id=g maxlength=3>").await;
    let filled = stage.fill(json!({"css": "#f"}), "ada").await.expect("filled");
    assert_eq!((&filled["value"], &filled["matches"]), (&json!("ADA"), &json!(false)));
    let filled = stage.fill(json!({"css": "#g"}), "12345").await.expect("filled");
    assert_eq!((&filled["value"], &filled["matches"]), (&json!("123"), &json!(false)));
}

#[tokio::test]
async fn options_are_selected() {
    let mut stage = Stage::start().await;
    let page = format!("{LISTEN}<select id=f><option value=1>One<option value=2>Two<optgroup label=G disabled><option>Three</optgroup></select>
        <select id=m multiple><option>A<option>B<option>C</select><div id=x role=listbox tabindex=0>x</div>");
    stage.show(&page).await;
    let select = |css: &str, choices: Value| json!({"spec": {"css": css}, "for": "select", "choices": choices, "timeout": 50});
    for (choice, label) in [
        (json!({"value": "2"}), "Two"),
        (json!({"label": "One"}), "One"),
        (json!({"index": 1}), "Two"),
        (json!({"any": "one"}), "One"),
    ] {
        let chosen = stage.run("prepare", select("#f", json!([choice]))).await;
        assert_eq!(chosen["chosen"][0]["label"], label);
    }
    let heard = stage.eval("heard.filter(one => one !== 'focusin').join(' ')").await;
    assert_eq!(heard, "input2 change2 input1 change1 input2 change2 input1 change1");
    stage.run("prepare", select("#m", json!([{"any": "A"}, {"any": "C"}]))).await;
    assert_eq!(stage.eval("Array.from(m.selectedOptions, o => o.value).join()").await, "A,C");
    let missing = stage.failure("prepare", select("#f", json!([{"any": "Four"}]))).await;
    assert_eq!(missing["remedy"]["text"], "It has \"One\", \"Two\", \"Three\".");
    let disabled = stage.failure("prepare", select("#f", json!([{"any": "Three"}]))).await;
    assert_eq!(disabled["details"]["condition"], "enabled");
    assert_eq!(
        stage.failure("prepare", select("#f", json!([{"any": "One"}, {"any": "Two"}]))).await["code"],
        "BAD_ARGS"
    );
    assert_eq!(stage.failure("prepare", select("#x", json!([{"any": "x"}]))).await["code"], "BAD_ARGS");
}

#[tokio::test]
async fn check_boxes_are_ticked_once() {
    let mut stage = Stage::start().await;
    stage
        .show(
            "<label id=l>Tick <input id=c type=checkbox></label><label><input id=r type=radio checked> Radio</label>
            <div id=s role=switch aria-checked=false tabindex=0 onclick='this.ariaChecked = this.ariaChecked !== \"true\"'>Switch</div><p id=p>no box</p>",
        )
        .await;
    let check = |css: &str, want: bool| json!({"spec": {"css": css}, "for": "check", "want": want, "timeout": 1_000, "guard": true, "mark": true});
    for css in ["#l", "#c", "#s"] {
        for want in [true, false] {
            let prepared = stage.run("prepare", check(css, want)).await;
            assert_eq!(prepared["done"], false, "{css} {want}: {prepared}");
            let settled = stage.press_at(&prepared).await;
            assert_eq!(settled["checked"], want, "{css}: {settled}");
            assert_eq!(stage.run("prepare", check(css, want)).await["done"], true, "{css} is so already");
        }
    }
    assert_eq!(stage.run("prepare", check("#r", true)).await["done"], true);
    assert_eq!(stage.failure("prepare", check("#r", false)).await["code"], "BAD_ARGS");
    assert_eq!(stage.failure("prepare", check("#p", true)).await["code"], "BAD_ARGS");
}
