//! Who is asking: a login with cookies and one with a browser's own dialog. Keeps no state.
//!
//! Every name is an account; the password is always `secret`, or one that is easy to search for. The cookie's value is
//! the name.

use super::question::Question;
use super::reply::{Reply, escape};

/// The passwords; the second one is in no other text.
const PASSWORDS: [&str; 2] = ["secret", "Zw8-canary-kF2"];

/// `alice:secret` as a browser sends it.
const BASIC_ALICE: &str = "Basic YWxpY2U6c2VjcmV0";

/// Finds the answer to a path of this family.
pub(super) fn find(question: Question<'_>) -> Option<Reply> {
    Some(match question.path() {
        "/login/steps" => step_page("/login/steps/password", "name=\"user\" autocomplete=\"username\""),
        "/login/steps/password" => step_page("/login/steps/code", "name=\"password\" type=\"password\""),
        "/login/steps/code" => code_page(question),
        "/login/steps/done" => done_page(question),
        "/login/framed" => framed_page(question),
        "/login/insecure" => step_page("http://example.invalid/", "id=\"password\" type=\"password\""),
        "/login/register" => two_passwords_page(),
        "/login" if question.is("POST") => log_in(question),
        "/login" => login_page(""),
        "/logout" => {
            Reply::redirect("303 See Other", "/account").with("set-cookie", "session=; Path=/; Max-Age=0")
        }
        "/account" => account_page(question),
        "/account/private" => match question.cookie("session") {
            Some(_) => account_page(question),
            None => Reply::redirect("302 Found", "/login"),
        },
        "/auth/basic" => basic(question),
        _ => return None,
    })
}

fn login_page(error: &str) -> Reply {
    Reply::page(
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

fn is_right(question: Question<'_>) -> bool {
    question.field("password").is_some_and(|password| PASSWORDS.contains(&password.as_str()))
}

/// A form with one field, whose button is outside of it.
fn step_page(action: &str, field: &str) -> Reply {
    let form = format!(
        "<h1>Log in</h1>\n<form id=\"step\" action=\"{action}\" method=\"post\"><label>Field <input {field}></label></form>\n\
         <button form=\"step\">Next</button>"
    );
    Reply::page("Log in", &form)
}

fn code_page(question: Question<'_>) -> Reply {
    if is_right(question) {
        return step_page(
            "/login/steps/done",
            "name=\"code\" inputmode=\"numeric\" autocomplete=\"one-time-code\"",
        );
    }
    login_page("Wrong user name or password").status("401 Unauthorized")
}

/// Tells the form of a code, not the code.
fn done_page(question: Question<'_>) -> Reply {
    let code = question.field("code").unwrap_or_default();
    let is_code = code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit());
    Reply::page(
        "Done",
        &format!("<h1>Done</h1>\n<p id=\"code\">{}</p>", if is_code { "six digits" } else { "no code" }),
    )
}

/// The login form of another site in a frame.
fn framed_page(question: Question<'_>) -> Reply {
    let frame = format!("<iframe src=\"http://b.localhost:{}/login\"></iframe>", question.port);
    Reply::page("Framed", &format!("<h1>Framed</h1>\n{frame}"))
}

fn two_passwords_page() -> Reply {
    let field = "<label>Password <input type=\"password\" autocomplete=\"new-password\"></label>";
    Reply::page(
        "Register",
        &format!("<h1>Register</h1>\n<form method=\"post\">{field}{field}<button>Go</button></form>"),
    )
}

fn log_in(question: Question<'_>) -> Reply {
    let mut user = question.field("user").unwrap_or_default();
    user.retain(|letter| letter.is_ascii_alphanumeric());
    if user.is_empty() || !is_right(question) {
        return login_page("Wrong user name or password").status("401 Unauthorized");
    }
    let life = if question.field("remember").is_some() { "; Max-Age=86400" } else { "" };
    Reply::redirect("303 See Other", "/account")
        .with("set-cookie", format!("session={user}; Path=/; HttpOnly; SameSite=Lax{life}"))
        .with("set-cookie", format!("greeting=hello-{user}; Path=/{life}"))
}

fn account_page(question: Question<'_>) -> Reply {
    let who = question.cookie("session").filter(|who| !who.is_empty());
    let body = match who {
        Some(who) => format!(
            "<h1>Account</h1>\n<p>Logged in as <strong id=\"who\">{}</strong></p>\n\
             <form action=\"/logout\" method=\"post\"><button id=\"logout\" type=\"submit\">Log out</button></form>",
            escape(who)
        ),
        None => "<h1>Account</h1>\n<p>Logged in as <strong id=\"who\">nobody</strong></p>\n<a id=\"login\" href=\"/login\">Log in</a>".to_owned(),
    };
    Reply::page("Account", &body)
}

/// Asks for alice's password in the browser's way.
fn basic(question: Question<'_>) -> Reply {
    if question.request.header("authorization") == Some(BASIC_ALICE) {
        return Reply::page("Basic", "<h1>Basic</h1>\n<p id=\"who\">alice</p>");
    }
    Reply::page("Basic", "<h1>Basic</h1>\n<p id=\"who\">nobody</p>")
        .status("401 Unauthorized")
        .with("www-authenticate", "Basic realm=\"fixture\"")
}

#[cfg(test)]
mod tests {
    use super::super::answer::tests::{get, reply};

    async fn log_in(form: &str) -> (String, String) {
        let head = format!("POST /login HTTP/1.1\r\nContent-Length: {}\r\n\r\n{form}", form.len());
        reply(&head).await
    }

    #[tokio::test]
    async fn the_right_password_gives_a_cookie_and_the_wrong_one_none() {
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
    async fn the_account_says_who_is_there() {
        let known = reply("GET /account/private HTTP/1.1\r\nCookie: x=y; session=<alice>\r\n\r\n").await.1;
        assert!(known.contains("<strong id=\"who\">&lt;alice&gt;</strong>"), "{known}");
        assert!(get("/account").await.1.contains(">nobody<"));
        assert!(get("/account/private").await.0.contains("location: /login\r\n"));
        assert!(get("/logout").await.0.contains("set-cookie: session=; Path=/; Max-Age=0"));
    }

    #[tokio::test]
    async fn basic_authentication_is_asked_for() {
        let (head, _) = get("/auth/basic").await;
        assert!(head.starts_with("HTTP/1.1 401") && head.contains("www-authenticate: Basic"), "{head}");
        let known = reply("GET /auth/basic HTTP/1.1\r\nAuthorization: Basic YWxpY2U6c2VjcmV0\r\n\r\n").await;
        assert!(known.1.contains("<p id=\"who\">alice</p>"));
    }
}
