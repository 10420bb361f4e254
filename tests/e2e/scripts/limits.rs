//! Limits of scripts: a script that misbehaves ends in time and harms no other client.

use std::time::{Duration, Instant};

use super::execute;
use crate::support::world::World;

#[test]
fn endless_code_ends_at_its_timeout() {
    let world = World::new();
    execute(&world, "state.kept = { a: 1 }; const lost = 1");
    for code in [
        "for (;;) {}",
        "await new Promise(() => {})",
        "const f = () => Promise.resolve().then(f); await f(); await new Promise(() => {})",
        "new Array(1e9) + ''",
    ] {
        let since = Instant::now();
        let outcome = world.run(&["--json", "--timeout", "300ms", "execute", code]);
        assert_eq!(outcome.failure(), ("TIMEOUT".to_owned(), 4), "{code}");
        assert!(since.elapsed() < Duration::from_secs(5), "{code}: {:?}", since.elapsed());
    }
    // The last one was killed. The part of `state` that is JSON is kept.
    assert_eq!(execute(&world, "typeof lost + ' ' + state.kept.a"), "undefined 1");
}

#[test]
fn pages_in_the_state_survive_a_kill() {
    let world = World::new();
    let code = "await page.goto('data:text/html,<title>First</title>'); const other = await context.newPage(); \
                await other.goto('data:text/html,<title>Other</title>'); state.pages = { other, list: [page] }; 1";
    execute(&world, code);
    let killed = world.run(&["--json", "--timeout", "300ms", "execute", "new Array(1e9) + ''"]);
    assert_eq!(killed.failure().0, "TIMEOUT");
    let hint = killed.json()["error"]["hint"].to_string();
    assert!(hint.contains("variables are lost") && hint.contains("is kept"), "{hint}");
    let code = "[await state.pages.other.title(), await state.pages.list[0].title(), typeof other].join()";
    assert_eq!(execute(&world, code), "Other,First,undefined");
}

#[test]
fn memory_recursion_and_output_have_limits() {
    let world = World::new();
    for (code, message) in [
        ("const a = []; for (;;) a.push(new Array(1e5).fill(0))", "out of memory"),
        ("(function f() { f() })()", "call stack"),
        ("for (let i = 0; i < 1e5; i++) setTimeout(() => {}, 1e6)", "timers"),
    ] {
        let outcome = world.run(&["execute", code]);
        assert!(outcome.code == 1 && outcome.stderr.contains(message), "{code}: {}", outcome.stderr);
    }
    let outcome = world
        .run(&["execute", "for (let i = 0; i < 3000; i++) console.log('x'.repeat(999)); 'end'"])
        .succeeded();
    assert!(outcome.stdout.len() < 1_200_000 && outcome.stdout.ends_with("end\n"));
    assert!(outcome.stderr.contains("bytes of console output were dropped"), "{}", outcome.stderr);
}

#[test]
fn runs_of_one_client_wait_for_each_other() {
    let world = World::new();
    execute(&world, "state.list = []");
    let add = "state.list.push('in'); await new Promise((r) => setTimeout(r, 50)); state.list.push('out')";
    let children: Vec<_> = (0..3).map(|_| world.start(&["execute", add])).collect();
    for mut child in children {
        assert!(child.wait().expect("an end").success());
    }
    assert_eq!(execute(&world, "state.list.join(' ')"), "in out in out in out");
}

#[test]
fn an_interrupted_command_ends_its_script() {
    let world = World::new();
    execute(&world, "1");
    let mut child = world.start(&["--timeout", "60s", "execute", "for (;;) {}"]);
    child.kill().expect("killed");
    child.wait().expect("an end");
    // The run of the killed command is over, else this one would wait for it.
    assert_eq!(execute(&world, "'next'"), "next");
}

#[test]
fn results_and_files_that_are_too_large_are_refused() {
    let world = World::new();
    std::fs::write(world.home().join("large.bin"), vec![b'x'; 14 * 1024 * 1024]).expect("written");
    let code = "const show = async (run) => { try { console.log(typeof await run()) } catch (error) { console.log(error.message.split('\\n')[0]) } }; \
                await page.goto('about:blank'); \
                await show(() => page.evaluate(() => 'x'.repeat(8 * 1024 * 1024 - 100))); \
                await show(() => page.evaluate(() => 'x'.repeat(9 * 1024 * 1024))); \
                await show(() => fs.readFile('large.bin'));";
    let printed = execute(&world, code);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "string");
    assert_eq!(lines[1], "page.evaluate: The result is larger than 8388608 bytes.");
    assert_eq!(
        lines[2],
        "fs.readFile: The file has 14680064 bytes; scripts read and write at most 10485760."
    );
}
