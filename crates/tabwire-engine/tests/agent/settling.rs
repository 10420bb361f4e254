//! The settle report after an action, and how soon it comes.

use serde_json::{Value, json};

use crate::agent::stage::Stage;

async fn click_on(stage: &mut Stage, body: &str) -> Value {
    stage.show(body).await;
    stage.click(json!({"css": "#b"})).await
}

#[tokio::test]
async fn effects_of_a_click_are_reported() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    let settled = click_on(stage, "<button id=b>B</button>").await;
    assert_eq!((&settled["mutations"], &settled["mutating"]), (&json!(0), &json!(false)));
    for (what, elements, handler) in SOONS {
        let body = format!(
            "<title>t</title><p id=p>0</p><button id=b>B</button><script>b.onclick = () => {{ {handler} }}; function done() {{ p.append(document.createElement('i')); }}</script>"
        );
        let settled = click_on(stage, &body).await;
        assert_eq!(settled["elements"], *elements, "{what}: {settled}");
        assert_eq!(settled["mutating"], false, "{what}: {settled}");
    }
}

/// Ways in which pages defer work.
const SOONS: &[(&str, u32, &str)] = &[
    ("at once", 1, "done()"),
    ("promise", 1, "Promise.resolve().then(() => 0).then(done)"),
    ("timer", 1, "setTimeout(done, 0)"),
    ("timer in a timer", 1, "setTimeout(() => setTimeout(done, 0), 0)"),
    ("message", 1, "const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0)"),
    ("scheduler", 1, "scheduler.postTask(done)"),
    (
        "animation frames after a change",
        2,
        "p.append(document.createElement('b')); requestAnimationFrame(() => requestAnimationFrame(done))",
    ),
];

#[tokio::test]
async fn focus_title_and_value_are_reported() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    let settled = click_on(
        stage,
        "<input id=i aria-label=Name><button id=b onclick='i.focus(); document.title = \"New\"'>B</button>",
    )
    .await;
    assert_eq!(settled["focused"]["name"], "Name");
    assert_eq!(settled["title"], "New");
    let settled = click_on(stage, "<input id=b type=checkbox>").await;
    assert_eq!(settled["checked"], true);
    let settled = click_on(stage, "<button id=b onclick='this.remove()'>B</button>").await;
    assert_eq!(settled["gone"], true);
}

#[tokio::test]
async fn finite_animations_are_reported() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    let panel = "<style>#p{position:absolute;left:0;top:100px;transition:left 5s, color 5s}#p.on{left:300px;color:red}
        @keyframes spin{to{rotate:1turn}}#s{animation:spin 1s infinite}</style><p id=p>Panel</p><p id=s>o</p>";
    let settled =
        click_on(stage, &format!("{panel}<button id=b onclick='p.className=\"on\"'>B</button>")).await;
    assert_eq!(settled["animations"], 1, "the slide, not the colour, not the endless one: {settled}");
    assert!(settled["animationsEnd"].as_u64().is_some_and(|left| left > 3_000), "{settled}");
    let settled = click_on(stage, &format!("{panel}<button id=b>B</button>")).await;
    assert!(settled.get("animations").is_none(), "{settled}");
}

#[tokio::test]
async fn changes_in_shadow_roots_and_frames_count() {
    let mut stage = Stage::start().await;
    let stage = &mut stage;
    let shadow = "<my-x></my-x><script>const root = document.querySelector('my-x').attachShadow({mode:'open'}); root.innerHTML = '<p></p>'</script>
        <button id=b onclick='root.firstChild.append(document.createElement(\"i\"))'>B</button>";
    assert_eq!(click_on(stage, shadow).await["elements"], 1);
    let frame = "<iframe id=f srcdoc='<p>x</p>'></iframe><button id=b onclick='f.contentDocument.body.append(f.contentDocument.createElement(\"i\"))'>B</button>";
    assert_eq!(click_on(stage, frame).await["elements"], 1);
}

#[tokio::test]
async fn settle_without_effects_returns_at_once() {
    let mut stage = Stage::start().await;
    stage
        .show("<button id=b onclick='document.title = ++n'>B</button><p id=p>0</p><script>n = 0</script>")
        .await;
    // In the agent's world and without input, to measure only settling.
    let times = stage
        .eval_in_agent(
            "(async () => { const times = []; for (let at = 0; at < 21; at++) { const {ok} = tabwire.run('mark', {}); const start = performance.now();
            await tabwire.run('settle', {since: ok.mark}); times.push(performance.now() - start); } return times.sort((a, b) => a - b)[10]; })()",
        )
        .await;
    assert!(times.as_f64().is_some_and(|median| median < 8.0), "no frame is waited for: {times} ms");
    let settled = stage.click(json!({"css": "#b"})).await;
    assert_eq!(settled["title"], "1");
}

#[tokio::test]
async fn settle_waits_only_briefly_for_missing_input() {
    let mut stage = Stage::start().await;
    stage.show("<button>B</button>").await;
    let marked = stage.run("mark", json!({})).await;
    let settled =
        stage.run("settle", json!({"since": marked["mark"], "after": "mouseup", "timeout": 30})).await;
    assert_eq!(settled["arrived"], false);
}
