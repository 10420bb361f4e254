//! The elements that targets find, as `role name`.

use serde_json::{Value, json};

use crate::agent::stage::Stage;

async fn check(stage: &Stage, spec: Value, expected: &[&str]) {
    let found = stage.run("locate", json!({"spec": spec})).await;
    let matches = found["matches"].as_array().expect("matches");
    let phrases: Vec<String> = matches
        .iter()
        .map(|one| {
            let name = one["name"]
                .as_str()
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| one["text"].as_str().expect("text"));
            format!("{} {name}", one["role"].as_str().expect("a role")).trim().to_owned()
        })
        .collect();
    assert_eq!(phrases, expected, "{spec}");
}

#[tokio::test]
async fn targets_of_every_kind_are_found() {
    let mut stage = Stage::start().await;
    plain_page(&mut stage).await;
    text(&mut stage).await;
    roles(&mut stage).await;
    labels(&mut stage).await;
    shadow_roots(&mut stage).await;
    hidden_twins(&mut stage).await;
    refs(&mut stage).await;
    misses(&mut stage).await;
}

async fn plain_page(stage: &mut Stage) {
    stage
        .show(
            r#"<button class=a data-testid=save>Save</button><button data-cy=go>Go</button>
            <input placeholder="Search the site" aria-label=Search><a href=/x title=x>Link</a>
            <p><span>one</span> <span>two</span></p>"#,
        )
        .await;
    check(stage, json!({"css": "button"}), &["button Save", "button Go"]).await;
    check(stage, json!({"css": "p > span + span"}), &["generic two"]).await;
    check(stage, json!({"css": ".nothing"}), &[]).await;
    check(stage, json!({"testid": "save"}), &["button Save"]).await;
    check(stage, json!({"testid": "go"}), &["button Go"]).await;
    check(stage, json!({"placeholder": "search"}), &["textbox Search"]).await;
    check(stage, json!({"xpath": "//button[2]"}), &["button Go"]).await;
    check(stage, json!({"xpath": "//a/@href"}), &["link Link"]).await;
    let many = "<b>x</b>".repeat(25);
    stage.show(&many).await;
    let found = stage.run("locate", json!({"spec": {"css": "b"}})).await;
    assert_eq!(found["total"], 25);
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(10));
}

async fn text(stage: &mut Stage) {
    stage
        .show(
            r#"<button>Pay <span>now</span></button><p>Payment options</p><div><div>alpha</div><div>beta</div></div>
            <input type=submit value="Send it"><script>var alpha = 'alpha'</script><style>/* Payment */</style>
            <p style="text-transform:uppercase">shout</p><p>Line<br>break</p><div>seen <span hidden>unseen</span></div>
            <p>in<span hidden>visible</span> between</p><textarea>alpha</textarea>"#,
        )
        .await;
    check(stage, json!({"text": "pay now"}), &["button Pay now"]).await;
    check(stage, json!({"text": "NOW"}), &["generic now"]).await;
    check(stage, json!({"text": "payment"}), &["paragraph Payment options"]).await;
    check(stage, json!({"text": "Payment", "exact": true}), &[]).await;
    check(stage, json!({"text": "Payment options", "exact": true}), &["paragraph Payment options"]).await;
    check(stage, json!({"text": "alpha beta"}), &["generic alpha beta"]).await;
    check(stage, json!({"text": "alpha"}), &["generic alpha"]).await;
    check(stage, json!({"text": "send"}), &["button Send it"]).await;
    check(stage, json!({"text": "SHOUT", "exact": true}), &["paragraph SHOUT"]).await;
    check(stage, json!({"text": "shout", "exact": true}), &["paragraph SHOUT"]).await;
    check(stage, json!({"text": "line break"}), &["paragraph Line break"]).await;
    check(stage, json!({"text": "seen unseen"}), &[]).await;
    check(stage, json!({"text": "alphabeta"}), &[]).await;
    check(stage, json!({"text": "in between"}), &["paragraph in between"]).await;
    // Matches of the whole text precede partial matches.
    stage.show("<a href=/a>Pay</a> <a href=/b>Payments</a> <a href=/c>Pay later</a>").await;
    check(stage, json!({"text": "pay"}), &["link Pay"]).await;
}

async fn roles(stage: &mut Stage) {
    stage
        .show(
            r#"<button>Save</button><div role=button aria-label="Save as">x</div><a href=/s>Save</a>
            <input type=checkbox aria-label=On checked><input type=checkbox aria-label=Off>
            <h2>Two</h2><h3>Three</h3><button aria-hidden=true>Ghost</button>"#,
        )
        .await;
    check(stage, json!({"role": "button"}), &["button Save", "button Save as"]).await;
    check(stage, json!({"role": "button", "name": "save"}), &["button Save"]).await;
    check(stage, json!({"role": "button", "name": "as"}), &["button Save as"]).await;
    check(stage, json!({"role": "button", "name": "save", "nameExact": true}), &[]).await;
    check(stage, json!({"role": "button", "name": "Save as", "nameExact": true}), &["button Save as"]).await;
    check(stage, json!({"role": "checkbox", "states": {"checked": true}}), &["checkbox On"]).await;
    check(stage, json!({"role": "checkbox", "states": {"checked": false}}), &["checkbox Off"]).await;
    check(stage, json!({"role": "heading", "states": {"level": 3}}), &["heading Three"]).await;
}

async fn labels(stage: &mut Stage) {
    stage
        .show(
            r#"<label for=a>First name *</label><input id=a><label>Name: <input></label>
            <span id=l>Home</span><span id=m>town</span><input aria-labelledby="l m">
            <label>Colour <select><option>Red<option>Name</select></label><div contenteditable role=textbox aria-label=Notes>n</div>"#,
        )
        .await;
    check(stage, json!({"label": "first name"}), &["textbox First name *"]).await;
    check(stage, json!({"label": "name"}), &["textbox Name:"]).await;
    check(stage, json!({"label": "home town"}), &["textbox Home town"]).await;
    check(stage, json!({"label": "colour"}), &["combobox Colour"]).await;
    check(stage, json!({"label": "notes"}), &["textbox Notes"]).await;
    check(stage, json!({"label": "Home town", "exact": true}), &["textbox Home town"]).await;
    check(stage, json!({"label": "home town", "exact": true}), &[]).await;
}

const SHADOWS: &str = r#"<my-app></my-app><button>Outer</button><script>
    const open = (host, html) => { const root = host.attachShadow({mode: 'open'}); root.innerHTML = html; return root; };
    const app = open(document.querySelector('my-app'), '<section class=panel><my-form><p slot=s>Slotted</p></my-form></section>');
    open(app.querySelector('my-form'), '<slot name=s></slot><label>Mail <input placeholder="you@example.org"></label><button class=send>Send</button>');
    </script>"#;

async fn shadow_roots(stage: &mut Stage) {
    stage.show(SHADOWS).await;
    check(stage, json!({"css": "button"}), &["button Send", "button Outer"]).await;
    check(stage, json!({"css": "my-app .panel button"}), &["button Send"]).await;
    check(stage, json!({"css": "my-app > .panel > my-form > .send, nothing"}), &["button Send"]).await;
    check(stage, json!({"css": "my-form label + button"}), &["button Send"]).await;
    check(stage, json!({"css": "my-app[x] button"}), &[]).await;
    check(stage, json!({"css": "section[class='panel'] :is(a, button):not(.x)"}), &["button Send"]).await;
    check(stage, json!({"label": "mail"}), &["textbox Mail"]).await;
    check(stage, json!({"placeholder": "example.org"}), &["textbox Mail"]).await;
    check(stage, json!({"text": "send"}), &["button Send"]).await;
    check(stage, json!({"text": "slotted"}), &["paragraph Slotted"]).await;
    check(stage, json!({"role": "button", "name": "Send"}), &["button Send"]).await;
}

async fn hidden_twins(stage: &mut Stage) {
    stage
        .show(
            r#"<nav hidden><a href=/m>Account</a></nav><nav><a href=/d>Account</a></nav>
            <div style="height:0;overflow:hidden"><p hidden>Gone</p></div><p style="visibility:hidden">Gone</p>"#,
        )
        .await;
    let found = stage.run("locate", json!({"spec": {"text": "account"}})).await;
    assert_eq!(found["total"], 1, "the hidden twin is left out: {found}");
    let found = stage.run("locate", json!({"spec": {"css": "p"}})).await;
    assert_eq!(found["total"], 2, "all hidden: all are listed: {found}");
}

async fn refs(stage: &mut Stage) {
    stage.show("<button id=b>Same</button><div id=d></div>").await;
    let key = stage.key(json!({"css": "button"})).await;
    let document = stage.eval_in_agent("tabwire.document").await;
    check(stage, json!({"key": key, "document": document}), &["button Same"]).await;
    stage.eval("b.outerHTML = '<button>Same</button>'").await;
    let expired =
        stage.failure("prepare", json!({"spec": {"key": key}, "for": "click", "timeout": 5_000})).await;
    assert_eq!(expired["code"], "REF_EXPIRED", "a twin is another element");
    let other = stage.failure("locate", json!({"spec": {"key": key, "document": "another"}})).await;
    assert_eq!(other["code"], "REF_EXPIRED");
    // An element that is removed and inserted again keeps its ref.
    let key = stage.key(json!({"css": "button"})).await;
    stage.eval("d.append(document.querySelector('button'))").await;
    check(stage, json!({"key": key}), &["button Same"]).await;
}

async fn misses(stage: &mut Stage) {
    stage.show("<button>Continue to payment</button><a href=/>Home</a><input id=email-field>").await;
    let missed =
        stage.failure("prepare", json!({"spec": {"text": "Continue to paiment"}, "timeout": 0})).await;
    assert_eq!(missed["code"], "SELECTOR_NOT_FOUND");
    assert_eq!(missed["details"]["similar"][0]["name"], "Continue to payment");
    assert!(
        missed["remedy"]["text"].as_str().is_some_and(|text| text.contains("button \"Continue to payment\"")),
        "{missed}"
    );
    let missed = stage.failure("prepare", json!({"spec": {"css": "#email-feild"}, "timeout": 0})).await;
    assert_eq!(missed["details"]["similar"][0]["tag"], "input");
    for bad in [json!({"css": "a["}), json!({"xpath": "//["}), json!({"text": "  "}), json!({})] {
        assert_eq!(stage.failure("locate", json!({"spec": bad})).await["code"], "BAD_ARGS", "{bad}");
    }
    let several = stage.failure("prepare", json!({"spec": {"css": "button, a"}, "timeout": 5_000})).await;
    assert_eq!(several["code"], "AMBIGUOUS");
    assert_eq!(several["details"]["matches"][1]["name"], "Home");
    for (nth, name) in [(0, "Continue to payment"), (1, "Home"), (-1, "Home")] {
        let one =
            stage.run("prepare", json!({"spec": {"css": "button, a"}, "nth": nth, "timeout": 5_000})).await;
        assert_eq!(one["name"], name);
    }
}
