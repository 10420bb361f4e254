//! The page agent leaves no trace: a page that observes itself sees only user input.

use serde_json::json;

use crate::actions::support::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn page_that_observes_itself_does_not_see_the_agent() {
    let stage = Stage::at("/hostile/watch").await;
    let before = stage.eval("window.report()").await;
    for (name, params) in [
        ("snapshot", json!({})),
        ("snapshot", json!({"interactive": true, "full": true})),
        ("find", json!({"text": "watch"})),
        ("wait_for", json!({"target": "body"})),
        ("wait_for", json!({"text_gone": "nothing of the kind"})),
    ] {
        stage.act(name, params).await;
    }
    let after = stage.eval("window.report()").await;
    assert_eq!(before, after, "reading left a trace");
    let world = stage.eval("typeof tabwire + Object.getOwnPropertyNames(window).filter((name) => /tabwire|agent_/i.test(name)).join()");
    assert_eq!(world.await, "undefined");
}

#[tokio::test(flavor = "multi_thread")]
async fn click_and_fill_cause_only_user_events() {
    let stage = Stage::start().await;
    stage
        .show(
            "<input id=field aria-label=Field><button id=go>Go</button><script>
             window.changes = [];
             new MutationObserver((all) => changes.push(...all.map((one) => one.type + ':' + one.attributeName)))
               .observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
             window.untrusted = [];
             for (const type of ['click', 'input', 'change', 'focus', 'keydown', 'pointerdown', 'mousedown', 'scroll', 'tabwire'])
               addEventListener(type, (event) => event.isTrusted || untrusted.push(type), true);
             </script>",
        )
        .await;
    stage.act("fill", json!({"target": "#field", "value": "text"})).await;
    stage.act("click", json!({"target": "#go"})).await;
    stage.act("snapshot", json!({})).await;
    assert_eq!(stage.eval("changes.join()").await, "");
    assert_eq!(stage.eval("untrusted.join()").await, "");
    assert_eq!(stage.eval("document.querySelector('#field').value").await, "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_built_ins_do_not_affect_the_agent() {
    let stage = Stage::start().await;
    stage
        .show(
            "<button onclick=\"window.clicked = true\">Pay</button><script>
             Element.prototype.getBoundingClientRect = () => ({x: 900, y: 900, width: 1, height: 1, top: 900, left: 900});
             document.querySelectorAll = () => [];
             Element.prototype.getAttribute = () => 'forged';
             window.getComputedStyle = () => { throw new Error('no'); };
             Array.prototype.map = () => ['forged'];
             JSON.stringify = () => 'forged';
             Node.prototype.contains = () => false;
             </script>",
        )
        .await;
    let seen = stage.text("snapshot", json!({})).await;
    assert!(seen.contains("button \"Pay\"") && !seen.contains("forged"), "{seen}");
    stage.act("click", json!({"target": "text=Pay"})).await;
    assert_eq!(stage.eval("window.clicked").await, true);
}
