//! What is kept and shown of chats: secrets, screenshots, attachments, search, export, streams.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{await_state, chat, find_item, said, send, start, world_with};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// A PNG of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn id_of(path: &str) -> &str {
    path.rsplit('/').next().expect("an id")
}

#[test]
fn t39_a_saved_password_said_in_pieces_is_masked_everywhere() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    std::fs::write(world.home().join("user/password"), "correct-horse-7\n").expect("written");
    let url = site.page("/login");
    let save =
        ["auth", "save", "shop", "--url", &url, "--username", "alice", "--password-file", "user/password"];
    world.run(&save).succeeded();
    // The daemon knows a login from its first use on.
    world.open(&[&url]);
    world.run(&["auth", "login", "shop"]);
    // The fake agent streams four letters at a time.
    let path = start(&world, "correct-horse-7 is the title\nsay It is correct-horse-7, not correct-hat.");
    await_state(&world, &path, "idle");
    let events = read_events(&world, &path, None, 1);
    let shown = world.run(&["chat", "show", id_of(&path)]).succeeded().stdout;
    let listed = world.run(&["chat", "list"]).succeeded().stdout;
    let exported = world.run(&["chat", "export", id_of(&path)]).succeeded().stdout;
    assert!(said(&world, &path).contains("It is •••, not correct-hat."), "{}", said(&world, &path));
    // The files are written within two seconds.
    crate::support::wait::eventually("the file", 20, || {
        let files = world.files("state/chats");
        let texts = files.iter().map(|name| {
            std::fs::read_to_string(world.home().join("state/chats").join(name)).unwrap_or_default()
        });
        let all: String = texts.collect();
        assert!(!all.contains("correct-horse"), "{all}");
        all.contains("not correct-hat")
    });
    for text in [events.join("\n"), shown, listed, exported] {
        assert!(!text.contains("correct-horse") && text.contains("•••"), "{text}");
    }
    let found = world.json(&["chat", "list", "--search", "correct-horse"]);
    assert_eq!(found["chats"], json!([]), "a search does not reveal it either");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

/// Reads server-sent events over the port, with the token; their lines.
fn read_events(world: &World, path: &str, after: Option<&str>, count: usize) -> Vec<String> {
    let handshake = std::fs::read_to_string(world.runtime().join("handshake.json")).expect("the handshake");
    let token = serde_json::from_str::<Value>(&handshake).expect("JSON")["token"].clone();
    let address = format!("127.0.0.1:{}", world.find_status().expect("a daemon")["port"]);
    let mut stream = TcpStream::connect(&address).expect("listens");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a time limit");
    let last = after.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
    let head = format!(
        "GET {path}/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n{last}\r\n",
        token.as_str().expect("a token")
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut events = Vec::new();
    let mut event = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("a line");
        if ["id: ", "event: ", "data: "].iter().any(|field| line.starts_with(field)) {
            event.push_str(&line);
            event.push('\n');
        }
        if line.starts_with("data: ") {
            events.push(std::mem::take(&mut event));
            if events.len() == count {
                break;
            }
        }
    }
    events
}

fn id_line(event: &str) -> String {
    event.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id").to_owned()
}

#[test]
fn a_stream_goes_on_after_the_last_event_over_the_port() {
    let world = world_with("codex-acp", "");
    let path = start(&world, "say One.");
    await_state(&world, &path, "idle");
    let first = read_events(&world, &path, None, 1);
    assert!(first[0].contains("event: chat") && first[0].contains("One."), "{first:?}");
    let last = id_line(&first[0]);
    send(&world, "POST", &format!("{path}/messages"), &json!({"text": "say Two."})).expect("sent");
    let rest = read_events(&world, &path, Some(&last), 4);
    assert!(rest.iter().all(|event| event.contains("event: change")), "{rest:?}");
    assert!(rest[0].contains("say Two."), "nothing is missing and nothing comes twice: {rest:?}");
    let (epoch, number) = last.split_once('.').expect("two parts");
    let next = format!("{epoch}.{}", number.parse::<u64>().expect("a number") + 1);
    assert_eq!(id_line(&rest[0]), next);
    for unknown in ["0123456789ab.1", "nonsense", &format!("{epoch}.99999")] {
        let events = read_events(&world, &path, Some(unknown), 1);
        assert!(events[0].contains("event: chat"), "{unknown}: {events:?}");
    }
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn images_and_files_reach_the_agent_and_are_named_in_the_chat() {
    let world = world_with("codex-acp", "");
    let image = world.home().join("dot.png");
    std::fs::write(&image, STANDARD.decode(PNG).expect("base64")).expect("written");
    std::fs::write(world.home().join("notes.txt"), "Blue door.").expect("written");
    let outcome =
        chat(&world, &["new", "--attach", "dot.png", "--attach", "notes.txt"], "heard\nheard\n").succeeded();
    assert!(outcome.stdout.contains("Heard: text image resource"), "{outcome:?}");
    assert!(outcome.stdout.trim_end().ends_with("Heard: text"), "with the first message only: {outcome:?}");
    let id = world.json(&["chat", "list"])["chats"][0]["id"].as_str().expect("an id").to_owned();
    let shown = world.json(&["chat", "show", &id]);
    let first = shown["items"].as_array().expect("items").iter().find(|item| item["item"] == "user");
    assert_eq!(first.map(|item| (&item["images"], &item["files"])), Some((&json!(1), &json!(["notes.txt"]))));
    let wrong = json!({"text": "x", "images": [{"data": STANDARD.encode("<svg/>")}]});
    let refused = send(&world, "POST", &format!("/v1/chats/{id}/messages"), &wrong).expect_err("no image");
    assert!(refused.contains("not a PNG"), "{refused}");
    let missing = chat(&world, &["resume", &id, "--attach", "missing.txt"], "heard\n");
    assert!(missing.stderr.contains("cannot be attached"), "{missing:?}");
    world.run(&["chat", "rm", &id]).succeeded();
}

#[test]
fn an_agent_that_takes_no_images_gets_the_text_and_a_notice_says_so() {
    let world = world_with("codex-acp", "no-images");
    world.run(&["daemon", "start"]).succeeded();
    let created = send(&world, "POST", "/v1/chats", &json!({})).expect("a chat");
    let path = format!("/v1/chats/{}", created["id"].as_str().expect("an id"));
    let body = json!({"text": "heard", "images": [{"data": PNG}]});
    send(&world, "POST", &format!("{path}/messages"), &body).expect("sent");
    find_item(&world, &path, "the notice", |item| {
        item["text"].as_str().is_some_and(|text| text.contains("does not accept images"))
    });
    await_state(&world, &path, "idle");
    assert_eq!(said(&world, &path), "Heard: text");
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn steps_have_site_and_label_and_a_screenshot_its_screenshot() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    let origin = site.page("").trim_end_matches('/').to_owned();
    world.run(&["allow", &origin, "--without-terminal"]).succeeded();
    let open = format!("tool navigate {}", json!({"url": format!("{}?token=secret", site.page("/form"))}));
    let path = start(&world, &format!("{open}\ntool screenshot {{}}"));
    await_state(&world, &path, "idle");
    let steps: Vec<Value> = {
        let chat = send(&world, "GET", &path, &json!({})).expect("the chat");
        chat["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter(|item| item["item"] == "step")
            .cloned()
            .collect()
    };
    let step = |action: &str| {
        steps.iter().find(|step| step["action"] == action).unwrap_or_else(|| panic!("{action}: {steps:?}"))
    };
    assert_eq!(step("navigate")["site"], origin.as_str());
    let label = step("navigate")["label"].as_str().expect("a label");
    assert!(label.starts_with(&origin) && !label.contains("secret"), "{label}");
    let number = step("screenshot")["screenshot"].as_u64().expect("a screenshot");
    let request = format!(
        "GET {path}/screenshot?number={number} HTTP/1.1\r\nHost: tabwire.local\r\nConnection: close\r\n\r\n"
    );
    let mut stream = std::os::unix::net::UnixStream::connect(world.socket()).expect("the daemon listens");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while reader.read_line(&mut head).expect("a line") > 2 {}
    assert!(head.contains("200 OK") && head.contains("image/"), "{head}");
    let missing = send(&world, "GET", &format!("{path}/screenshot?number=99"), &json!({}));
    assert!(missing.expect_err("none").contains("no such screenshot"));
    send(&world, "DELETE", &path, &json!({})).expect("removed");
}

#[test]
fn chats_are_found_by_their_text_and_exported() {
    let world = world_with("codex-acp", "");
    chat(&world, &["new"], "say The Blue door.\n").succeeded();
    chat(&world, &["new"], "say Something else & more.\n").succeeded();
    let find = |text: &str| {
        let found = world.json(&["chat", "list", "--search", text])["chats"].clone();
        found.as_array().expect("chats").len()
    };
    assert_eq!((find("blue DOOR"), find("else & more"), find("nowhere"), find("say ")), (1, 1, 0, 2));
    // In the files too.
    world.run(&["daemon", "stop"]).succeeded();
    assert_eq!((find("blue door"), find("nowhere")), (1, 0));
    let id = world.json(&["chat", "list", "--search", "blue door"])["chats"][0]["id"].clone();
    let id = id.as_str().expect("an id");
    let text = world.run(&["chat", "export", id]).succeeded().stdout;
    assert!(
        text.contains("## You\n\nsay The Blue door.") && text.contains("## Agent\n\nThe Blue door."),
        "{text}"
    );
    world.run(&["chat", "export", id, "--output", "chat.md"]).succeeded();
    let file = world.home().join("chat.md");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = world.run(&["chat", "export", id, "--output", "chat.md"]);
    assert!(again.stderr.contains("cannot be written"), "nothing is overwritten: {again:?}");
}

#[test]
fn the_session_of_a_chat_in_a_project_ends_with_it() {
    let (world, site) = (world_with("codex-acp", ""), FixtureSite::start());
    let origin = site.page("").trim_end_matches('/').to_owned();
    world.run(&["allow", &origin, "--without-terminal"]).succeeded();
    let project = world.home().join("project");
    std::fs::create_dir_all(project.join(".git")).expect("a directory");
    let navigate = format!("tool navigate {}", json!({"url": site.page("/form")}));
    let body = json!({"directory": project, "text": navigate, "upstream": "launch"});
    world.run(&["daemon", "start"]).succeeded();
    let created = send(&world, "POST", "/v1/chats", &body).expect("a chat");
    let path = format!("/v1/chats/{}", created["id"].as_str().expect("an id"));
    find_item(&world, &path, "the step", |item| item["item"] == "step" && item["succeeded"] == true);
    await_state(&world, &path, "idle");
    let sessions = || world.find_status().expect("a daemon")["sessions"].to_string();
    assert!(sessions().contains(&format!("chat-{}", id_of(&path))), "{}", sessions());
    send(&world, "DELETE", &path, &json!({})).expect("removed");
    assert!(!sessions().contains(&format!("chat-{}", id_of(&path))), "{}", sessions());
}
