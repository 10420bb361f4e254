//! Responses with different CORS and framing rules.

use crate::site::http::incoming::Incoming;
use crate::site::http::response::Response;

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    let origin = incoming.request.header("origin").unwrap_or("none");
    let text = format!("{} from {origin}", incoming.request.method);
    Some(match incoming.path() {
        "/cors/open" => permit(incoming, Response::text(text)),
        "/cors/closed" => Response::text(text).without_cors(),
        "/cors/credentials" => {
            let who = incoming.cookie("session").unwrap_or("nobody");
            permit(incoming, Response::text(format!("{text} as {who}"))).for_origin(origin)
        }
        "/frames/denied" => Response::page("Denied", "<p>CANARY-denied-frame</p>")
            .with("x-frame-options", "DENY")
            .without_cors(),
        _ => return None,
    })
}

/// Allows CORS preflight requests.
fn permit(incoming: Incoming<'_>, response: Response) -> Response {
    if !incoming.is("OPTIONS") {
        return response;
    }
    Response::text("")
        .status("204 No Content")
        .with("access-control-allow-methods", "GET, POST, PUT, DELETE")
        .with("access-control-allow-headers", "content-type, x-fixture")
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::response;

    #[tokio::test]
    async fn each_path_has_its_own_cors_rules() {
        let ask = async |method: &str, path: &str| {
            let text = format!(
                "{method} {path} HTTP/1.1\r\nOrigin: http://a.localhost\r\nCookie: session=alice\r\n\r\n"
            );
            response(&text).await
        };
        assert!(ask("GET", "/cors/open").await.0.contains("access-control-allow-origin: *"));
        assert!(!ask("GET", "/cors/closed").await.0.contains("access-control-allow-origin"));
        let (head, body) = ask("GET", "/cors/credentials").await;
        assert!(head.contains("access-control-allow-origin: http://a.localhost\r\n"), "{head}");
        assert_eq!(body, "GET from http://a.localhost as alice");
        let (head, _) = ask("OPTIONS", "/cors/credentials").await;
        assert!(head.starts_with("HTTP/1.1 204") && head.contains("access-control-allow-methods"), "{head}");
        assert!(ask("GET", "/frames/denied").await.0.contains("x-frame-options: DENY"));
    }
}
