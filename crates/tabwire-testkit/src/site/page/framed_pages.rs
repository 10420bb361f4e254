//! Pages with a frame of another site. The frame reports every input that reaches it.

use crate::site::http::incoming::Incoming;
use crate::site::http::response::Response;

/// The response for a path of this family.
pub(crate) fn find(incoming: Incoming<'_>) -> Option<Response> {
    Some(match incoming.path() {
        "/framed" => outer(incoming),
        "/framed/inner" => inner(),
        "/framed/clicked" | "/framed/typed" | "/framed/routed" => Response::text("noted"),
        "/framed/secret" => {
            Response::text("CANARY-body").with("set-cookie", "secret=CANARY-cookie; Path=/; HttpOnly")
        }
        "/framed/script.js" => Response::new("text/javascript", "document.title = 'from the server';\n"),
        _ => return None,
    })
}

/// A page with a button, a field, and a frame of `?of=SITE` 100 pixels from the left and 200 from the top. With
/// `?closed=1` the frame is in a closed shadow root. With `?of=none` there is no frame.
fn outer(incoming: Incoming<'_>) -> Response {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let of: String =
        incoming.text("of").unwrap_or_default().chars().filter(|letter| is_letter(*letter)).collect();
    let frame = format!(
        "<iframe id=\"frame\" src=\"http://{of}.localhost:{}/framed/inner\" \
         style=\"position:absolute;left:100px;top:200px;width:300px;height:150px;border:0\"></iframe>",
        incoming.port
    );
    let holder = match (of.as_str(), incoming.text("closed")) {
        ("none", _) => String::new(),
        (_, None) => frame,
        (_, Some(_)) => format!(
            "<div id=\"host\"></div><script>host.attachShadow({{mode: 'closed'}}).innerHTML = `{frame}`;</script>"
        ),
    };
    let body = format!(
        "<h1>Outer</h1><button id=\"own\" onclick=\"output.textContent = 'clicked'\">Own</button>\
         <input id=\"field\" aria-label=\"Field\"><output id=\"output\"></output>\
         <script>console.log('line of the page');</script>{holder}"
    );
    Response::page("Framed", &body)
}

/// A page with one large button over a field. Each click and key sends a request to the server. It writes to the
/// console, and takes the focus on request.
fn inner() -> Response {
    let script = "const note = (what) => { new Image().src = `/framed/${what}?${Math.random()}`; };\
         addEventListener('mousedown', () => note('clicked'), true);\
         addEventListener('touchstart', () => note('clicked'), true);\
         addEventListener('keydown', () => note('typed'), true);\
         addEventListener('message', () => { window.focus(); document.querySelector('input').focus(); });\
         console.log('CANARY-line'); setTimeout(() => { throw new Error('CANARY-error'); });";
    let body = format!(
        "<style>body {{ margin: 0; background: rgb(255, 0, 0); }} button {{ width: 300px; height: 120px; }}</style>\
         <button id=\"inside\">CANARY-inside</button><input id=\"inner-field\"><script>{script}</script>"
    );
    Response::page("CANARY-inner", &body)
}

#[cfg(test)]
mod tests {
    use crate::site::route::tests::get;

    #[tokio::test]
    async fn frame_has_the_named_site_and_other_input_is_ignored() {
        let (_, page) = get("/framed?of=x.a%22%3E").await;
        assert!(page.contains("src=\"http://x.a.localhost:4711/framed/inner\""), "{page}");
        assert!(!get("/framed?of=none").await.1.contains("<iframe"));
        assert!(get("/framed?of=b&closed=1").await.1.contains("mode: 'closed'"));
        assert!(get("/framed/inner").await.1.contains("CANARY-inside"));
        assert!(get("/framed/secret").await.0.contains("HttpOnly"));
    }
}
