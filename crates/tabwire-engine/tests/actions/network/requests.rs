//! `requests` and `request`: a page's requests are listed and shown without their secrets.

use serde_json::{Value, json};
use tabwire_api::ErrorCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::actions::support::stage::{SHORT, Stage};

fn list(response: &Value) -> Vec<&Value> {
    response["requests"].as_array().expect("a list").iter().collect()
}

/// The number of the only matching request.
async fn number(stage: &Stage, params: Value) -> u64 {
    let response = stage.act("requests", params.clone()).await;
    let found = list(&response);
    let all = stage.act("requests", json!({"all": true})).await;
    assert_eq!(found.len(), 1, "{params}: {response} of {all}");
    found[0]["number"].as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_lists_filters_and_counts() {
    let stage = Stage::at("/requests").await;
    stage.eval("Promise.all([viaFetch('one'), viaXhr('two'), viaImage(), fetch('/nowhere')])").await;
    stage.eval("fetch('/hang/up').catch(() => 0)").await;
    let all = stage.act("requests", json!({})).await;
    let kinds: Vec<&str> = list(&all).iter().filter_map(|request| request["type"].as_str()).collect();
    for kind in ["document", "fetch", "xhr"] {
        assert!(kinds.contains(&kind), "{kind}: {all}");
    }
    assert!(!kinds.contains(&"image") && all["hidden_static"].as_u64() >= Some(1), "{all}");
    let count = async |params: Value| list(&stage.act("requests", params).await).len();
    assert_eq!(count(json!({"url": "*/api/echo?*"})).await, 2);
    assert_eq!(count(json!({"url": "/api/echo", "type": ["xhr"]})).await, 1);
    assert_eq!(count(json!({"type": ["image"], "url": "/image.svg"})).await, 1);
    assert_eq!(count(json!({"status": "404"})).await, 1);
    assert_eq!(count(json!({"failed": true, "type": ["fetch"]})).await, 2);
    assert_eq!(count(json!({"method": "post"})).await, 0);
    assert_eq!(count(json!({"url": "/api/", "limit": 1})).await, 1);
    assert_eq!(count(json!({"new": true})).await, 0);
    stage.eval("viaFetch('new')").await;
    assert_eq!(count(json!({"new": true})).await, 1);
    let text = stage.text("requests", json!({"url": "value=new"})).await;
    assert!(text.contains("GET") && text.contains("/api/echo?value=new fetch 200"), "{text}");
    for bad in
        [json!({"status": "abc"}), json!({"url": " "}), json!({"limit": 0}), json!({"type": ["sound"]})]
    {
        stage.fails(ErrorCode::BadArgs, "requests", bad).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t39_request_shows_everything_but_secrets() {
    let stage = Stage::at("/cookie/set?name=session&value=CANARY1").await;
    stage.open("/plain").await;
    stage
        .eval(
            "fetch('/echo?token=CANARY2', {method: 'POST', headers: {authorization: 'Bearer CANARY3', 'x-plain': 'yes',
             'content-type': 'application/json'}, body: JSON.stringify({user: 'alice', password: 'CANARY4'})})
             .then((response) => response.text())",
        )
        .await;
    let number = number(&stage, json!({"url": "/echo", "method": "POST"})).await;
    let text = stage.text("request", json!({"number": number})).await;
    // The echo response repeats the request under neutral names, so only the part before the response body is checked.
    let sent = text.split("response body").next().expect("a part");
    assert!(!sent.contains("CANARY"), "{text}");
    assert!(sent.contains("x-plain: yes") && sent.contains("alice") && text.contains("timing: "), "{text}");
    assert!(sent.to_lowercase().contains("cookie: session=•••"), "{text}");
    let shown = stage.text("request", json!({"number": number, "show_secrets": true})).await;
    for canary in ["session=CANARY1", "token=CANARY2", "Bearer CANARY3", "CANARY4"] {
        assert!(shown.contains(canary), "{canary}: {shown}");
    }
    let saved =
        stage.act("request", json!({"number": number, "save": ["request-headers", "request-body"]})).await;
    for part in saved["saved"].as_array().expect("files") {
        let content = std::fs::read_to_string(part["path"].as_str().expect("a path")).expect("text");
        assert!(!content.is_empty() && !content.contains("CANARY"), "{content}");
    }
    for bad in [
        json!({"number": 0}),
        json!({"number": 9999}),
        json!({"number": number, "output": "x"}),
        json!({"number": number, "save": ["messages"]}),
        json!({"number": number, "save": ["everything"]}),
    ] {
        stage.fails(ErrorCode::BadArgs, "request", bad).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn binary_body_goes_to_a_file_and_redirects_are_listed() {
    let stage = Stage::at("/redirect").await;
    let steps = stage.act("requests", json!({"type": ["document"]})).await;
    let steps: Vec<(&Value, &Value)> =
        list(&steps).iter().map(|step| (&step["state"], &step["status"])).collect();
    assert_eq!(steps, [(&json!("redirected"), &json!(302)), (&json!("done"), &json!(200))]);
    let bytes = [0_u8, 159, 146, 150, 255];
    let path = stage.files.put("image.bin", &bytes);
    stage.act("route", json!({"url": "/binary", "body_file": path})).await;
    stage.eval("fetch('/binary').then((response) => response.arrayBuffer()).then(() => 0)").await;
    let number = number(&stage, json!({"url": "/binary"})).await;
    let full = stage.act("request", json!({"number": number})).await;
    assert_eq!(full["from"], "route 1");
    assert_eq!(full["response_body"]["bytes"], bytes.len());
    let file = full["saved"][0]["path"].as_str().expect("a path");
    assert_eq!(std::fs::read(file).expect("a file"), bytes);
    let none = stage.act("request", json!({"number": number, "no_body": true})).await;
    assert!(none.get("saved").is_none() && none.get("response_body").is_none(), "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn websocket_and_event_stream_messages_are_listed() {
    let stage = Stage::at("/websocket").await;
    stage.until("document.getElementById('output').textContent === 'echo hello'").await;
    let socket = number(&stage, json!({"websockets": true})).await;
    let full = stage.act("request", json!({"number": socket})).await;
    assert_eq!(full["type"], "websocket");
    let said: Vec<(&str, &str)> = full["message_list"]
        .as_array()
        .expect("messages")
        .iter()
        .filter_map(|message| Some((message["direction"].as_str()?, message["text"].as_str()?)))
        .collect();
    assert_eq!(said, [("sent", "hello"), ("received", "hello")]);
    let text = stage.text("request", json!({"number": socket})).await;
    assert!(text.contains(": \"hello\""), "{text}");
    stage.open("/events").await;
    stage.until("document.getElementById('output').textContent === '1 2 3 4 5'").await;
    let stream = number(&stage, json!({"type": ["event-source"]})).await;
    let full = stage.act("request", json!({"number": stream})).await;
    assert_eq!(full["messages"], 5);
    assert_eq!(full["message_list"][4]["text"], "5");
    let saved =
        stage.act("request", json!({"number": stream, "save": ["messages"], "output": "said.json"})).await;
    let content = std::fs::read_to_string(saved["saved"][0]["path"].as_str().expect("a path")).expect("text");
    assert_eq!(serde_json::from_str::<Value>(&content).expect("JSON").as_array().map(Vec::len), Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_from_service_worker_and_cache_are_marked() {
    let stage = Stage::at("/worker/service?scope=/worker/").await;
    stage.eval("ready.then(() => true)").await;
    let made = stage.eval("fetch('/worker/from-worker').then((response) => response.text())").await;
    assert_eq!(made, "made by the service worker");
    let response = stage.act("requests", json!({"url": "from-worker"})).await;
    assert_eq!(list(&response)[0]["from"], "service worker", "{response}");
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = server.local_addr().expect("an address");
    // The browser may open several connections; only the first gets a response.
    let served = async {
        let (mut stream, _) = server.accept().await.expect("a connection");
        let mut asked = [0; 4096];
        let _ = stream.read(&mut asked).await;
        let head = "HTTP/1.1 200 OK\r\ncache-control: max-age=1000\r\naccess-control-allow-origin: *\r\n";
        let _ = stream.write_all(format!("{head}content-length: 2\r\n\r\nhi").as_bytes()).await;
        stream
    };
    let script = format!("fetch('http://{address}/kept').then((response) => response.text())");
    let (_stream, first) = tokio::join!(served, stage.eval(&script));
    assert_eq!((first, stage.eval(&script).await), (json!("hi"), json!("hi")));
    let response = stage.act("requests", json!({"url": "/kept"})).await;
    assert_eq!(
        (&list(&response)[0]["from"], &list(&response)[1]["from"]),
        (&Value::Null, &json!("disk cache"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_an_open_dialog_or_a_closed_tab() {
    let stage = Stage::start().await;
    stage.check_wrong_moments("request", json!({"number": 1})).await;
    // Known requests are listed while a dialog is open, but not for a closed tab.
    let tab = Stage::tab(&stage.act("tab_new", json!({})).await);
    let opening = "setTimeout(() => alert('in the way'), 0); new Promise(() => {})";
    let blocked = stage.try_act("eval", json!({"expression": opening})).await;
    assert_eq!(blocked.expect_err("blocked").code, ErrorCode::DialogOpen);
    stage.act("requests", json!({})).await;
    stage.act("dialog", json!({"answer": "accept"})).await;
    stage.act("tab_close", json!({"id": tab})).await;
    let gone = stage.try_act_in(Some(tab), "requests", json!({}), SHORT).await;
    assert_eq!(gone.expect_err("gone").code, ErrorCode::TabNotFound);
}
