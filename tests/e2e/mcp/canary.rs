//! Secrets in the vault, in fields, in cookies and of Tabwire itself, and an MCP client that calls every tool: no
//! response, log or file contains a secret in any encoding (T39).
//!
//! The calls are generated from the tool list, so that new actions are called too.

use std::fs;
use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::mcp::arguments::{PASSWORD, REVEALING, arguments};
use crate::mcp::client::McpClient;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// A saved login's password, which the page shows in every form.
const VAULT: &str = "Vlt canary&<9a\"kF2>7";

/// The value of a cookie.
const COOKIE: &str = "Ck.canary+5d/zT8=4";

/// The first canaries, which no request may reveal: Tabwire's own two, and the vault's.
const ALWAYS: usize = 3;

/// Files that may contain a secret.
const KEEPERS: [&str; 6] = [
    // The input file, Tabwire's own key file, the browser's profile.
    "user/password",
    "runtime/handshake.json",
    "runtime/profiles",
    // A session's record: its CDP secret, and the URLs of its pages.
    "state/sessions",
    // Saved state with cookies, and a PDF of the page.
    "state/states",
    "state/pdfs",
];

/// A secret to search for.
struct Canary {
    name: &'static str,
    forms: Vec<String>,
}

impl Canary {
    /// Every encoding of it: plain, URL, form, HTML, and base64 at each offset.
    fn new(name: &'static str, value: &str) -> Self {
        let percent = |is_kept: fn(u8) -> bool| -> String {
            let letters = value.bytes();
            letters
                .map(|byte| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
                .collect()
        };
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let in_query = |byte: u8| byte.is_ascii_graphic() && !b"\"<>#&+%".contains(&byte);
        let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let mut forms = vec![
            value.to_owned(),
            percent(unreserved),
            percent(unreserved).replace("%20", "+"),
            percent(in_query),
            escaped.replace('"', "&quot;"),
            escaped,
        ];
        for before in 0..3_usize {
            let bytes = [&b"\0\0"[..before], value.as_bytes()].concat();
            let text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(&bytes);
            forms.push(text[(before * 8).div_ceil(6)..bytes.len() * 8 / 6].to_owned());
        }
        Self { name, forms }
    }

    /// The first encoding that occurs in a text.
    fn find_in(&self, text: &str) -> Option<String> {
        // JSON within JSON adds backslashes before quotes; no canary has a backslash.
        let text = text.replace('\\', "");
        self.forms.iter().find_map(|form| {
            let at = text.find(form.as_str())?;
            let start = text.floor_char_boundary(at.saturating_sub(200));
            let end = text.ceil_char_boundary((at + form.len() + 60).min(text.len()));
            Some(format!("{} as {form:?} in: {}", self.name, &text[start..end]))
        })
    }
}

/// Adds the canaries that a text contains to the leaks.
fn search(canaries: &[Canary], place: &str, text: &str, leaks: &mut Vec<String>) {
    leaks.extend(
        canaries.iter().filter_map(|canary| Some(format!("{place} contains {}", canary.find_in(text)?))),
    );
}

/// Makes the page show the secret of its password field everywhere.
const SHOW: &str = r"(() => {
    const secret = document.querySelector('#password').value, encoded = encodeURIComponent(secret);
    const hidden = btoa(unescape('me:' + encoded));
    document.title = secret;
    const link = Object.assign(document.createElement('a'), { href: '/plain?q=' + encoded, title: secret });
    link.textContent = secret;
    document.body.append(link, hidden);
    document.querySelector('#notes').value = secret;
    localStorage.setItem('kept', secret);
    sessionStorage.setItem(secret, hidden);
    console.log('said ' + secret);
    console.error(hidden);
    history.replaceState(null, '', '/form?x=' + encoded);
    window.isShown = true;
    return Promise.all([fetch('/api/echo?value=' + encoded), fetch('/echo', { method: 'POST', body: secret })])
        .then(() => secret + ' ' + hidden);
})()";

/// Opens the form, makes it show the vault's secret, and checks that results mask it.
fn plant(client: &mut McpClient, site: &FixtureSite) {
    client.text("navigate", json!({"url": site.page("/form")}));
    client.text("fill", json!({"selector": "#password", "value": "{secret:shop}"}));
    let output = client.text("eval", json!({"expression": SHOW}));
    assert_eq!(output.matches("•••").count(), 2, "the page has the secret, twice: {output}");
}

/// Every file below a directory, with its content.
fn read_all(directory: &Path, home: &Path, read: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(home).unwrap_or(&path).display().to_string();
        if KEEPERS.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            read_all(&path, home, read);
        } else {
            read.push((name, String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()));
        }
    }
}

fn save_login(world: &World, site: &FixtureSite) {
    fs::write(world.home().join("user/password"), format!("{VAULT}\n")).expect("written");
    let url = site.page("/form");
    let login =
        ["auth", "save", "shop", "--url", &url, "--username", "alice", "--password-file", "user/password"];
    world.run(&login).succeeded();
}

/// Secrets of the daemon that serves this world.
fn own_secrets(world: &World) -> Vec<Canary> {
    let handshake = fs::read_to_string(world.runtime().join("handshake.json")).expect("a daemon runs");
    let token = serde_json::from_str::<Value>(&handshake).expect("JSON")["token"].clone();
    let address = world.run(&["--session", "bank", "cdp-url"]).succeeded().text().to_owned();
    let address = address.split('/').nth(3).expect("a secret").to_owned();
    vec![
        Canary::new("the daemon's token", token.as_str().expect("a token")),
        Canary::new("the session's address", &address),
    ]
}

/// Calls a tool with all generated arguments, and with three invalid ones.
fn ask_everything(
    client: &mut McpClient,
    tool: &Value,
    site: &FixtureSite,
    canaries: &[Canary],
    leaks: &mut Vec<String>,
) {
    let name = tool["name"].as_str().expect("a name").to_owned();
    let wrong = [
        json!({"nonsense": VAULT}),
        json!({"selector": VAULT, "value": PASSWORD, "text": PASSWORD}),
        json!({"ref": "e9999", "value": PASSWORD, "text": PASSWORD, "keys": [PASSWORD], "options": [PASSWORD]}),
    ];
    for arguments in arguments(tool, site).into_iter().chain(wrong) {
        if !client.text("eval", json!({"expression": "!!window.isShown"})).contains("true") {
            plant(client, site);
        }
        let response = client.ask("tools/call", json!({"name": name, "arguments": arguments}));
        let is_revealing = REVEALING.iter().any(|flag| arguments.get(flag).is_some());
        let unspeakable = if is_revealing { &canaries[..ALWAYS] } else { canaries };
        search(unspeakable, &format!("{name} {arguments}"), &response.to_string(), leaks);
    }
}

/// Reads every resource and every list of resources.
fn read_resources(client: &mut McpClient, canaries: &[Canary], leaks: &mut Vec<String>) {
    for list in ["resources/list", "resources/templates/list", "prompts/list"] {
        let listed = client.ask(list, json!({}));
        search(canaries, list, &listed.to_string(), leaks);
        for resource in listed["result"]["resources"].as_array().into_iter().flatten() {
            let read = client.ask("resources/read", json!({"uri": resource["uri"]}));
            search(canaries, &resource["uri"].to_string(), &read.to_string(), leaks);
        }
    }
}

/// Captures calls that involve secrets, one of them with `show_secrets`.
fn capture_calls(client: &mut McpClient, site: &FixtureSite) {
    client.text("capture", json!({"verb": "on", "directory": "evidence"}));
    plant(client, site);
    client.text("fill", json!({"selector": "#password", "value": PASSWORD}));
    client.call("fill", json!({"selector": "#nothing", "value": PASSWORD}));
    let requests = client.text("requests", json!({"all": true}));
    let number = |line: &str| line.split_whitespace().next()?.parse::<u64>().ok();
    let numbers: Vec<u64> = requests.lines().filter_map(number).collect();
    let mut shown =
        numbers.iter().map(|number| client.text("request", json!({"number": number, "show_secrets": true})));
    assert!(shown.any(|output| output.contains(COOKIE)), "`show_secrets` shows the cookie: {requests}");
    client.text("capture", json!({"verb": "off"}));
}

#[test]
fn t39_no_tool_resource_error_or_file_contains_a_secret() {
    let (world, site) = (World::new().with("TABWIRE_LOG", "trace"), FixtureSite::start());
    save_login(&world, &site);
    let start = ["--session", "bank", "--tools", "all", "--policy", "open", "--timeout", "2s"];
    let mut client = McpClient::start(&world, &start);
    plant(&mut client, &site);
    let (mut canaries, mut leaks) = (own_secrets(&world), Vec::new());
    for (name, value) in [("the vault's secret", VAULT), ("the password", PASSWORD), ("the cookie", COOKIE)] {
        canaries.push(Canary::new(name, value));
    }
    let cookie =
        json!({"verb": "set", "name": "sid", "value": COOKIE, "url": site.page("/"), "http_only": true});
    client.text("cookies", cookie);
    client.text("har", json!({"action": "start"}));
    client.text("fill", json!({"selector": "#password", "value": PASSWORD}));
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].as_array().expect("tools").clone();
    // The recorder ends last, so that it records the other calls.
    let (last, first): (Vec<&Value>, Vec<&Value>) = tools.iter().partition(|tool| tool["name"] == "har");
    for tool in first.into_iter().chain(last) {
        ask_everything(&mut client, tool, &site, &canaries, &mut leaks);
    }
    read_resources(&mut client, &canaries, &mut leaks);
    client.text("cookies", json!({"verb": "set", "name": "sid", "value": COOKIE, "url": site.page("/")}));
    capture_calls(&mut client, &site);
    client.close();
    client.process.wait().expect("it ends");
    let mut said = String::new();
    client.process.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    search(&canaries, "stderr", &said, &mut leaks);

    let audit_log = world.run(&["log", "export"]).succeeded().stdout;
    assert!(audit_log.contains("fill") && audit_log.contains("download_file"), "the calls are logged");
    search(&canaries, "the audit log", &audit_log, &mut leaks);
    world.run(&["--session", "bank", "session", "stop"]).succeeded();
    assert!(world.log().contains("the daemon starts"));
    let mut files = Vec::new();
    read_all(world.home(), world.home(), &mut files);
    assert!(files.iter().any(|(name, _)| name.starts_with("evidence/")), "captures were saved");
    for (name, text) in &files {
        search(&canaries, name, text, &mut leaks);
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}
