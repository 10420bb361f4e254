//! `GET /v1/events`: live, resumed by id, filtered, and bounded.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};
use tabwire_client::{DaemonEvent, receive_events};

use crate::mcp::client::McpClient;
use crate::own_browser::tabs::connected_browser;
use crate::support::cdp_client::CdpClient;
use crate::support::dashboard_socket::DashboardKey;
use crate::support::fixture_site::FixtureSite;
use crate::support::process::kill;
use crate::support::world::{World, wait};

/// How long to wait for an event.
const WAIT: Duration = Duration::from_secs(20);

/// Writes a row without a browser.
fn grant(world: &World, site: &str) {
    world.run(&["allow", site, "--without-terminal"]).succeeded();
}

fn events(world: &World, query: &str) -> Receiver<DaemonEvent> {
    receive_events(&world.socket(), &format!("/v1/events{query}")).expect("the daemon sends events")
}

fn next(events: &Receiver<DaemonEvent>) -> (String, Value) {
    let event = events.recv_timeout(WAIT).expect("an event comes");
    (event.kind, serde_json::from_str(&event.data).expect("JSON"))
}

fn number(row: &Value) -> i64 {
    row["number"].as_i64().expect("a number")
}

#[test]
fn events_come_live_and_resume_after_a_restart_of_the_daemon() {
    let world = World::new();
    world.run(&["daemon", "start"]).succeeded();
    let live = events(&world, "");
    grant(&world, "https://one.test");
    let (kind, first) = next(&live);
    assert_eq!((kind.as_str(), first["action"].as_str()), ("entry", Some("policy_allow")));
    grant(&world, "https://two.test");
    let (_, second) = next(&live);
    assert_eq!(number(&second), number(&first) + 1);

    // The last rows first, then what is new.
    let recent = events(&world, "?last=1");
    assert_eq!(number(&next(&recent).1), number(&second));

    // The daemon dies; the next one goes on after the last id that the client has.
    kill(world.daemon_pid());
    assert!(live.recv_timeout(WAIT).is_err(), "the stream ends with the daemon");
    grant(&world, "https://three.test");
    let resumed = events(&world, &format!("?after={}", number(&first)));
    assert_eq!(number(&next(&resumed).1), number(&second), "nothing is missed and nothing comes twice");
    assert_eq!(number(&next(&resumed).1), number(&second) + 1);
    // An id that the log does not have yet: the log was replaced.
    let (kind, _) = next(&events(&world, "?after=1000000"));
    assert_eq!(kind, "reset");
    world.run(&["daemon", "stop"]).succeeded();
}

#[test]
fn events_are_filtered_and_wrong_requests_refused() {
    let world = World::new();
    world.run(&["daemon", "start"]).succeeded();
    let failed = events(&world, "?failed=true");
    grant(&world, "https://one.test");
    world.run(&["grants", "revoke", "https://other.test", "--without-terminal"]);
    let (_, row) = next(&failed);
    assert_eq!(row["action"], "policy_revoke", "the row before it did not fail");
    let refused = receive_events(&world.socket(), "/v1/events?color=red");
    assert!(refused.is_err(), "unknown parameters are refused");

    // Over the port only the daemon's token opens it, in the usual form of server-sent events.
    let port = world.find_status().expect("a daemon")["port"].as_u64().expect("a port");
    let read = |authorization: &str| {
        let mut stream =
            TcpStream::connect(("127.0.0.1", u16::try_from(port).expect("a port"))).expect("listens");
        stream.set_read_timeout(Some(WAIT)).expect("a time limit");
        let request =
            format!("GET /v1/events?last=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{authorization}\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let (mut text, mut bytes) = (String::new(), [0; 4096]);
        while !text.contains("event: entry") && !text.contains(" 401 ") {
            let count = stream.read(&mut bytes).expect("a response");
            assert!(count > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        text
    };
    assert!(read("").contains(" 401 "));
    let handshake = std::fs::read_to_string(world.runtime().join("handshake.json")).expect("the handshake");
    let handshake: Value = serde_json::from_str(&handshake).expect("JSON");
    let token = handshake["token"].as_str().expect("a token");
    let stream = read(&format!("Authorization: Bearer {token}\r\n"));
    assert!(stream.to_lowercase().contains("content-type: text/event-stream"), "{stream}");
    assert!(stream.contains("\nid: "), "{stream}");
    // A stream keeps neither the daemon from ending nor a slot of a client that has left.
    drop(failed);
    world.run(&["daemon", "stop"]).succeeded();
}

/// The next row of an action or event; others are skipped.
fn find(events: &Receiver<DaemonEvent>, action: &str) -> Value {
    loop {
        let event = events.recv_timeout(WAIT).unwrap_or_else(|_| panic!("{action} does not come"));
        let row: Value = serde_json::from_str(&event.data).expect("JSON");
        if row["action"] == action {
            return row;
        }
    }
}

/// Causes something until its event comes: what happens right after an action is in the action's row.
fn caused(events: &Receiver<DaemonEvent>, action: &str, mut cause: impl FnMut()) -> Value {
    for _ in 0..20 {
        cause();
        while let Ok(event) = events.recv_timeout(Duration::from_secs(2)) {
            let row: Value = serde_json::from_str(&event.data).expect("JSON");
            if row["action"] == action {
                return row;
            }
        }
    }
    panic!("{action} does not come");
}

#[test]
fn what_happens_without_an_action_is_an_event_too() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["open", &site.page("/plain")]).succeeded();
    let live = events(&world, "");
    let mut agent = McpClient::start_as(&world, "codex", &["--session", "default"]);
    let came = find(&live, "mcp_connect");
    assert_eq!((&came["client"]["name"], &came["effect"]), (&json!("codex"), &json!("connect")), "{came}");
    agent.close();
    assert_eq!(find(&live, "mcp_disconnect")["session"]["name"], "default");
    // What pages do by themselves, here at the request of a CDP client.
    let mut client = CdpClient::connect(&format!("{}?share=all", world.cdp_url()));
    let targets = client.call("Target.getTargets", json!({}), None)["targetInfos"].take();
    let is_it = |one: &&Value| one["url"].as_str().is_some_and(|url| url.ends_with("/plain"));
    let target = targets.as_array().into_iter().flatten().find(is_it).expect("the page")["targetId"].clone();
    let page = client.attach(target.as_str().expect("an id"));
    let popup = format!("void (window.popup = window.open({:?}))", site.page("/plain"));
    let opened = caused(&live, "tab_opened", || {
        client.evaluate(&popup, &page);
    });
    assert_eq!((&opened["effect"], &opened["result"]), (&json!("page"), &json!("ok")), "{opened}");
    client.evaluate("void popup.close()", &page);
    find(&live, "tab_closed");
    let mut count = 0;
    let navigated = caused(&live, "navigated", || {
        count += 1;
        let path = if count % 2 == 0 { "/plain" } else { "/form?token=secret" };
        client.evaluate(&format!("void setTimeout(() => location.href = {:?})", site.page(path)), &page);
    });
    assert!(navigated["params"]["url"].as_str().is_some_and(|url| url.starts_with("http://")), "{navigated}");
    assert!(!navigated.to_string().contains("secret"), "{navigated}");
    let begun = caused(&live, "download_began", || {
        client.evaluate(&format!("void (location.href = {:?})", site.page("/download/report.txt")), &page);
    });
    assert_eq!(begun["params"]["name"], "report.txt", "{begun}");
    client.send("Page.crash", json!({}), Some(&page));
    let crashed = find(&live, "tab_crashed");
    assert_eq!((&crashed["effect"], &crashed["result"]), (&json!("fault"), &json!("TARGET_GONE")));
    world.expect_litter();
    kill(world.pid("browser_pid"));
    assert_eq!(find(&live, "browser_lost")["result"], "BROWSER_GONE");
    // A browser that was closed is no fault.
    world.run(&["open", &site.page("/plain")]).succeeded();
    world.run(&["close"]).succeeded();
    world.run(&["daemon", "stop"]).succeeded();
    while let Ok(event) = live.recv_timeout(WAIT) {
        assert!(!event.data.contains("browser_lost"), "{}", event.data);
    }
    let text = world.run(&["log"]).succeeded();
    assert!(text.text().contains("browser_lost") && text.text().contains("tab_crashed"), "{text:?}");
}

#[test]
fn questions_are_events_when_they_arise_are_answered_and_end() {
    let (world, site) = (World::new(), FixtureSite::start());
    world.run(&["daemon", "start"]).succeeded();
    let live = events(&world, "");
    let mut line = DashboardKey::new(&world).line(None);
    line.find("the state", |message| (message["type"] == "state").then_some(()));
    let open =
        || world.start(&["--json", "--as", "reviewer", "open", "--policy", "guarded", &site.page("/plain")]);
    let child = open();
    let asked = find(&live, "question_asked");
    assert_eq!(
        (&asked["effect"], &asked["client"]["name"]),
        (&json!("policy"), &json!("reviewer")),
        "{asked}"
    );
    assert_eq!(asked["params"]["action"], "open", "{asked}");
    line.say(&json!({"type": "answer", "approval": asked["params"]["id"], "answer": "no"}));
    assert_eq!(find(&live, "approval_answer")["params"]["answer"], "no");
    assert_eq!(wait(child, &["open"]).failure().0, "POLICY_DENIED");
    // The action ends before its response.
    let mut child = open();
    let again = find(&live, "question_asked");
    child.kill().expect("ours");
    child.wait().expect("ended");
    assert_eq!(find(&live, "question_expired")["params"]["id"], again["params"]["id"]);
    world.run(&["daemon", "stop"]).succeeded();
}

#[test]
fn the_extension_comes_and_goes() {
    let world = World::new();
    let mut browser = connected_browser(&world);
    let live = events(&world, "?last=50");
    let came = find(&live, "extension_connect");
    assert_eq!(came["effect"], "connect", "{came}");
    browser.kill();
    find(&live, "extension_disconnect");
}
