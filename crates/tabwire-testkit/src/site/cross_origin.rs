//! Answers with different opinions on who else may read them, or show them in a frame.

use super::question::Question;
use super::reply::Reply;

/// Finds the answer to a path of this family.
pub(super) fn find(question: Question<'_>) -> Option<Reply> {
    let origin = question.request.header("origin").unwrap_or("none");
    let text = format!("{} from {origin}", question.request.method);
    Some(match question.path() {
        "/cors/open" => permit(question, Reply::text(text)),
        "/cors/closed" => Reply::text(text).for_nobody_else(),
        "/cors/credentials" => {
            let who = question.cookie("session").unwrap_or("nobody");
            permit(question, Reply::text(format!("{text} as {who}"))).for_origin(origin)
        }
        "/frames/denied" => Reply::page("Denied", "<p>CANARY-denied-frame</p>")
            .with("x-frame-options", "DENY")
            .for_nobody_else(),
        _ => return None,
    })
}

/// Says yes to a browser that asks first.
fn permit(question: Question<'_>, reply: Reply) -> Reply {
    if !question.is("OPTIONS") {
        return reply;
    }
    Reply::text("")
        .status("204 No Content")
        .with("access-control-allow-methods", "GET, POST, PUT, DELETE")
        .with("access-control-allow-headers", "content-type, x-fixture")
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::reply;

    #[tokio::test]
    async fn each_path_has_its_own_opinion() {
        let ask = async |method: &str, path: &str| {
            let text = format!(
                "{method} {path} HTTP/1.1\r\nOrigin: http://a.localhost\r\nCookie: session=alice\r\n\r\n"
            );
            reply(&text).await
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
