//! Every CDP method of the installed browser, sent to granted and ungranted pages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tabwire_policy::{Effect, MethodRule, Reach};

use crate::policy::actions::corpus::files_with_canary;
use crate::policy::cdp::{Driven, origin};
use crate::policy::grants::allow;
use crate::support::chromium::Chromium;

const CANARY: &str = "CANARY";

/// Methods that are not sent, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("Browser.close", "ends the client"),
    ("Debugger.enable", "the next one would pause the page"),
    ("Debugger.pause", "pauses the page"),
    ("Debugger.pauseOnAsyncCall", "pauses the page"),
    ("Debugger.setPauseOnExceptions", "pauses the page"),
    ("Debugger.setBreakpointOnFunctionCall", "pauses the page"),
    ("Emulation.setDisplayFeaturesOverride", "Chromium 156 ends itself on an empty list"),
    ("Emulation.setScriptExecutionDisabled", "stops the page's code"),
    ("Emulation.setVirtualTimePolicy", "stops the page's time"),
    ("Input.setIgnoreInputEvents", "input gets no response then"),
    ("Page.close", "ends the page"),
    ("Page.navigate", "leaves the page"),
    ("Page.navigateToHistoryEntry", "leaves the page if the entry is there by chance"),
    ("Page.reload", "leaves the page"),
    ("Page.setWebLifecycleState", "freezes the page"),
    ("Page.waitForDebugger", "pauses the page"),
    ("Page.setDocumentContent", "replaces the page"),
    ("DOM.setOuterHTML", "replaces the page"),
    ("Network.emulateNetworkConditions", "takes the page off the network"),
    ("Network.overrideNetworkState", "takes the page off the network"),
    ("Runtime.disable", "contexts are no longer announced"),
    ("Target.closeTarget", "ends the page"),
    ("Target.createTarget", "opens one more page"),
    ("Target.detachFromTarget", "ends the session"),
    ("Target.setAutoAttach", "attaches to frames, whose sessions are not looked at here"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Granted,
    Blank,
    NearFrame,
    FarFrame,
    Ungranted,
}

/// The rules. Every named request went to an ungranted site; no stream exists.
fn is_allowed(kind: Kind, method: &str, params: &Value) -> bool {
    let MethodRule { reach, effect } = MethodRule::of(method);
    // The named frame is ungranted. The objects belong to contexts that were never announced.
    let names_frame = ["frameId", "objectId", "promiseObjectId", "prototypeObjectId", "errorObjectId"]
        .iter()
        .any(|name| params.get(*name).is_some());
    let ends_pause = matches!(
        method,
        "Fetch.failRequest"
            | "Fetch.continueRequest"
            | "Fetch.continueResponse"
            | "Fetch.continueWithAuth"
            | "Page.handleJavaScriptDialog"
    );
    // Node ids are numbered by process. From the page with the same-process frame on, one belongs to an
    // ungranted frame.
    let names_element = params.get("backendNodeIds").is_some();
    match (reach, kind) {
        _ if ends_pause => true,
        (Reach::Setting, _) => true,
        (Reach::Refused | Reach::EverySite | Reach::Stream | Reach::Request | Reach::Navigation, _) => false,
        // The named request belongs to the granted site; no such script or style sheet exists.
        (Reach::Document, _) if names_source(params) => false,
        (_, Kind::Blank) => effect == Effect::Reads,
        (_, Kind::Granted) => true,
        _ if names_element => false,
        (_, Kind::NearFrame) => reach == Reach::Frame && !names_frame,
        (_, Kind::FarFrame) => reach != Reach::Page,
        (_, Kind::Ungranted) => false,
    }
}

/// Whether it names a script or style sheet; one that was never announced may belong to any site.
fn names_source(params: &Value) -> bool {
    params.get("scriptId").is_some() || params.get("styleSheetId").is_some()
}

/// The installed browser's own description of its protocol.
fn protocol() -> Value {
    let browser = Chromium::with_port();
    let mut stream = TcpStream::connect(("127.0.0.1", browser.port())).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a deadline");
    stream.write_all(b"GET /json/protocol HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").expect("sent");
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).expect("a head") > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    serde_json::from_slice(&body).expect("a description")
}

/// After this much silence, every command counts as completed.
const SILENCE: Duration = Duration::from_millis(700);

/// The ids that commands use on one page.
struct Names {
    frame: String,
    request: String,
    url: String,
}

/// A value of a protocol type.
fn value_of(protocol: &Value, domain: &str, schema: &Value, name: &str, names: &Names, depth: u8) -> Value {
    match name {
        "frameId" => return json!(names.frame),
        "requestId" => return json!(names.request),
        "url" => return json!(names.url),
        "objectId" => return json!("1.1.1"),
        "backendNodeIds" => return json!([1]),
        _ => {}
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let (domain, id) = reference.split_once('.').unwrap_or((domain, reference));
        let found =
            protocol["domains"].as_array().into_iter().flatten().find(|known| known["domain"] == domain);
        let types = found.and_then(|found| found["types"].as_array()).into_iter().flatten();
        let found = types.into_iter().find(|known| known["id"] == id).cloned().unwrap_or_default();
        return value_of(protocol, domain, &found, "", names, depth + 1);
    }
    match schema["type"].as_str() {
        Some("string") => schema["enum"][0].as_str().map_or_else(|| json!("x"), |first| json!(first)),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") if depth < 4 => {
            Value::Object(required(protocol, domain, &schema["properties"], names, depth))
        }
        _ => json!({}),
    }
}

/// The required members.
fn required(protocol: &Value, domain: &str, members: &Value, names: &Names, depth: u8) -> Map<String, Value> {
    let mut given = Map::new();
    for member in members.as_array().into_iter().flatten().filter(|member| member["optional"] != true) {
        let name = member["name"].as_str().unwrap_or_default();
        given.insert(name.to_owned(), value_of(protocol, domain, member, name, names, depth + 1));
    }
    given
}

/// Sends every method to a page, compares refusals with the rules, and searches everything that comes back.
fn try_every_method(driven: &mut Driven, protocol: &Value, kind: Kind, session: &str, names: &Names) {
    let mut waiting = Vec::new();
    for domain in protocol["domains"].as_array().expect("domains") {
        let domain_name = domain["domain"].as_str().unwrap_or_default();
        for command in domain["commands"].as_array().into_iter().flatten() {
            let method = format!("{domain_name}.{}", command["name"].as_str().unwrap_or_default());
            if LEFT_OUT.iter().any(|(left_out, _)| *left_out == method) {
                continue;
            }
            let params = Value::Object(required(protocol, domain_name, &command["parameters"], names, 0));
            let is_allowed = is_allowed(kind, &method, &params);
            waiting.push((driven.client.send(&method, params, Some(session)), method, is_allowed));
        }
    }
    assert!(waiting.len() > 600, "{} methods", waiting.len());
    // Some commands never get a response from the browser, so only refusals are awaited. Everything that
    // arrives until the connection is silent is searched as well.
    let deadline = Instant::now() + Duration::from_secs(20);
    let is_left = |waiting: &[(u64, String, bool)]| waiting.iter().any(|(_, _, is_allowed)| !is_allowed);
    loop {
        let silence = Instant::now() + SILENCE;
        let until = if is_left(&waiting) { deadline } else { silence.min(deadline) };
        let message = driven.client.read_message(until).expect("the endpoint is there");
        let Some(message) = message else { break };
        assert!(!message.to_string().contains(CANARY), "{kind:?}: {message}");
        let Some(at) = waiting.iter().position(|(id, _, _)| message["id"] == *id) else { continue };
        let (_, method, is_allowed) = waiting.swap_remove(at);
        let is_refused = message["error"]["data"] == "POLICY_DENIED";
        assert_eq!(is_refused, !is_allowed, "{method} on {kind:?}: {message}");
    }
    assert!(!is_left(&waiting), "no response: {waiting:?}");
}

#[test]
fn h2_m8_every_cdp_method_of_chromium_is_allowed_or_refused_by_rule() {
    let protocol = protocol();
    let mut driven = Driven::new();
    let (near, other) = (origin(&driven.site, "x.a"), origin(&driven.site, "b"));
    let main = |driven: &mut Driven, session: &str| {
        let tree = driven.client.call("Page.getFrameTree", json!({}), Some(session));
        tree["frameTree"]["frame"]["id"].as_str().expect("an id").to_owned()
    };
    let url = driven.site.page("/plain");
    let granted = driven.open(&url);
    // A request to a site that is not granted.
    allow(&driven.world, &[&near, "--cdp"]);
    driven
        .client
        .evaluate(&format!("fetch('{near}/canary', {{mode: 'no-cors'}}).then((r) => r.text())"), &granted);
    let sent = driven.client.event("Network.requestWillBeSent", |event| {
        event["params"]["request"]["url"].to_string().contains("canary")
    });
    let request = sent["params"]["requestId"].as_str().expect("an id").to_owned();
    driven.world.run(&["grants", "revoke", &near, "--without-terminal"]).succeeded();
    let frame = main(&mut driven, &granted);
    let mut names = Names { frame, request, url };
    try_every_method(&mut driven, &protocol, Kind::Granted, &granted, &names);

    let blank = driven.client.open_page("about:blank").session;
    names.frame = main(&mut driven, &blank);
    try_every_method(&mut driven, &protocol, Kind::Blank, &blank, &names);

    let page = driven.open(&names.url);
    names.frame = driven.add_frame(&page, &format!("{near}/canary"));
    try_every_method(&mut driven, &protocol, Kind::NearFrame, &page, &names);

    let page = driven.open(&names.url);
    driven.add_frame(&page, &format!("{other}/canary"));
    names.frame = main(&mut driven, &page);
    try_every_method(&mut driven, &protocol, Kind::FarFrame, &page, &names);

    allow(&driven.world, &[&other, "--cdp"]);
    let page = driven.client.open_page(&format!("{other}/canary")).session;
    driven.shows(&page, "CANARY-title");
    driven.world.run(&["grants", "revoke", &other, "--without-terminal"]).succeeded();
    names.frame = main(&mut driven, &page);
    try_every_method(&mut driven, &protocol, Kind::Ungranted, &page, &names);
    // Neither the log nor any other file of Tabwire contains the canary.
    let Driven { world, client, .. } = driven;
    drop(client);
    world.run(&["daemon", "stop"]).succeeded();
    let found = files_with_canary(world.home());
    assert!(found.is_empty(), "files hold a canary: {found:?}");
}
