//! Named secrets: they reach only the password field of their own origin.

use serde_json::json;
use tabwire_api::ErrorCode;

use crate::actions::support::stage::Stage;

/// The password of the saved test login.
const PASSWORD: &str = "secret";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t39_named_secret_is_filled_in_and_never_shown() {
    let stage = Stage::at("/login").await;
    let filled = stage.act("fill", json!({"target": "#user", "value": "{secret:shop.username}"})).await;
    assert_eq!(filled["value"], "alice");
    let filled = stage.act("fill", json!({"target": "#password", "value": "{secret:shop}"})).await;
    assert_eq!(filled["value"], "•••", "{filled}");
    assert_eq!(stage.eval("document.querySelector('#password').value.length").await, PASSWORD.len());
    // The page shows the secret in several ways.
    stage
        .eval(
            "const word = document.querySelector('#password').value; document.title = word;
             const shown = document.body.appendChild(document.createElement('p'));
             shown.textContent = `it is ${word}`; shown.title = word; console.log(word); history.pushState(0, '', '?w=' + word); 1",
        )
        .await;
    let read = "document.querySelector('#password').value";
    for (name, params) in [
        ("eval", json!({"expression": read})),
        ("eval", json!({"expression": format!("throw new Error({read})")})),
        ("get_text", json!({})),
        ("get_html", json!({})),
        ("read_as_markdown", json!({})),
        ("snapshot", json!({})),
        ("get", json!({"what": "url"})),
        ("get", json!({"what": "title"})),
        ("console", json!({})),
        ("tabs_list", json!({})),
    ] {
        let output = match stage.try_act(name, params.clone()).await {
            Ok(response) => response.to_string(),
            Err(failure) => format!("{failure:?}"),
        };
        assert!(!output.contains(PASSWORD), "{name} {params}: {output}");
        assert!(output.contains("•••"), "{name} {params} shows nothing of the page: {output}");
    }
    let text = stage.text("get_text", json!({})).await;
    assert!(text.contains("it is •••"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_with_named_secrets_logs_in() {
    let stage = Stage::at("/login").await;
    let form = json!({"#user": "{secret:shop.username}", "#password": "{secret:shop}"}).to_string();
    let sent = stage.act("fill_form", json!({"form": form, "submit": true})).await;
    assert_eq!(sent["fields"][0]["value"], "•••", "{sent}");
    assert!(stage.text("get_text", json!({})).await.contains("alice"), "logged in");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t39_named_secret_reaches_no_other_field_or_origin() {
    let stage = Stage::at("/login").await;
    let fill = |target: &str, value: &str| json!({"target": target, "value": value});
    // A field that shows its value.
    stage.fails(ErrorCode::PolicyDenied, "fill", fill("#user", "{secret:shop}")).await;
    assert_eq!(stage.eval("document.querySelector('#user').value").await, "");
    // An unknown secret, a missing part, and bad syntax.
    stage.fails(ErrorCode::BadArgs, "fill", fill("#password", "{secret:nothing}")).await;
    stage.fails(ErrorCode::BadArgs, "fill", fill("#password", "{secret:shop.code}")).await;
    stage.fails(ErrorCode::BadArgs, "fill", fill("#password", "x{secret:shop}")).await;
    stage.fails(ErrorCode::BadArgs, "type", json!({"text": "{secret:shop}", "target": "#password"})).await;
    assert_eq!(stage.eval("document.querySelector('#password').value").await, "");
    // Another origin, with the same form.
    stage.act("navigate", json!({"url": stage.site.url("b", "/login")})).await;
    let refused = stage.fails(ErrorCode::PolicyDenied, "fill", fill("#password", "{secret:shop}")).await;
    assert!(refused.message.contains("nothing was filled in"), "{refused:?}");
    assert_eq!(stage.eval("document.querySelector('#password').value").await, "");
    // A frame of the right origin in a page of another.
    let framed = format!("<iframe src='{}'></iframe>", stage.site.url("a", "/login"));
    let load = format!(
        "document.body.innerHTML = {}; new Promise((done) => {{ document.querySelector('iframe').onload = () => done(1); }})",
        json!(framed)
    );
    stage.eval(&load).await;
    stage.fails(ErrorCode::PolicyDenied, "fill", fill("#password", "{secret:shop}")).await;
}
