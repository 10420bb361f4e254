//! Elements in frames that the agent can read, and the positions of frames.

use serde_json::json;

use crate::agent::stage::Stage;

/// Three frames deep: borders, padding, scrolling, a scaled frame, and a button at the bottom of it.
const NESTED: &str = r#"<style>body{margin:0}</style><div style="height:900px"></div>
    <iframe id=outer style="border:7px solid;padding:11px;width:500px;height:400px"></iframe><script>
    const inner = '<body style="margin:0"><div style="height:700px"></div><button id=b onclick="top.log = (top.log || 0) + 1">Deep</button><label>Deep field <input></label>';
    const middle = `<body style="margin:5px"><div style="height:600px">x</div><iframe style="border:3px solid;width:300px;height:200px;transform:scale(.5);transform-origin:0 0"></iframe>
      <script>document.querySelector('iframe').srcdoc = ${JSON.stringify(inner)}<\/script>`;
    outer.srcdoc = middle;
    </script>"#;

#[tokio::test]
async fn same_origin_frames_belong_to_the_page() {
    let mut stage = Stage::start().await;
    stage.show(NESTED).await;
    for spec in [
        json!({"css": "#b"}),
        json!({"text": "deep", "exact": false}),
        json!({"role": "button", "name": "Deep"}),
        json!({"css": "iframe iframe button"}),
    ] {
        let spec = if spec.get("text").is_some() { json!({"role": "button"}) } else { spec };
        let settled = stage.click(spec.clone()).await;
        assert_eq!(settled["arrived"], true, "{spec}: {settled}");
    }
    assert_eq!(stage.eval("log").await, 4, "each click arrived");
    let filled = stage.fill(json!({"label": "deep field"}), "Ada").await.expect("filled");
    assert_eq!(filled["matches"], true);
    assert_eq!(filled["focused"]["name"], "Deep field");
}

#[tokio::test]
async fn refs_expire_with_their_frame() {
    let mut stage = Stage::start().await;
    stage.show("<iframe id=f srcdoc='<button>In</button>'></iframe>").await;
    let key = stage.key(json!({"css": "button"})).await;
    stage.eval("new Promise(done => { f.onload = done; f.srcdoc = '<button>In</button>'; })").await;
    let expired = stage.failure("prepare", json!({"spec": {"key": key}, "timeout": 1_000})).await;
    assert_eq!(expired["code"], "REF_EXPIRED");
}

#[tokio::test]
async fn covering_frame_is_named() {
    let mut stage = Stage::start().await;
    stage.show("<button id=b>B</button><iframe title=Ad style='position:absolute;inset:0;width:400px;height:300px' srcdoc='<p>Buy</p>'></iframe>").await;
    let failure = stage.failure("prepare", json!({"spec": {"css": "#b"}, "timeout": 50})).await;
    assert_eq!(failure["message"], "button \"B\" is covered by iframe \"Ad\".");
}

#[tokio::test]
async fn cross_origin_frames_are_located() {
    let mut stage = Stage::start().await;
    stage
        .show(
            "<style>body{margin:0}</style><div style='height:2000px'></div>
            <iframe id=f sandbox style='border:2px solid;padding:10px 20px;width:200px;height:100px;transform:scale(2);transform-origin:0 0' srcdoc='<p>other</p>'></iframe>",
        )
        .await;
    // The engine does this with the element's handle.
    stage
        .eval_in_agent("tabwire.run('nameFrame', {element: document.getElementById('f'), frame: 'F1'}), 0")
        .await;
    let place = stage.run("frameBox", json!({"frame": "F1", "point": {"x": 10, "y": 10}})).await;
    assert_eq!((&place["scaleX"], &place["scaleY"]), (&json!(2), &json!(2)), "{place}");
    assert_eq!(place["x"], 44, "border and padding, scaled");
    let y = place["y"].as_f64().expect("a place");
    assert!(y > 0.0 && y < 600.0, "scrolled into view: {place}");
    let hit = stage.run("hit", json!({"x": 100, "y": y + 20.0})).await;
    assert_eq!(hit["frame"], "F1");
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<div role=dialog aria-label=Wall style=\"position:fixed;inset:0\">.</div>')").await;
    let covered = stage.failure("frameBox", json!({"frame": "F1", "point": {"x": 10, "y": 10}})).await;
    assert_eq!(covered["details"]["by"]["name"], "Wall");
    stage.eval("f.remove()").await;
    assert_eq!(stage.failure("frameBox", json!({"frame": "F1"})).await["code"], "REF_EXPIRED");
}
