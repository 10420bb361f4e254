//! Pages for policy tests: an allowed page, and a page with a canary in every part.

use crate::site::http::incoming::Incoming;
use crate::site::http::response::Response;

/// The text that every part of `/policy/secret` contains.
const CANARY: &str = "CANARY";

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    Some(match incoming.path() {
        // `?frame=URL` adds a frame, `?fetch=URL` sends a request whose response the page cannot read.
        "/policy/page" => Response::page("Own page", &own_page(incoming)),
        "/policy/secret" => Response::page(&format!("{CANARY}-title"), &secret_page())
            .with("set-cookie", format!("secret={CANARY}-cookie; HttpOnly; Path=/"))
            .with("x-secret", format!("{CANARY}-header")),
        "/policy/secret-data" => Response::text(format!("{CANARY}-data")),
        _ => return None,
    })
}

fn own_page(incoming: Incoming<'_>) -> String {
    let frame = incoming
        .text("frame")
        .map(|url| format!("<iframe id=frame src=\"{url}\" width=300 height=200></iframe>"));
    let fetch = incoming.text("fetch").map(|url| {
        format!("<script>fetch('{url}', {{mode: 'no-cors', credentials: 'include'}}).catch(() => 0)</script>")
    });
    format!(
        "<h1>Own page</h1><label>Field <input id=field></label><button id=button>Press</button>\
         <a href=\"/plain\">A link</a>{}{}",
        frame.unwrap_or_default(),
        fetch.unwrap_or_default()
    )
}

fn secret_page() -> String {
    format!(
        "<p>{CANARY}-text</p><label>{CANARY}-label <input id=secret value=\"{CANARY}-value\"></label>\
         <a href=\"/{CANARY}-link\">{CANARY}-link</a><img alt=\"{CANARY}-image\">\
         <script>console.log('{CANARY}-console'); localStorage.setItem('{CANARY}-key', '{CANARY}-stored');\
         fetch('/policy/secret-data?{CANARY}-query'); setTimeout(() => {{ throw new Error('{CANARY}-error') }});\
         </script>"
    )
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::response;

    #[tokio::test]
    async fn page_contains_the_given_frame_and_request() {
        let ask = async |path: &str| response(&format!("GET {path} HTTP/1.1\r\n\r\n")).await;
        let (_, body) = ask("/policy/page?frame=http%3A%2F%2Fb%2Fx&fetch=http%3A%2F%2Fc%2Fy").await;
        assert!(body.contains("src=\"http://b/x\"") && body.contains("fetch('http://c/y'"), "{body}");
        let (head, body) = ask("/policy/secret").await;
        assert!(head.contains("HttpOnly") && body.contains("CANARY-text"), "{head}{body}");
    }
}
