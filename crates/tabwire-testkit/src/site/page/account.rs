//! Login pages: with cookies, in several steps, and with basic authentication. Keeps no state.
//!
//! Every user name is valid. The cookie contains the name. The password is `secret`, or a unique second one that tests
//! can search for.

use crate::site::http::incoming::Incoming;
use crate::site::http::response::{Response, escape};

/// The passwords. The second one occurs in no other text.
const PASSWORDS: [&str; 2] = ["secret", "Zw8-canary-kF2"];

/// `alice:secret` as a browser sends it.
const BASIC_ALICE: &str = "Basic YWxpY2U6c2VjcmV0";

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    Some(match incoming.path() {
        "/login/steps" => step_page("/login/steps/password", "name=\"user\" autocomplete=\"username\""),
        "/login/steps/password" => step_page("/login/steps/code", "name=\"password\" type=\"password\""),
        "/login/steps/code" => code_page(incoming),
        "/login/steps/done" => done_page(incoming),
        "/login/framed" => framed_page(incoming),
        "/login/insecure" => step_page("http://example.invalid/", "id=\"password\" type=\"password\""),
        "/login/register" => two_passwords_page(),
        "/login" if incoming.is("POST") => log_in(incoming),
        "/login" => login_page(""),
        "/logout" => {
            Response::redirect("303 See Other", "/account").with("set-cookie", "session=; Path=/; Max-Age=0")
        }
        "/account" => account_page(incoming),
        "/account/private" => match incoming.cookie("session") {
            Some(_) => account_page(incoming),
            None => Response::redirect("302 Found", "/login"),
        },
        "/auth/basic" => basic(incoming),
        _ => return None,
    })
}

fn login_page(error: &str) -> Response {
    Response::page(
        "Log in",
        &format!(
            "<h1>Log in</h1>\n<form id=\"login\" action=\"/login\" method=\"post\">\n\
             <label>User name <input id=\"user\" name=\"user\" autocomplete=\"username\" required></label>\n\
             <label>Password <input id=\"password\" name=\"password\" type=\"password\" \
             autocomplete=\"current-password\"></label>\n\
             <label><input id=\"remember\" name=\"remember\" type=\"checkbox\" value=\"yes\"> Remember me</label>\n\
             <button id=\"submit\" type=\"submit\">Log in</button>\n</form>\n\
             <p id=\"error\" role=\"alert\">{error}</p>"
        ),
    )
}

fn is_right(incoming: Incoming<'_>) -> bool {
    incoming.field("password").is_some_and(|password| PASSWORDS.contains(&password.as_str()))
}

/// A form with one field and a button outside of it.
fn step_page(action: &str, field: &str) -> Response {
    let form = format!(
        "<h1>Log in</h1>\n<form id=\"step\" action=\"{action}\" method=\"post\"><label>Field <input {field}></label></form>\n\
         <button form=\"step\">Next</button>"
    );
    Response::page("Log in", &form)
}

fn code_page(incoming: Incoming<'_>) -> Response {
    if is_right(incoming) {
        return step_page(
            "/login/steps/done",
            "name=\"code\" inputmode=\"numeric\" autocomplete=\"one-time-code\"",
        );
    }
    login_page("Wrong user name or password").status("401 Unauthorized")
}

/// Shows whether the code is well-formed, without the code.
fn done_page(incoming: Incoming<'_>) -> Response {
    let code = incoming.field("code").unwrap_or_default();
    let is_code = code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit());
    Response::page(
        "Done",
        &format!("<h1>Done</h1>\n<p id=\"code\">{}</p>", if is_code { "six digits" } else { "no code" }),
    )
}

/// The login form of another site in a frame.
fn framed_page(incoming: Incoming<'_>) -> Response {
    let frame = format!("<iframe src=\"http://b.localhost:{}/login\"></iframe>", incoming.port);
    Response::page("Framed", &format!("<h1>Framed</h1>\n{frame}"))
}

fn two_passwords_page() -> Response {
    let field = "<label>Password <input type=\"password\" autocomplete=\"new-password\"></label>";
    Response::page(
        "Register",
        &format!("<h1>Register</h1>\n<form method=\"post\">{field}{field}<button>Go</button></form>"),
    )
}

fn log_in(incoming: Incoming<'_>) -> Response {
    let mut user = incoming.field("user").unwrap_or_default();
    user.retain(|letter| letter.is_ascii_alphanumeric());
    if user.is_empty() || !is_right(incoming) {
        return login_page("Wrong user name or password").status("401 Unauthorized");
    }
    let life = if incoming.field("remember").is_some() { "; Max-Age=86400" } else { "" };
    Response::redirect("303 See Other", "/account")
        .with("set-cookie", format!("session={user}; Path=/; HttpOnly; SameSite=Lax{life}"))
        .with("set-cookie", format!("greeting=hello-{user}; Path=/{life}"))
}

fn account_page(incoming: Incoming<'_>) -> Response {
    let who = incoming.cookie("session").filter(|who| !who.is_empty());
    let body = match who {
        Some(who) => format!(
            "<h1>Account</h1>\n<p>Logged in as <strong id=\"who\">{}</strong></p>\n\
             <form action=\"/logout\" method=\"post\"><button id=\"logout\" type=\"submit\">Log out</button></form>",
            escape(who)
        ),
        None => "<h1>Account</h1>\n<p>Logged in as <strong id=\"who\">no user</strong></p>\n<a id=\"login\" href=\"/login\">Log in</a>".to_owned(),
    };
    Response::page("Account", &body)
}

/// Requires basic authentication as `alice`.
fn basic(incoming: Incoming<'_>) -> Response {
    if incoming.request.header("authorization") == Some(BASIC_ALICE) {
        return Response::page("Basic", "<h1>Basic</h1>\n<p id=\"who\">alice</p>");
    }
    Response::page("Basic", "<h1>Basic</h1>\n<p id=\"who\">no user</p>")
        .status("401 Unauthorized")
        .with("www-authenticate", "Basic realm=\"fixture\"")
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::{get, response};

    async fn log_in(form: &str) -> (String, String) {
        let head = format!("POST /login HTTP/1.1\r\nContent-Length: {}\r\n\r\n{form}", form.len());
        response(&head).await
    }

    #[tokio::test]
    async fn only_the_right_password_sets_a_cookie() {
        let (head, _) = log_in("user=alice&password=secret&remember=yes").await;
        assert!(head.starts_with("HTTP/1.1 303") && head.contains("location: /account\r\n"), "{head}");
        assert!(
            head.contains("set-cookie: session=alice; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400\r\n"),
            "{head}"
        );
        let (head, body) = log_in("user=alice&password=wrong").await;
        assert!(head.starts_with("HTTP/1.1 401") && !head.contains("set-cookie"), "{head}");
        assert!(body.contains("Wrong user name or password"));
        assert!(log_in("user=%3B&password=secret").await.0.starts_with("HTTP/1.1 401"));
    }

    #[tokio::test]
    async fn account_page_shows_the_user() {
        let known = response("GET /account/private HTTP/1.1\r\nCookie: x=y; session=<alice>\r\n\r\n").await.1;
        assert!(known.contains("<strong id=\"who\">&lt;alice&gt;</strong>"), "{known}");
        assert!(get("/account").await.1.contains(">no user<"));
        assert!(get("/account/private").await.0.contains("location: /login\r\n"));
        assert!(get("/logout").await.0.contains("set-cookie: session=; Path=/; Max-Age=0"));
    }

    #[tokio::test]
    async fn basic_authentication_is_required() {
        let (head, _) = get("/auth/basic").await;
        assert!(head.starts_with("HTTP/1.1 401") && head.contains("www-authenticate: Basic"), "{head}");
        let known =
            response("GET /auth/basic HTTP/1.1\r\nAuthorization: Basic YWxpY2U6c2VjcmV0\r\n\r\n").await;
        assert!(known.1.contains("<p id=\"who\">alice</p>"));
    }
}
