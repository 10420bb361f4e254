//! The shared parts of every view, in a real page under a strict policy; and the type checker over all scripts.

use std::path::Path;
use std::process::Command;

use crate::support::cdp_client::CdpClient;
use crate::support::chromium::Chromium;
use crate::support::http_server::{Response, TinyServer};
use crate::support::wait::find_eventually;

const POLICY: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    require-trusted-types-for 'script'; trusted-types 'none'\r\n";

/// Serves `web/` with the policy of the extension's pages.
fn serve_parts() -> TinyServer {
    TinyServer::start("127.0.0.1:0", |request| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
        let kind = match request.path.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            _ => "text/html; charset=utf-8",
        };
        let body = std::fs::read(root.join(request.path.trim_start_matches('/'))).unwrap_or_else(|_| {
            b"<!doctype html><title>Parts</title><link rel=stylesheet href=/shared/tokens.css>".to_vec()
        });
        Response { headers: POLICY.to_owned(), ..Response::of(kind, body) }
    })
}

struct Page {
    client: CdpClient,
    session: String,
}

impl Page {
    fn open(browser: &Chromium, server: &TinyServer) -> Self {
        let mut client = CdpClient::connect(&browser.websocket());
        let page = client.open_page(&server.url("127.0.0.1", "/"));
        let mut page = Self { client, session: page.session };
        let loaded = find_eventually(10, || (page.run("document.title") == "Parts").then_some(()));
        assert!(loaded.is_some(), "the page loads");
        page
    }

    fn run(&mut self, expression: &str) -> serde_json::Value {
        self.client.evaluate(expression, &self.session)
    }
}

#[test]
fn markdown_of_agents_makes_elements_and_never_markup() {
    let (browser, server) = (Chromium::with_port(), serve_parts());
    let mut page = Page::open(&browser, &server);
    let cases = [
        ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](javascript:alert)", "<p><span>x</span></p>"),
        ("[x](data:text/html,y)", "<p><span>x</span></p>"),
        ("![picture](https://evil.test/p.png)", "<a href=\"https://evil.test/p.png\""),
        ("- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>"),
        ("# Title", "<p><strong>Title</strong></p>"),
        ("> a\n> b", "<blockquote><p>a<br>b</p></blockquote>"),
        ("```html\n<b>\n```", "<pre tabindex=\"0\"><code>&lt;b&gt;</code></pre>"),
        (
            "|a|b|\n|-|-|\n|1|2|",
            "<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody>",
        ),
        ("***", "<hr>"),
        ("see https://a.test/x.", "<a href=\"https://a.test/x\""),
        ("unclosed **bold and `code", "<p>unclosed **bold and `code</p>"),
    ];
    for (text, expected) in cases {
        let made = page.run(&format!(
            "import('/shared/markdown.js').then(({{markdown}}) => markdown({text:?}).innerHTML)"
        ));
        assert!(made.as_str().is_some_and(|made| made.contains(expected)), "{text:?} becomes {made}");
    }
    // Hostile sizes end, and the page still works.
    let long = "import('/shared/markdown.js').then(({markdown}) => [ \
        '*'.repeat(50_000), '['.repeat(50_000), '> '.repeat(5_000), '`'.repeat(50_001), '- '.repeat(5_000), '|'.repeat(20_000) + '\\n|-|' ] \
        .map((text) => markdown(text).textContent.length >= 0).every(Boolean))";
    assert_eq!(page.run(long), true);
}

#[test]
fn keyed_lists_keep_elements_and_focus_and_stores_publish_once() {
    let (browser, server) = (Chromium::with_port(), serve_parts());
    let mut page = Page::open(&browser, &server);
    let list = "Promise.all([import('/shared/keyed_list.js'), import('/shared/element.js')]).then(([{showList}, {make, button}]) => { \
        const list = make('ul'); document.body.append(list); \
        const create = ({id, text}) => make('li', {}, text, button('press', () => {})); \
        const show = (...items) => showList(list, items, ({id}) => id, create); \
        const a = {id: 'a', text: 'A'}, b = {id: 'b', text: 'B'}, c = {id: 'c', text: 'C'}; \
        show(a, b); \
        const kept = list.children[1]; \
        kept.querySelector('button').focus(); \
        show(c, a, b); \
        const moved = list.children[2] === kept && document.activeElement === kept.querySelector('button'); \
        show(c, {...b, text: 'changed'}); \
        const again = list.children[1] !== kept && document.activeElement === list.children[1].querySelector('button'); \
        show(c); \
        const neighbour = document.activeElement === list.children[0].querySelector('button'); \
        show(); \
        return [moved, again, neighbour, list.children.length]; })";
    assert_eq!(page.run(list), serde_json::json!([true, true, true, 0]));
    let store = "import('/shared/store.js').then(async ({createStore}) => { \
        const store = createStore(0), seen = []; \
        const end = store.subscribe((value) => seen.push(value)); \
        store.set(1); store.set(2); await null; await null; end(); store.set(3); await null; await null; \
        return seen; })";
    assert_eq!(page.run(store), serde_json::json!([2]));
    // Scripts cannot press a button of the user.
    let pressed = "import('/shared/element.js').then(({button}) => { \
        let count = 0; const one = button('x', () => (count += 1)); document.body.append(one); one.click(); \
        one.dispatchEvent(new MouseEvent('click')); return count; })";
    assert_eq!(page.run(pressed), 0);
}

#[test]
fn the_scripts_of_extension_and_shared_parts_pass_the_type_checker() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    assert!(folder.join("node_modules").is_dir(), "web/node_modules is missing: run `cargo xtask setup`");
    let check = |folder: &Path| {
        let checker = folder.join("node_modules/typescript/bin/tsc");
        let output = Command::new("node").arg(checker).args(["--project", "."]).current_dir(folder).output();
        output.expect("node runs")
    };
    let checked = check(&folder);
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success(), "{text}");
    // Every script of the views asks for the check.
    let folders = [
        "shared",
        "shared/chat",
        "dashboard",
        "dashboard/live",
        "dashboard/views",
        "../extension/popup",
        "../extension/options",
        "../extension/panel",
    ];
    for part in folders {
        for entry in std::fs::read_dir(folder.join(part)).expect("a folder").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "js") {
                let script = std::fs::read_to_string(&path).expect("text");
                assert!(script.contains("\n// @ts-check\n"), "{} is not checked", path.display());
            }
        }
    }
}
