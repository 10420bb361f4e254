//! Which events a script asks for: those with listeners, without a gap when a listener replaces another.

use serde_json::json;
use serde_json::value::to_raw_value;
use tabwire_script::message::{Event, FromChild, Run, ToChild};

use super::process::ScriptProcess;

/// The events that the script asks for, in order, until its run has ended.
fn asked(process: &mut ScriptProcess, code: &str, events: &[(&str, serde_json::Value)]) -> Vec<Vec<String>> {
    process.begin(Run { code: code.to_owned(), ..Run::default() });
    let mut lists = vec![first_list(process)];
    for (name, data) in events {
        let data = to_raw_value(&json!({"tab": "t1", "data": data})).expect("JSON");
        process.send(&ToChild::Event(Event { name: (*name).to_owned(), data }));
    }
    loop {
        match process.next().expect("the end of the run") {
            FromChild::Listen(listen) => lists.push(listen.events),
            FromChild::Done(done) => {
                assert_eq!(done.error, None, "{code}");
                return lists;
            }
            _ => {}
        }
    }
}

fn first_list(process: &ScriptProcess) -> Vec<String> {
    match process.next().expect("a list") {
        FromChild::Listen(listen) => listen.events,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_listener_that_replaces_another_leaves_no_gap() {
    let mut process = ScriptProcess::start();
    let socket = |what: &str| {
        (
            "websocket",
            json!({"number": 1, "url": "ws://a.test/", "what": what, "payload": "x", "is_text": true}),
        )
    };
    // The socket's listeners are added later than that of the page is removed, and not before its first message.
    let code = "let end; const seen = []; const ended = new Promise((done) => { end = done }); \
                page.once('websocket', async (s) => { await null; s.on('framereceived', (f) => seen.push(f.payload)); s.on('close', end) }); \
                await ended; seen.join()";
    let lists = asked(&mut process, code, &[socket("open"), socket("received"), socket("close")]);
    let (last, before) = lists.split_last().expect("lists");
    assert!(before.iter().all(|list| list == &["websocket"]), "{lists:?}");
    assert!(last.is_empty(), "nothing is listened to after the run: {lists:?}");
}

#[test]
fn a_listener_that_is_added_again_leaves_no_gap() {
    let mut process = ScriptProcess::start();
    let line = |text: &str| ("console", json!({"type": "log", "text": text, "args": []}));
    let code = "const seen = []; while (seen.length < 3) seen.push((await page.waitForEvent('console')).text()); seen.join()";
    let lists = asked(&mut process, code, &[line("a"), line("b"), line("c")]);
    let (_, before) = lists.split_last().expect("lists");
    assert!(before.iter().all(|list| list.contains(&"console".to_owned())), "{lists:?}");
}

#[test]
fn workers_and_sockets_are_followed_while_they_live() {
    let mut process = ScriptProcess::start();
    let worker =
        |start: bool| ("worker", json!({"worker": "W", "url": "https://a.test/w.js", "start": start}));
    let code = "const w = await page.waitForEvent('worker'); const before = page.workers().length; \
                while (page.workers().length > 0) await new Promise((again) => setTimeout(again, 1)); before";
    let lists = asked(&mut process, code, &[worker(true), worker(false)]);
    assert!(lists[0].contains(&"worker".to_owned()), "{lists:?}");
    assert!(lists.last().expect("lists").is_empty(), "{lists:?}");
}
