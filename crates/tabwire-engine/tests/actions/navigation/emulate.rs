//! `emulate`: the page sees the emulated values, also in cross-site frames and after navigations.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// The device as the page sees it.
async fn device(stage: &Stage) -> Value {
    stage.eval("readDevice()").await
}

#[tokio::test(flavor = "multi_thread")]
async fn emulated_device_is_visible_to_page_and_server() {
    let stage = Stage::at("/device").await;
    let real = device(&stage).await;
    let result = stage.act("emulate", json!({"device": "pixel 9"})).await;
    assert_eq!(result["viewport"], json!({"width": 412, "height": 923, "scale": 2.625, "mobile": true}));
    let listed = stage.act("tabs_list", json!({})).await;
    assert_eq!(listed["tabs"].as_array().map(Vec::len), Some(1));
    // The next document, in another process, sees the same.
    stage.act("navigate", json!({"url": stage.site.url("b", "/device")})).await;
    let seen = device(&stage).await;
    // The page is wider than the viewport and is scaled down, as on a phone.
    assert_eq!(stage.eval("document.documentElement.clientWidth").await, 412);
    assert_eq!(
        (&seen["screen"], &seen["scale"], &seen["touch"]),
        (&json!([412, 923]), &json!(2.625), &json!(5))
    );
    assert_eq!(
        (&seen["mobile"], &seen["coarse"], &seen["hover"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert!(
        seen["agent"].as_str().is_some_and(|agent| agent.contains("Android") && agent.contains("Mobile"))
    );
    let sent = stage.eval("fetch('/echo/headers').then((response) => response.json())").await.to_string();
    assert!(sent.contains("Android 10; K") && sent.contains("?1"), "{sent}");

    stage.act("emulate", json!({"device": "iPhone 15", "landscape": true})).await;
    stage.act("reload", json!({})).await;
    let seen = device(&stage).await;
    assert_eq!((&seen["screen"], &seen["platform"]), (&json!([852, 393]), &json!("iPhone")), "{seen}");
    assert_eq!(seen["orientation"], "landscape-primary");
    let sent = stage.eval("fetch('/echo/headers').then((response) => response.text())").await.to_string();
    assert!(
        sent.contains("iPhone OS") && !sent.contains("sec-ch-ua-platform"),
        "Safari sends no hints: {sent}"
    );

    let reset = stage.act("emulate", json!({"reset": true})).await;
    assert_eq!(reset, json!({}));
    stage.open("/device").await;
    let seen = device(&stage).await;
    for what in ["width", "height", "scale", "agent", "touch", "platform", "language", "orientation"] {
        assert_eq!(seen[what], real[what], "{what}");
    }
    assert!(stage.text("emulate", json!({"list_devices": true})).await.contains("iPad Mini  744x1133@2"));
    assert_eq!(stage.text("emulate", json!({})).await, "nothing is emulated");
}

#[tokio::test(flavor = "multi_thread")]
async fn emulation_applies_to_existing_and_later_cross_site_frames() {
    let stage = Stage::at("/frames").await;
    let options = json!({
        "color_scheme": "dark", "reduced_motion": "reduce", "forced_colors": "active", "timezone": "Asia/Tokyo",
        "locale": "de-DE", "cpu": 2, "touch": "on", "media": "print",
    });
    let result = stage.text("emulate", options).await;
    assert!(
        result.contains("prefers-color-scheme: dark") && result.contains("timezone: Asia/Tokyo"),
        "{result}"
    );
    // The values in the page, and in a cross-site frame that is added now.
    let look = format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe');
           addEventListener('message', (event) => done({{ here: read(), there: event.data }}), {{ once: true }});
           const source = `const read = () => [matchMedia('(prefers-color-scheme: dark)').matches,
             matchMedia('(prefers-reduced-motion: reduce)').matches, matchMedia('(forced-colors: active)').matches,
             matchMedia('print').matches, Intl.DateTimeFormat().resolvedOptions().timeZone,
             (1234.5).toLocaleString(), navigator.language, navigator.maxTouchPoints > 0]`;
           const read = new Function(source + '; return read();');
           frame.src = '{}'; frame.onload = () => frame.contentWindow.postMessage(source, '*');
           document.body.append(frame); }})",
        stage.site.url("c", "/plain")
    );
    // The frame evaluates the source that it is sent: this init script runs in every document.
    let response =
        "addEventListener('message', (event) => { if (top !== self && typeof event.data === 'string')
        parent.postMessage(new Function(event.data + '; return read();')(), '*'); })";
    stage.act("init_script", json!({"verb": "add", "script": response})).await;
    let seen = stage.eval(&look).await;
    let expected = json!([true, true, true, true, "Asia/Tokyo", "1.234,5", "de-DE", true]);
    assert_eq!(seen, json!({"here": expected, "there": expected}));
    let partly =
        stage.act("emulate", json!({"color_scheme": "off", "timezone": "off", "media": "off"})).await;
    assert_eq!(partly["features"], json!({"forced-colors": "active", "prefers-reduced-motion": "reduce"}));
    stage.open("/media").await;
    let media = stage.eval("readMedia()").await;
    assert_eq!(
        (&media["scheme"], &media["motion"], &media["medium"]),
        (&json!("light"), &json!("reduce"), &json!("screen"))
    );
    assert_ne!(media["zone"], "Asia/Tokyo");
}

#[tokio::test(flavor = "multi_thread")]
async fn emulated_location_and_permissions_reach_the_page() {
    let stage = Stage::at("/device").await;
    stage
        .act(
            "emulate",
            json!({"geolocation": "-33.9,151.2,5", "grant": ["geolocation"], "deny": ["notifications"]}),
        )
        .await;
    stage.act("click", json!({"target": "#locate"})).await;
    stage.until("document.querySelector('#position').textContent === '-33.9,151.2'").await;
    let permissions = device(&stage).await["permissions"].clone();
    assert_eq!(
        (&permissions["geolocation"], &permissions["notifications"]),
        (&json!("granted"), &json!("denied"))
    );
    let reset = stage.act("emulate", json!({"reset_permissions": true})).await;
    assert!(reset.get("permissions").is_none() && reset.get("geolocation").is_some(), "{reset}");
    assert_eq!(device(&stage).await["permissions"]["geolocation"], "prompt");
}

#[tokio::test(flavor = "multi_thread")]
async fn emulated_viewport_and_language_reach_the_page() {
    let stage = Stage::at("/device").await;
    stage.act("emulate", json!({"viewport": "640x480@2", "locale": "de-DE", "timezone": "Asia/Tokyo"})).await;
    stage.open("/device").await;
    let seen = device(&stage).await;
    assert_eq!((&seen["width"], &seen["scale"]), (&json!(640), &json!(2)));
    let read =
        "[Intl.DateTimeFormat().resolvedOptions().timeZone, (1234.5).toLocaleString(), navigator.language]";
    assert_eq!(stage.eval(read).await, json!(["Asia/Tokyo", "1.234,5", "de-DE"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn emulated_user_agent_has_its_platform() {
    let stage = Stage::at("/device").await;
    let agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
    stage.act("emulate", json!({"user_agent": agent, "viewport": "800x600@2"})).await;
    let seen = device(&stage).await;
    assert_eq!(
        (&seen["agent"], &seen["platform"], &seen["mobile"]),
        (&json!(agent), &json!("Win32"), &json!(false))
    );
    assert_eq!((&seen["width"], &seen["scale"]), (&json!(800), &json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn emulate_rejects_bad_input_without_changes() {
    let stage = Stage::at("/device").await;
    // Firefox has no colour schemes.
    let (good, value) = if stage.is_chromium() { ("color_scheme", "dark") } else { ("locale", "de-DE") };
    for bad in [
        json!({"device": "Nokia 3310"}),
        json!({"viewport": "wide"}),
        json!({"viewport": "100x100", "scale": 99}),
        json!({"scale": 2}),
        json!({"landscape": true}),
        json!({"color_scheme": "blue"}),
        json!({"media": "radio"}),
        json!({"geolocation": "north"}),
        json!({"cpu": 0.5}),
        json!({"user_agent": "a\nb"}),
        json!({"origin": "https://example.org"}),
        json!({"grant": ["everything"]}),
        json!({"touch": "maybe"}),
        json!({"timezone": "Mars/Olympus", (good): value}),
        json!({"locale": "!!"}),
    ] {
        stage.fails(ErrorCode::BadArgs, "emulate", bad).await;
    }
    assert_eq!(stage.act("emulate", json!({})).await, json!({}), "nothing was changed");
    assert_eq!(device(&stage).await["scheme"], "light");
    stage.check_wrong_moments("emulate", json!({})).await;
    stage.check_wrong_moments("emulate", json!({"color_scheme": "dark"})).await;
}
