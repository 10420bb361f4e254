//! The table of commands that take an optional context, against the installed browser's own description.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tabwire_mux::COMMANDS_IN_A_CONTEXT;

use crate::kept_browser::PATIENCE;

/// Reads `/json/protocol` from a browser of our own.
fn protocol() -> Value {
    let home = tempfile::tempdir().expect("a home");
    let found = tabwire_browser::finder::find(None, std::env::var_os("PATH").as_deref()).expect("a browser");
    let mut browser = Command::new(found.path)
        .args(["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"])
        .arg(format!("--user-data-dir={}", home.path().display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(browser.stderr.take().expect("piped")).lines();
    let address = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("DevTools listening on ws://").map(str::to_owned))
        .expect("it listens");
    let authority = address.split('/').next().unwrap_or_default().to_owned();
    let answer = get(&authority, "/json/protocol");
    browser.kill().expect("it ends");
    browser.wait().expect("it ends");
    serde_json::from_str(&answer).expect("a description")
}

fn get(authority: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(authority).expect("connected");
    stream.set_read_timeout(Some(PATIENCE.min(Duration::from_secs(20)))).expect("a deadline");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a head");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    String::from_utf8(body).expect("text")
}

#[test]
fn the_table_of_commands_with_a_context_is_the_browsers() {
    let protocol = protocol();
    let mut expected = BTreeSet::new();
    for domain in protocol["domains"].as_array().expect("domains") {
        for command in domain["commands"].as_array().into_iter().flatten() {
            let takes = command["parameters"].as_array().into_iter().flatten().any(|parameter| {
                parameter["optional"] == true
                    && parameter["$ref"].as_str().is_some_and(|kind| kind.ends_with("BrowserContextID"))
            });
            if takes {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                expected.insert(format!("{}.{}", text(&domain["domain"]), text(&command["name"])));
            }
        }
    }
    let table: BTreeSet<String> = COMMANDS_IN_A_CONTEXT.iter().map(|method| (*method).to_owned()).collect();
    assert_eq!(table, expected);
}
