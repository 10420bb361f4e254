//! The table of commands that take an optional context, against the installed browser's own description.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tabwire_mux::COMMANDS_IN_A_CONTEXT;
use tabwire_policy::{MethodRule, Reach};

use crate::partition::kept_browser::TIMEOUT;

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
    let response = get(&authority, "/json/protocol");
    browser.kill().expect("it ends");
    browser.wait().expect("it ends");
    serde_json::from_str(&response).expect("a description")
}

fn get(authority: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(authority).expect("connected");
    stream.set_read_timeout(Some(TIMEOUT.min(Duration::from_secs(20)))).expect("a deadline");
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
fn the_table_of_context_commands_matches_the_browser() {
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

/// Every command that the installed browser describes.
fn commands(protocol: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let domains = protocol["domains"].as_array().expect("domains").iter();
    domains
        .flat_map(|domain| {
            let commands = domain["commands"].as_array().into_iter().flatten();
            commands.map(|command| format!("{}.{}", text(&domain["domain"]), text(&command["name"])))
        })
        .collect()
}

#[test]
fn h2_t40_every_command_of_the_browser_has_a_row() {
    let protocol = protocol();
    let commands = commands(&protocol);
    assert!(commands.len() > 500, "{} commands", commands.len());
    let missing: Vec<&String> = commands.iter().filter(|method| !MethodRule::has_row(method)).collect();
    assert!(missing.is_empty(), "without a row, so refused in guarded sessions: {missing:?}");
    let unknown: Vec<&str> = MethodRule::all()
        .map(|(method, _)| method)
        .filter(|method| !commands.iter().any(|known| known == method))
        .collect();
    assert!(unknown.is_empty(), "rows of commands that the browser does not have: {unknown:?}");
    // A command that deletes data outside of its page needs a grant for all sites.
    let clears = |method: &str| {
        let (domain, name) = method.split_once('.').unwrap_or_default();
        matches!(domain, "Storage" | "Network" | "Browser" | "Extensions" | "PWA")
            && ["clear", "delete", "reset", "uninstall", "remove"].iter().any(|verb| name.starts_with(verb))
            && !name.contains("Override")
    };
    let clearing: Vec<&String> = commands.iter().filter(|method| clears(method)).collect();
    assert!(clearing.len() >= 8, "{clearing:?}");
    for method in clearing {
        assert_eq!(MethodRule::of(method).reach, Reach::EverySite, "{method}");
        let is_of_one_site = ["Network.deleteCookies"].contains(&method.as_str());
        assert!(MethodRule::is_destructive(method) || is_of_one_site, "{method} deletes data");
    }
}
