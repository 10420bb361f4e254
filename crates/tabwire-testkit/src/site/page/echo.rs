//! Responses that echo the request: fields, headers, cookies, uploads, and request counts.

use serde_json::{Map, Value, json};

use crate::site::http::form_fields;
use crate::site::http::incoming::Incoming;
use crate::site::http::multipart;
use crate::site::http::response::{Response, escape};

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    let request = incoming.request;
    Some(match incoming.path() {
        "/api/echo" => Response::text(format!("echo {}", request.parameter("value").unwrap_or_default()))
            .with("x-fixture", "real"),
        "/api/headers" => Response::text(request.header("x-added").unwrap_or("absent")),
        "/form/submit" => sent_page(&request.body),
        "/cookie/show" => Response::text(request.header("cookie").unwrap_or("none")),
        "/cookie/set" => cookie(incoming),
        "/echo" => Response::json(&everything(incoming)),
        "/echo/page" => json_page("Echo", "echo", &everything(incoming)),
        "/echo/headers" => Response::json(&headers(incoming)),
        "/echo/head" => Response::text(incoming.head),
        "/echo/cookies" => Response::json(&cookies(incoming)),
        "/upload" => upload(incoming),
        "/count" => {
            Response::text(incoming.request_counts.of(&incoming.text("path").unwrap_or_default()).to_string())
        }
        _ => return None,
    })
}

fn everything(incoming: Incoming<'_>) -> Value {
    let body = String::from_utf8_lossy(&incoming.request.body);
    let type_name = incoming.request.header("content-type").unwrap_or_default();
    let is_form = type_name.starts_with("application/x-www-form-urlencoded");
    json!({
        "method": incoming.request.method,
        "path": incoming.path(),
        "query": object(form_fields::fields(&incoming.request.query)),
        "headers": headers(incoming),
        "body": body,
        "fields": if is_form { object(form_fields::fields(&body)) } else { Value::Null },
    })
}

/// Collects names and values. Repeated names become a list.
fn object(pairs: Vec<(String, String)>) -> Value {
    let mut object = Map::new();
    for (name, value) in pairs {
        match object.get_mut(&name) {
            Some(Value::Array(values)) => values.push(Value::from(value)),
            Some(first) => *first = json!([first.take(), value]),
            None => drop(object.insert(name, Value::from(value))),
        }
    }
    Value::Object(object)
}

fn headers(incoming: Incoming<'_>) -> Value {
    object(incoming.headers().into_iter().map(|(name, value)| (name, value.to_owned())).collect())
}

fn cookies(incoming: Incoming<'_>) -> Value {
    object(incoming.cookies().into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn cookie(incoming: Incoming<'_>) -> Response {
    let name = incoming.request.parameter("name").unwrap_or("name");
    let value = incoming.request.parameter("value").unwrap_or("value");
    // Attributes are added unchanged, such as `attributes=HttpOnly;%20Max-Age=60`.
    let attributes = incoming.text("attributes").map(|more| format!("; {more}")).unwrap_or_default();
    Response::html("<!doctype html><title>Cookie set</title>")
        .with("set-cookie", format!("{name}={value}; Path=/{attributes}"))
}

fn sent_page(body: &[u8]) -> Response {
    let fields = String::from_utf8_lossy(body).replace('&', "&amp;").replace('<', "&lt;");
    Response::html(format!(
        "<!doctype html><title>Sent</title><h1>Sent</h1><pre id=\"fields\">{fields}</pre>"
    ))
}

fn upload(incoming: Incoming<'_>) -> Response {
    let type_name = incoming.request.header("content-type").unwrap_or_default();
    let Some(parts) = multipart::parts(type_name, &incoming.request.body) else {
        return Response::text("no multipart/form-data").status("400 Bad Request");
    };
    let parts = parts.into_iter().map(|part| {
        let text = if part.file.is_none() {
            Value::from(String::from_utf8_lossy(part.content))
        } else {
            Value::Null
        };
        json!({
            "field": part.field,
            "file": part.file,
            "type": part.content_type,
            "size": part.content.len(),
            "text": text,
        })
    });
    let parts = parts.collect();
    if incoming.text("as").as_deref() == Some("json") {
        return Response::json(&parts);
    }
    json_page("Uploaded", "parts", &parts)
}

fn json_page(title: &str, id: &str, value: &Value) -> Response {
    let text = escape(&format!("{value:#}"));
    Response::page(title, &format!("<h1>{title}</h1>\n<pre id=\"{id}\">{text}</pre>"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::route::tests::{get, response};

    fn parsed((_, body): (String, String)) -> Value {
        serde_json::from_str(&body).expect("JSON")
    }

    #[tokio::test]
    async fn echo_contains_the_whole_request() {
        let text = "POST /echo?a=1&a=2 HTTP/1.1\r\nX-Fixture: Yes\r\nContent-Type: application/x-www-form-urlencoded\r\n\
            Content-Length: 7\r\n\r\nb=c%20d";
        let value = parsed(response(text).await);
        assert_eq!(value["method"], "POST");
        assert_eq!(value["query"], json!({"a": ["1", "2"]}));
        assert_eq!(value["headers"]["x-fixture"], "Yes");
        assert_eq!((&value["body"], &value["fields"]), (&json!("b=c%20d"), &json!({"b": "c d"})));
    }

    #[tokio::test]
    async fn headers_cookies_and_raw_head_are_echoed() {
        let text = "GET /echo/cookies HTTP/1.1\r\nCookie: a=1; b=2=3\r\n\r\n";
        assert_eq!(parsed(response(text).await), json!({"a": "1", "b": "2=3"}));
        let text = "GET /echo/headers HTTP/1.1\r\nAccept: one\r\nAccept: two\r\n\r\n";
        assert_eq!(parsed(response(text).await), json!({"accept": ["one", "two"]}));
        let text = "GET /echo/head HTTP/1.1\r\nX-CaSe: kept\r\n\r\n";
        assert_eq!(response(text).await.1, text);
    }

    #[tokio::test]
    async fn upload_is_echoed_with_names_and_sizes() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"<a>.txt\"\r\n\r\n12345\r\n--b--\r\n";
        let head = |path: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let value = parsed(response(&head("/upload?as=json")).await);
        assert_eq!(value, json!([{"field": "f", "file": "<a>.txt", "type": "", "size": 5, "text": null}]));
        let page = response(&head("/upload")).await.1;
        assert!(page.contains("&lt;a&gt;.txt") && page.contains("id=\"parts\""), "{page}");
        assert!(get("/upload").await.0.starts_with("HTTP/1.1 400"));
    }

    #[tokio::test]
    async fn cookies_are_set_with_attributes() {
        let (head, _) = get("/cookie/set?name=a&value=b&attributes=HttpOnly;%20Max-Age=60").await;
        assert!(head.contains("set-cookie: a=b; Path=/; HttpOnly; Max-Age=60\r\n"), "{head}");
        let (head, _) = get("/cookie/set?name=a&value=b").await;
        assert!(head.contains("set-cookie: a=b; Path=/\r\n"), "{head}");
    }

    #[tokio::test]
    async fn request_counts_are_served() {
        assert_eq!(get("/count?path=/count").await.1, "1");
        assert_eq!(get("/count?path=%2Fnever").await.1, "0");
    }
}
