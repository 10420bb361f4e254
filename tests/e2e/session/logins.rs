//! Saved logins: the daemon fills them in on their own site and never shows them (T39).

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::fixture_site::FixtureSite;
use crate::support::process::{Process, kill};
use crate::support::wait::find_eventually;
use crate::support::world::{Outcome, World};

/// The fixture site's password. It occurs in no other text and is the same in URL and form encoding.
const CANARY: &str = "Zw8-canary-kF2";
const TOTP_CANARY: &str = "KNSWG4TFOQQGGYLOMFZHS43F";

/// Saves a login of the fixture site.
fn save(world: &World, name: &str, url: &str, more: &[&str]) -> Outcome {
    fs::write(world.home().join("user/password"), format!("{CANARY}\n")).expect("written");
    let arguments =
        ["auth", "save", name, "--url", url, "--username", "alice", "--password-file", "user/password"];
    world.run(&[&["--json"], &arguments[..], more].concat())
}

/// Every file below a directory that contains a text, except the input file.
fn holders(directory: &Path, text: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            holders(&path, text, found);
        } else if !path.ends_with("user/password") && !path.ends_with("user/totp") {
            let content = fs::read(&path).unwrap_or_default();
            if content.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
}

/// Runs code while the command lines of all processes are checked for the secret.
fn watched<T>(run: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                for process in Process::all() {
                    assert!(!process.command.contains(CANARY), "{process:?}");
                }
                looks += 1;
            }
            looks
        });
        let done = run();
        is_over.store(true, Ordering::Relaxed);
        assert!(watcher.join().expect("no secret was seen") > 0);
        done
    })
}

#[test]
fn t39_a_login_is_filled_in_without_showing_its_password() {
    let (world, site) = (World::new().with("TABWIRE_LOG", "trace"), FixtureSite::start());
    let mut said = Vec::new();
    let mut run = |arguments: &[&str]| {
        let outcome = watched(|| world.run(arguments));
        said.push(format!("{arguments:?} {outcome:?}"));
        outcome.succeeded()
    };
    let saved = save(&world, "shop", &site.page("/login"), &[]).succeeded();
    assert_eq!(saved.json()["key"], "file", "there is no keyring here");
    assert!(saved.stderr.contains("--passphrase-file"), "the key's location is printed: {saved:?}");
    let listed = run(&["--json", "auth", "list"]);
    let origin = site.page("");
    let expected = json!({"name": "shop", "origin": origin, "username": "alice", "totp": false});
    assert_eq!(listed.json()["logins"], json!([expected]));

    let login = run(&["--json", "auth", "login", "shop"]).json();
    let result = &login["result"];
    assert_eq!(result["filled"], json!(["name", "password"]), "{login}");
    assert_eq!((&result["url"], &result["asks_again"]), (&site.page("/account").into(), &false.into()));
    assert_eq!(run(&["eval", "document.querySelector('#who').textContent"]).text(), "alice");
    run(&["eval", "location.href = '/logout'"]);
    let captured = run(&["login", "shop", "--capture"]);
    assert!(captured.stdout.contains("filled in name, password of alice"), "{captured:?}");
    for arguments in
        [&["requests"][..], &["snapshot"], &["console"], &["status"], &["daemon", "logs"], &["get", "url"]]
    {
        run(arguments);
    }
    let number =
        run(&["--json", "requests", "--method", "POST"]).json()["result"]["requests"][0]["number"].clone();
    run(&["request", &number.to_string()]);
    for line in &said {
        assert!(!line.contains(CANARY), "{line}");
    }
    let mut found = Vec::new();
    holders(world.home(), CANARY, &mut found);
    assert_eq!(found, [""; 0], "a file contains the password");
    world.run(&["auth", "delete", "shop"]).succeeded();
    assert_eq!(world.files("data"), ["vault.lock"], "the key goes with the last login");
    assert_eq!(world.run(&["--json", "auth", "login", "shop"]).failure(), ("BAD_ARGS".to_owned(), 2));
}

#[test]
fn t39_a_named_secret_is_never_shown_even_after_a_daemon_kill() {
    let (world, site) = (World::new().with("TABWIRE_LINGER", "30"), FixtureSite::start());
    save(&world, "shop", &site.page("/login"), &[]).succeeded();
    world.open(&[&site.page("/login")]);
    let mut said = Vec::new();
    let mut run = |arguments: &[&str]| {
        let outcome = world.run(arguments).succeeded();
        said.push(format!("{arguments:?} {outcome:?}"));
        outcome.stdout
    };
    let filled = run(&["fill", "#password", "{secret:shop}"]);
    assert!(filled.contains("•••"), "{filled}");
    let read = ["eval", "document.querySelector('#password').value"];
    assert!(run(&read).contains("•••"));
    kill(world.daemon_pid());
    assert!(run(&read).contains("•••"), "the next daemon still redacts the password");
    run(&["--json", "get-html"]);
    run(&["log"]);
    for line in &said {
        assert!(!line.contains(CANARY), "{line}");
    }
    let mut found = Vec::new();
    holders(world.home(), CANARY, &mut found);
    assert_eq!(found, [""; 0], "a file contains the password");
}

#[test]
fn t39_a_password_goes_to_its_own_origin_only() {
    let (world, site) = (World::new(), FixtureSite::start());
    let elsewhere = site.page(&format!("/redirect/to?to={}", site.url("b", "/login")));
    for (name, url, code, word) in [
        ("redirected", elsewhere.as_str(), "POLICY_DENIED", "b.localhost"),
        ("framed", &site.page("/login/framed"), "SELECTOR_NOT_FOUND", "no password field"),
        ("insecure", &site.page("/login/insecure"), "POLICY_DENIED", "unencrypted"),
        ("register", &site.page("/login/register"), "NOT_ACTIONABLE", "--password-selector"),
    ] {
        save(&world, name, url, &[]).succeeded();
        // A form of the same origin in the current tab would be used.
        world.open(&["about:blank"]);
        let refused = world.run(&["--json", "auth", "login", name]);
        assert_eq!(refused.failure().0, code, "{name}: {refused:?}");
        assert!(refused.stdout.contains(word) && !refused.stdout.contains(CANARY), "{refused:?}");
        let held = "[...document.querySelectorAll('input:not([type=checkbox])')].map((input) => input.value).join('')";
        assert_eq!(world.eval(held), "", "{name}: something was filled in");
    }
    let http = save(&world, "http", "http://192.0.2.1/login", &[]);
    assert_eq!(http.failure(), ("BAD_ARGS".to_owned(), 2));
    assert!(http.stdout.contains("https"), "{http:?}");
}

#[test]
fn a_login_in_steps_with_a_code_and_a_passphrase() {
    let (world, site) = (World::new(), FixtureSite::start());
    fs::write(world.home().join("user/totp"), TOTP_CANARY).expect("written");
    fs::write(world.home().join("user/passphrase"), "correct horse\n").expect("written");
    let sealed = &["--passphrase-file", "user/passphrase"][..];
    let more = [&["--totp-secret-file", "user/totp"], sealed].concat();
    assert_eq!(
        save(&world, "steps", &site.page("/login/steps"), &more).succeeded().json()["key"],
        "passphrase"
    );
    assert_eq!(world.run(&["--json", "auth", "list"]).failure(), ("BAD_ARGS".to_owned(), 2));
    let listed = world.json(&[&["auth", "list"], sealed].concat());
    assert_eq!(listed["logins"][0]["totp"], true);
    let done = world.json(&[&["auth", "login", "steps"], sealed].concat());
    assert_eq!(done["result"]["filled"], json!(["name", "password", "code"]), "{done}");
    assert_eq!(world.eval("document.querySelector('#code').textContent"), "six digits");
    let mut found = Vec::new();
    holders(world.home(), TOTP_CANARY, &mut found);
    assert_eq!(found, [""; 0], "a file contains the TOTP secret");

    let wrong = world.run(&["--json", "auth", "save", "bad", "--url", &site.page("/"), "--username", "x"]);
    assert_eq!(wrong.failure(), ("BAD_ARGS".to_owned(), 2), "no password was given");
    fs::write(world.home().join("user/totp"), "wrong 32!").expect("written");
    let wrong = save(&world, "bad", &site.page("/login"), &more);
    assert!(
        wrong.code == 2 && wrong.stdout.contains("base32") && !wrong.stdout.contains("wrong 32"),
        "{wrong:?}"
    );
}

/// Runs the binary on a terminal, types a reply to each prompt, and returns what was shown.
fn converse(world: &World, arguments: &str, responses: &[(&str, &str)]) -> String {
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_tabwire"));
    let transcript = world.home().join("transcript").display().to_string();
    let mut command = world.command("script", &["-qec", &line, &transcript]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("script starts");
    let (mut keys, mut output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let shown = Mutex::new(String::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut part = [0; 1024];
            while let Ok(length @ 1..) = output.read(&mut part) {
                shown.lock().expect("not poisoned").push_str(&String::from_utf8_lossy(&part[..length]));
            }
        });
        for (question, response) in responses {
            let asked = || shown.lock().expect("not poisoned").contains(question).then_some(());
            let is_asked = find_eventually(20, asked).is_some();
            assert!(is_asked, "{question} was not asked: {}", shown.lock().expect("not poisoned"));
            keys.write_all(response.as_bytes()).expect("it reads");
        }
        let ended = find_eventually(60, || child.try_wait().expect("our own child"));
        assert!(ended.is_some(), "{arguments} did not end");
    });
    shown.into_inner().expect("not poisoned")
}

#[test]
fn secrets_are_asked_for_on_a_terminal_and_not_shown() {
    let (world, site) = (World::new(), FixtureSite::start());
    let url = site.page("/login");
    let save = |name: &str| format!("auth save {name} --url {url} --username alice");
    let saved = converse(&world, &save("shop"), &[("Password: ", &format!("x\u{7f}{CANARY}\r"))]);
    assert!(saved.contains("Saved shop") && !saved.contains(CANARY), "{saved}");
    let broken_off = converse(&world, &save("other"), &[("Password: ", "abc\u{3}")]);
    assert!(broken_off.contains("cancelled") && !broken_off.contains("abc"), "{broken_off}");
    assert_eq!(
        world.json(&["auth", "login", "shop"])["result"]["asks_again"],
        false,
        "the password is right"
    );

    let (new, again) = ("Passphrase for the state: ", "Passphrase for the state again: ");
    let sealed = converse(
        &world,
        "state save sealed.json --encrypt",
        &[(new, "good words\r"), (again, "good words\r")],
    );
    assert!(sealed.contains("(sealed)") && !sealed.contains("good words"), "{sealed}");
    assert!(!fs::read_to_string(world.home().join("sealed.json")).expect("a file").contains("alice"));
    let differ = converse(&world, "state save other.json --encrypt", &[(new, "one\r"), (again, "another\r")]);
    assert!(differ.contains("differ;") && !world.home().join("other.json").exists(), "{differ}");
    let refused = world.run(&["--json", "state", "load", "sealed.json"]);
    assert_eq!(refused.failure(), ("BAD_ARGS".to_owned(), 2), "no terminal, no passphrase");
    let question = "Passphrase of the state: ";
    let loaded = converse(&world, "state load sealed.json", &[(question, "good words\r")]);
    assert!(loaded.contains("loaded") && !loaded.contains("good words"), "{loaded}");
    let wrong = converse(&world, "state load sealed.json", &[(question, "bad words\r")]);
    assert!(wrong.contains("passphrase is wrong"), "{wrong}");
}
